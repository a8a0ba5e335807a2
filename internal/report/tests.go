// SPDX-License-Identifier: Apache-2.0

package report

import (
	"fmt"
	"strings"

	"github.com/txtrace/txtrace/internal/analysis"
	"github.com/txtrace/txtrace/internal/capture"
)

// TestState is what a CI system makes of a test.
type TestState int

// The states of tests.
const (
	TestPass TestState = iota
	TestFail
	TestXfail // broken, as is expected of this kernel: a variant that lacks a fix
	TestSkip
)

// Test is a rule, or something else that was checked, as a CI system sees it.
// All its text is clean.
type Test struct {
	Name  string
	State TestState
	Idle  bool     // a skip for which nothing was there to look at
	Why   string   // counts, or why it was skipped
	Shows []string // evidence, a line each
}

// Suite is what was checked, as TAP and JUnit write it.
type Suite struct {
	Name       string
	Class      string      // of the tests, in JUnit
	Properties [][2]string // name and value, in JUnit
	Tests      []Test
}

// suiteOf makes a suite of a verdict, whose tests are the rules. Decision: a
// suspect is a pass that says so, for nobody saw a rule broken, and an
// inconclusive rule is skipped, for CI knows no third state; under strict both
// fail, as they do for the exit code. A rule that was not exercised, or could not
// be, is skipped.
func suiteOf(t Text, v *analysis.Verify, clock capture.Clock, strict bool) *Suite {
	list := make([]Test, 0, len(v.Rules))
	for i := range v.Rules {
		r := &v.Rules[i]
		c := Test{Name: Clean(r.ID), Why: ruleCounts(t, r)}
		switch r.Verdict {
		case analysis.VerdictFail:
			c.State = TestFail
		case analysis.VerdictSuspect:
			c.Why = "suspect: " + c.Why
			if strict {
				c.State = TestFail
			}
		case analysis.VerdictExpected:
			c.State = TestXfail
		case analysis.VerdictInconclusive:
			c.State, c.Why = TestSkip, "inconclusive: "+c.Why
			if strict {
				c.State = TestFail
			}
		case analysis.VerdictNotExercised, analysis.VerdictNotApplicable:
			c.State, c.Idle, c.Why = TestSkip, true, strings.ReplaceAll(string(r.Verdict), "_", " ")
			if r.Reason != "" {
				c.Why += ": " + r.Reason
			}
		}
		c.Why = Clean(c.Why)
		if c.State == TestFail || r.Verdict == analysis.VerdictSuspect || r.Verdict == analysis.VerdictExpected {
			c.Shows = shows(t, r, clock)
		}
		list = append(list, c)
	}
	c := v.Capture
	return &Suite{
		Name:  Clean(strings.TrimSpace("txtrace verify, kernel " + c.Release + ", variant " + c.Variant)),
		Class: "txtrace",
		Properties: [][2]string{
			{"kernel", Clean(strings.TrimSpace(c.Release + " " + c.Version))},
			{"variant", Clean(c.Variant)},
			{"lost", strings.Join(lostText(t, v.Lost, c.Records), "; ")},
		},
		Tests: list,
	}
}

func shows(t Text, r *analysis.RuleVerdict, clock capture.Clock) []string {
	lines := []string{Clean(r.Sentence)}
	for i := range r.Evidence {
		e := &r.Evidence[i]
		lines = append(lines, Clean(where(t, e, clock)+": "+e.Says))
		var values []string
		for _, v := range e.Values {
			values = append(values, strings.TrimSpace(fmt.Sprintf("%s %d %s", v.Name, v.Value, v.Unit)))
		}
		if len(values) > 0 {
			lines = append(lines, Clean("  "+strings.Join(values, ", ")))
		}
	}
	return append(lines, Clean("explained by: txtrace rules "+r.ID))
}
