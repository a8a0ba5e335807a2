// SPDX-License-Identifier: Apache-2.0

package accept

import (
	"path/filepath"
	"testing"

	"github.com/txtrace/txtrace/internal/analysis"
)

// Test5_10 holds the oldest kernel, whose programs cannot number their records
// and may interrupt themselves: bullseye's keeps every rule, lacks 0345552a653c,
// and what it loses is counted where it was lost.
func Test5_10(t *testing.T) {
	g := newGuest(t)
	script, err := filepath.Abs("guest-5.10")
	if err != nil {
		t.Fatal(err)
	}
	out := g.boot(t, "boot", "5.10", "-env", "TXTRACE_BIN=/host"+g.txtrace, "--", "sh", "/host"+script)

	t.Run("bulk-udp", func(t *testing.T) {
		dir := filepath.Join(out, "bulk-udp")
		file := filepath.Join(dir, "capture.txtrace")
		v, r := g.verify(t, file), g.report(t, file)
		clean(t, file, v, r)
		if _, lost := dequeues(t, dir); lost {
			t.Log("perf lost events: its histogram says nothing")
		} else {
			compare(t, dir, "bulk-udp", r)
		}
		exercised(t, v, floors["bulk-udp"])
		d2 := rule(t, v, "D2")
		if v.Exit != analysis.ExitOK || d2.Verdict != analysis.VerdictExpected {
			t.Errorf("exit %d, D2 %s: %s", v.Exit, d2.Verdict, d2.Reason)
		}
		if s := variant(t, v, "bulk"); s.State != analysis.StateProven || s.Variant != "bytes" {
			t.Errorf("%+v", s)
		}
		if t2 := rule(t, v, "T2"); t2.Verdict != analysis.VerdictNotApplicable {
			t.Errorf("T2 %s: the TSQ of a kernel before 5.12 is not seen", t2.Verdict)
		}
	})
	t.Run("stacks", func(t *testing.T) { stacked(t, g, filepath.Join(out, "bulk-udp", "capture.txtrace")) })
	t.Run("small ring", func(t *testing.T) {
		v := g.verify(t, filepath.Join(out, "small-ring", "capture.txtrace"))
		if v.Exit != analysis.ExitInconclusive || v.Lost.Records == 0 || v.Lost.Gaps == 0 || v.Lost.Late != 0 || v.Lost.Cut != "" {
			t.Errorf("exit %d, lost %+v", v.Exit, v.Lost)
		}
		for _, r := range v.Rules {
			if r.Verdict == analysis.VerdictFail {
				t.Errorf("%s fails: %+v", r.ID, r.Evidence)
			}
		}
	})
}
