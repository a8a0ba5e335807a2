// SPDX-License-Identifier: Apache-2.0

package accept

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/txtrace/txtrace/internal/analysis"
)

// mends is the commit that 6.12.43 lacks: it bounds a bulk dequeue by bytes
// alone.
const mends = "0345552a653c"

// Test6_12_43 is a real no on a real kernel. The same guest records with a
// ring that is too small, is killed, is interrupted twice, fills its disk, and
// records without root.
func Test6_12_43(t *testing.T) {
	g := newGuest(t)
	script, err := filepath.Abs("guest")
	if err != nil {
		t.Fatal(err)
	}
	var out, bulk string
	for try := 1; ; try++ {
		out = g.boot(t, "boot"+string(rune('0'+try)), "6.12.43", "-env", "TXTRACE_BIN=/host"+g.txtrace, "--", "sh", "/host"+script)
		bulk = filepath.Join(out, "bulk-udp")
		if _, lost := dequeues(t, bulk); !lost {
			break
		}
		if try == 3 {
			t.Fatal("perf lost events three times")
		}
		t.Log("perf lost events: again")
	}
	file := filepath.Join(bulk, "capture.txtrace")

	t.Run("expected", func(t *testing.T) {
		v, r := g.verify(t, file), g.report(t, file)
		clean(t, file, v, r)
		compare(t, bulk, "bulk-udp", r)
		exercised(t, v, floors["bulk-udp"])
		d2 := rule(t, v, "D2")
		if v.Exit != analysis.ExitOK || d2.Verdict != analysis.VerdictExpected || !strings.Contains(d2.Reason, mends) {
			t.Errorf("exit %d, D2 %s: %s", v.Exit, d2.Verdict, d2.Reason)
		}
		above65(t, d2)
		s := variant(t, v, "bulk")
		if s.State != analysis.StateProven || s.Variant != "bytes" || s.MendedBy != mends {
			t.Errorf("%+v", s)
		}
	})
	t.Run("model", func(t *testing.T) { modelled(t, g, file, "bulk=budget", 65) })
	for _, arg := range []string{"bulk=budget", "latest"} {
		t.Run(arg, func(t *testing.T) {
			v := g.verify(t, file, "--variant", arg)
			d2 := rule(t, v, "D2")
			if v.Exit != analysis.ExitFail || d2.Verdict != analysis.VerdictFail || d2.Fails < floors["bulk-udp"]["D2"] {
				t.Errorf("exit %d, D2 %s, %d broken", v.Exit, d2.Verdict, d2.Fails)
			}
			above65(t, d2)
			for _, r := range v.Rules {
				if r.ID != "D2" && r.Verdict == analysis.VerdictFail {
					t.Errorf("%s fails too: %+v", r.ID, r.Evidence)
				}
			}
		})
	}

	// case NAME: what record exits with, and says, and what verify says then.
	recorded := func(t *testing.T, name string, exit ...string) (v *analysis.Verify, says string) {
		dir := filepath.Join(out, name)
		code, err := os.ReadFile(filepath.Join(dir, "exit"))
		if err != nil {
			t.Fatal(err)
		}
		log, err := os.ReadFile(filepath.Join(dir, "record.log"))
		if err != nil {
			t.Fatal(err)
		}
		if !slices.Contains(exit, strings.TrimSpace(string(code))) {
			t.Errorf("record: exit code %s, want %s:\n%s", code, exit, log)
		}
		file := filepath.Join(dir, "capture.txtrace")
		v = g.verify(t, file)
		if v.Capture.Records == 0 {
			t.Error("no record can be read")
		}
		for _, r := range v.Rules {
			if r.Verdict == analysis.VerdictFail {
				t.Errorf("%s fails: %+v", r.ID, r.Evidence)
			}
		}
		g.report(t, file) // can be read, too
		t.Logf("%d records, verify exit %d, lost %+v; %s", v.Capture.Records, v.Exit, v.Lost, strings.TrimSpace(string(log)))
		return v, string(log)
	}
	t.Run("small ring", func(t *testing.T) {
		v, says := recorded(t, "small-ring", "0")
		if v.Exit != analysis.ExitInconclusive || v.Lost.Records == 0 || v.Lost.Gaps == 0 || v.Lost.Cut != "" {
			t.Errorf("exit %d, lost %+v", v.Exit, v.Lost)
		}
		if !strings.Contains(says, fmt.Sprintf(" %d records lost", v.Lost.Records)) {
			t.Errorf("%d records lost; record says: %s", v.Lost.Records, says)
		}
	})
	t.Run("killed", func(t *testing.T) {
		if v, _ := recorded(t, "killed", "137"); v.Lost.Cut == "" {
			t.Errorf("lost %+v", v.Lost)
		}
		if v, _ := recorded(t, "after-killed", "0"); v.Lost != (analysis.LostInfo{Missed: v.Lost.Missed}) {
			t.Errorf("after it: lost %+v", v.Lost)
		}
	})
	t.Run("capable", func(t *testing.T) {
		v, says := recorded(t, "capable", "0")
		if d2 := rule(t, v, "D2"); v.Exit != analysis.ExitOK || d2.Verdict != analysis.VerdictExpected || v.Lost.Records != 0 {
			t.Errorf("exit %d, D2 %s, lost %+v; record says: %s", v.Exit, d2.Verdict, v.Lost, says)
		}
		log, err := os.ReadFile(filepath.Join(out, "incapable", "record.log"))
		if want := "not permitted: CAP_PERFMON is missing; run as root, or: setcap"; err != nil || !strings.Contains(string(log), want) {
			t.Errorf("without CAP_PERFMON: %s, %v; want %s", log, err, want)
		}
		if code, err := os.ReadFile(filepath.Join(out, "incapable", "exit")); err != nil || string(code) != "4\n" {
			t.Errorf("without CAP_PERFMON: exit code %s, %v; want 4", code, err)
		}
	})
	t.Run("interrupted twice", func(t *testing.T) {
		recorded(t, "interrupted-twice", "143", "130") // INT and TERM at once are taken in either order
	})
	t.Run("full disk", func(t *testing.T) {
		v, says := recorded(t, "full-disk", "4")
		if v.Lost.Cut == "" {
			t.Errorf("lost %+v", v.Lost)
		}
		if !strings.Contains(says, "the disk is full") {
			t.Errorf("record says: %s", says)
		}
		for file, want := range map[string]string{
			"report-exit": "4\n", "left": "capture.txtrace\n",
			"report.log": "txtrace: /tmp/disk/report.json: not written: the disk is full; free space, or name a file on another disk with -o\n",
		} {
			b, err := os.ReadFile(filepath.Join(out, "full-disk", file))
			if err != nil || string(b) != want {
				t.Errorf("%s: %q, %v, want %q", file, b, err, want)
			}
		}
	})
}

// above65 holds that a batch which no quota of 64 allows is among what a rule
// shows.
func above65(t *testing.T, r *analysis.RuleVerdict) {
	t.Helper()
	most := int64(0)
	for i := range r.Evidence {
		most = max(most, value(t, &r.Evidence[i], "packets"))
	}
	if most <= 65 {
		t.Errorf("%s: no batch above 65: %+v", r.ID, r.Evidence)
		return
	}
	t.Logf("%s: %s", r.ID, r.Evidence[0].Says)
}
