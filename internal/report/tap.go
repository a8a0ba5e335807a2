// SPDX-License-Identifier: Apache-2.0

package report

import (
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
	return suiteOf(t, v, clock, strict).TAP(w, "rule")
}

// TAP prints the tests of the suite, each of which is a what.
func (s *Suite) TAP(w io.Writer, what string) error {
	p := &printer{out: w}
	var run []Test
	var idle []string
	for _, c := range s.Tests {
		if c.Idle {
			idle = append(idle, c.Name)
		} else {
			run = append(run, c)
		}
	}
	p.line("TAP version 13")
	if len(run) == 0 {
		p.line("1..0 # SKIP no %s was exercised", what)
		return p.err
	}
	p.line("1..%d", len(run))
	p.line("# %s", s.Name)
	var totals [4]int
	for i, c := range run {
		totals[c.State]++
		for _, l := range c.Shows {
			p.line("# %s", l)
		}
		result := "ok"
		if c.State == TestFail {
			result = "not ok"
		}
		word := map[TestState]string{TestXfail: "XFAIL ", TestSkip: "SKIP "}[c.State]
		p.line("%s %d - %s # %s%s", result, i+1, c.Name, word, strings.ReplaceAll(c.Why, "#", "no."))
	}
	if len(idle) > 0 {
		p.line("# not exercised: %s", strings.Join(idle, " "))
	}
	p.line("# Totals: pass:%d fail:%d xfail:%d xpass:0 skip:%d error:0",
		totals[TestPass], totals[TestFail], totals[TestXfail], totals[TestSkip])
	return p.err
}

// TAPExit is the exit code beside a TAP: what was inconclusive was skipped.
func TAPExit(code int) int {
	if code == analysis.ExitInconclusive {
		return analysis.ExitCannotRun
	}
	return code
}
