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
	s := junitSuite{Name: suiteOf(v), Properties: []junitProperty{
		{"kernel", Clean(strings.TrimSpace(v.Capture.Release + " " + v.Capture.Version))},
		{"variant", Clean(v.Capture.Variant)},
		{"lost", strings.Join(lostText(t, v.Lost, v.Capture.Records), "; ")},
	}}
	for _, c := range tests(t, v, clock, strict) {
		k := junitCase{Class: "txtrace", Name: c.id}
		body := strings.Join(c.shows, "\n")
		switch c.state {
		case testFail:
			s.Failures++
			k.Failure = &junitMessage{Message: c.why, Type: "rule", Text: body}
		case testSkip:
			s.Skipped++
			k.Skipped = &junitMessage{Message: c.why}
		case testXfail:
			k.Out = "expected of this kernel: " + c.why + "\n" + body
		case testPass:
			k.Out = strings.TrimSpace(c.why + "\n" + body)
		}
		s.Cases = append(s.Cases, k)
	}
	s.Tests = len(s.Cases)
	if _, err := io.WriteString(w, xml.Header); err != nil {
		return err
	}
	e := xml.NewEncoder(w)
	e.Indent("", "  ")
	if err := e.Encode(&s); err != nil {
		return err
	}
	_, err := io.WriteString(w, "\n")
	return err
}
