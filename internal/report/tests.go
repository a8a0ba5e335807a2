// SPDX-License-Identifier: Apache-2.0

package report

import (
	"fmt"
	"strings"

	"github.com/txtrace/txtrace/internal/analysis"
	"github.com/txtrace/txtrace/internal/capture"
)

// What a CI system makes of a rule.
type testState int

const (
	testPass testState = iota
	testFail
	testXfail // broken, as is expected of this kernel: a variant that lacks a fix
	testSkip
)

// test is a rule as a CI system sees it.
type test struct {
	id    string
	state testState
	why   string   // counts, or why it was skipped
	shows []string // evidence, a line each
}

// tests are the rules as cases of a test suite. Decision: a suspect is a pass
// that says so, for nobody saw a rule broken, and an inconclusive rule is
// skipped, for CI knows no third state; under strict both fail, as they do for
// the exit code. A rule that was not exercised, or could not be, is skipped.
func tests(t Text, v *analysis.Verify, clock capture.Clock, strict bool) []test {
	list := make([]test, 0, len(v.Rules))
	for i := range v.Rules {
		r := &v.Rules[i]
		c := test{id: Clean(r.ID), why: ruleCounts(t, r)}
		switch r.Verdict {
		case analysis.VerdictFail:
			c.state = testFail
		case analysis.VerdictSuspect:
			c.why = "suspect: " + c.why
			if strict {
				c.state = testFail
			}
		case analysis.VerdictExpected:
			c.state = testXfail
		case analysis.VerdictInconclusive:
			c.state, c.why = testSkip, "inconclusive: "+c.why
			if strict {
				c.state = testFail
			}
		case analysis.VerdictNotExercised, analysis.VerdictNotApplicable:
			c.state, c.why = testSkip, strings.ReplaceAll(string(r.Verdict), "_", " ")
			if r.Reason != "" {
				c.why += ": " + r.Reason
			}
		}
		c.why = Clean(c.why)
		if c.state == testFail || r.Verdict == analysis.VerdictSuspect || r.Verdict == analysis.VerdictExpected {
			c.shows = shows(t, r, clock)
		}
		list = append(list, c)
	}
	return list
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

// suiteOf names what was checked.
func suiteOf(v *analysis.Verify) string {
	c := v.Capture
	return Clean(strings.TrimSpace("txtrace verify, kernel " + c.Release + ", variant " + c.Variant))
}
