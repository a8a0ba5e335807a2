// SPDX-License-Identifier: Apache-2.0

package report

import (
	"encoding/xml"
	"io"
	"strings"

	"github.com/txtrace/txtrace/internal/analysis"
	"github.com/txtrace/txtrace/internal/capture"
)

type junitSuite struct {
	XMLName    xml.Name        `xml:"testsuite"`
	Name       string          `xml:"name,attr"`
	Tests      int             `xml:"tests,attr"`
	Failures   int             `xml:"failures,attr"`
	Errors     int             `xml:"errors,attr"`
	Skipped    int             `xml:"skipped,attr"`
	Properties []junitProperty `xml:"properties>property"`
	Cases      []junitCase     `xml:"testcase"`
}

type junitProperty struct {
	Name  string `xml:"name,attr"`
	Value string `xml:"value,attr"`
}

type junitCase struct {
	Class   string        `xml:"classname,attr"`
	Name    string        `xml:"name,attr"`
	Skipped *junitMessage `xml:"skipped"`
	Failure *junitMessage `xml:"failure"`
	Out     string        `xml:"system-out,omitempty"`
}

type junitMessage struct {
	Message string `xml:"message,attr"`
	Type    string `xml:"type,attr,omitempty"`
	Text    string `xml:",chardata"`
}

// JUnit writes what verify found as one testsuite of JUnit's XML, as Jenkins and
// GitLab read it: a case for every rule. What is broken as expected is a pass
// whose output says so, for that XML has no word for it.
func JUnit(w io.Writer, t Text, v *analysis.Verify, clock capture.Clock, strict bool) error {
	return suiteOf(t, v, clock, strict).JUnit(w, "rule")
}

// JUnit writes the tests of the suite, each of which is a what.
func (s *Suite) JUnit(w io.Writer, what string) error {
	x := junitSuite{Name: s.Name, Tests: len(s.Tests)}
	for _, p := range s.Properties {
		x.Properties = append(x.Properties, junitProperty{p[0], p[1]})
	}
	for _, c := range s.Tests {
		k := junitCase{Class: s.Class, Name: c.Name}
		body := strings.Join(c.Shows, "\n")
		switch c.State {
		case TestFail:
			x.Failures++
			k.Failure = &junitMessage{Message: c.Why, Type: what, Text: body}
		case TestSkip:
			x.Skipped++
			k.Skipped = &junitMessage{Message: c.Why}
		case TestXfail:
			k.Out = "expected of this kernel: " + c.Why + "\n" + body
		case TestPass:
			k.Out = strings.TrimSpace(c.Why + "\n" + body)
		}
		x.Cases = append(x.Cases, k)
	}
	if _, err := io.WriteString(w, xml.Header); err != nil {
		return err
	}
	e := xml.NewEncoder(w)
	e.Indent("", "  ")
	if err := e.Encode(&x); err != nil {
		return err
	}
	_, err := io.WriteString(w, "\n")
	return err
}
