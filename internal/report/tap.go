// SPDX-License-Identifier: Apache-2.0

package report

import (
	"fmt"
	"io"
	"strings"

	"github.com/txtrace/txtrace/internal/analysis"
	"github.com/txtrace/txtrace/internal/capture"
)

// TAP prints what verify found as a Test Anything Protocol of version 13, with
// the words and the totals of the kernel's selftests (kselftest.h), one test
// for each rule that was exercised.
//
// Decision: a rule that was not exercised is a diagnostic and no test that is
// skipped. The runner of netdev's CI (nipa, vmksft-p.py) takes one "# SKIP"
// anywhere for a run that was skipped as a whole, and no load exercises every
// rule. An inconclusive rule is such a skip: that CI knows no third state.
func TAP(w io.Writer, t Text, v *analysis.Verify, clock capture.Clock, strict bool) error {
	p := &printer{Text: t, out: w}
	var run []test
	var idle []string
	for i, c := range tests(t, v, clock, strict) {
		switch v.Rules[i].Verdict {
		case analysis.VerdictNotExercised, analysis.VerdictNotApplicable:
			idle = append(idle, c.id)
		default:
			run = append(run, c)
		}
	}
	p.line("TAP version 13")
	if len(run) == 0 {
		p.line("1..0 # SKIP no rule was exercised")
		return p.err
	}
	p.line("1..%d", len(run))
	p.line("# %s", suiteOf(v))
	var totals [4]int
	for i, c := range run {
		totals[c.state]++
		for _, l := range c.shows {
			p.line("# %s", l)
		}
		result := "ok"
		if c.state == testFail {
			result = "not ok"
		}
		word := map[testState]string{testXfail: "XFAIL ", testSkip: "SKIP "}[c.state]
		p.line("%s %d - %s # %s%s", result, i+1, c.id, word, strings.ReplaceAll(c.why, "#", "no."))
	}
	if len(idle) > 0 {
		p.line("# not exercised: %s", strings.Join(idle, " "))
	}
	_, err := fmt.Fprintf(w, "# Totals: pass:%d fail:%d xfail:%d xpass:0 skip:%d error:0\n",
		totals[testPass], totals[testFail], totals[testXfail], totals[testSkip])
	if p.err != nil {
		return p.err
	}
	return err
}

// TAPExit is the exit code beside a TAP: what was inconclusive was skipped.
func TAPExit(code int) int {
	if code == analysis.ExitInconclusive {
		return analysis.ExitCannotRun
	}
	return code
}
