// SPDX-License-Identifier: Apache-2.0

package main

import (
	"strings"

	"github.com/txtrace/txtrace/internal/report"
)

// suite makes the cells tests of a CI system, and one for each kernel's variants.
// Decision: a cell that was skipped is no test in TAP, as a rule that was not
// exercised is none: one package that a mirror lost must not make netdev's CI
// take the whole run for a skip.
func suite(cells []*cell, rows []*row) *report.Suite {
	s := &report.Suite{Name: "txtrace matrix", Class: "txtrace.matrix"}
	for _, c := range cells {
		t := report.Test{Name: report.Clean(c.Kernel + " " + c.NIC), Why: strings.Join(facts(c), "; "), Shows: details(c)}
		switch c.State {
		case failed:
			t.State = report.TestFail
		case skipped:
			t.State, t.Idle, t.Why = report.TestSkip, true, strings.Join(c.Reasons, "; ")
		}
		s.Tests = append(s.Tests, t)
	}
	for _, r := range rows {
		t := report.Test{Name: report.Clean(r.kernel + " variants"), Why: found(r.variants, variant.proven), Shows: r.contradictions}
		if len(r.contradictions) > 0 {
			t.State = report.TestFail
		}
		s.Tests = append(s.Tests, t)
	}
	return s
}
