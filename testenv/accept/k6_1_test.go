// SPDX-License-Identifier: Apache-2.0

package accept

import (
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/txtrace/txtrace/internal/analysis"
	"github.com/txtrace/txtrace/internal/report"
)

// floors are how often each scenario exercises a rule at least: what makes a
// pass of it mean something. They are a tenth, or less, of what a slow and
// busy machine without KVM gave, and none is below 10.
var floors = map[string]map[string]analysis.U64{
	"bulk-udp":  {"D1": 60, "D2": 40, "D4": 40, "X1": 200, "B13": 150, "B16": 10},
	"tcp-gso":   {"D5": 400, "X1": 600, "X5": 35, "X6": 70, "R1": 600, "R5": 35},
	"tcp-small": {"D1": 30, "D2": 10},
	"tcp-tso":   {"T2": 80, "T3": 80},
	"dummy":     {"D9": 800},
	"owners":    {"Q2": 100},
}

// Test6_1 holds that bookworm's kernel keeps every rule in every scenario, and
// that what txtrace says of it is what perf, tc, ip and sysfs say.
func Test6_1(t *testing.T) {
	g := newGuest(t)
	dirs := g.scenarios(t, "6.1", slices.Sorted(maps.Keys(floors)))
	for name, dir := range dirs {
		t.Run(name, func(t *testing.T) {
			file := filepath.Join(dir, "capture.txtrace")
			v, r := g.verify(t, file), g.report(t, file)
			clean(t, file, v, r)
			compare(t, dir, name, r)
			exercised(t, v, floors[name])
			var outcome struct{ Exit int }
			if readJSON(t, filepath.Join(dir, "result.json"), &outcome); outcome.Exit != v.Exit {
				t.Errorf("vm says exit %d, verify %d", outcome.Exit, v.Exit)
			}
		})
	}
	t.Run("owned", func(t *testing.T) { owned(t, g, dirs["owners"]) })
	t.Run("frugal", func(t *testing.T) { frugal(t, g.report(t, filepath.Join(dirs["bulk-udp"], "capture.txtrace"))) })
	t.Run("budget", func(t *testing.T) { budget(t, g, filepath.Join(dirs["bulk-udp"], "capture.txtrace")) })
	t.Run("model", func(t *testing.T) {
		modelled(t, g, filepath.Join(dirs["bulk-udp"], "capture.txtrace"), "quota=stop", 64)
	})
}

// scenarios runs each in one guest, with perf beside txtrace, and those again
// in which perf lost events: its histogram proves nothing then.
func (g *guest) scenarios(t *testing.T, kernel string, names []string, args ...string) map[string]string {
	t.Helper()
	dirs := make(map[string]string)
	for try := 1; ; try++ {
		out := g.boot(t, fmt.Sprintf("boot%d", try), kernel, append(args, "-scenario", strings.Join(names, ","), "-tools", "txtrace,perf")...)
		var again []string
		for _, name := range names {
			dirs[name] = filepath.Join(out, name)
			if len(names) == 1 {
				dirs[name] = out
			}
			if _, lost := dequeues(t, dirs[name]); lost {
				again = append(again, name)
			}
		}
		if len(again) == 0 {
			return dirs
		}
		if try == 3 {
			t.Fatalf("perf lost events three times: %q", again)
		}
		t.Logf("perf lost events: again: %q", again)
		names = again
	}
}

// exercised holds the floors of one scenario.
func exercised(t *testing.T, v *analysis.Verify, floors map[string]analysis.U64) {
	t.Helper()
	for _, id := range slices.Sorted(maps.Keys(floors)) {
		r := rule(t, v, id)
		if floors[id] < 10 || r.Exercised < floors[id] {
			t.Errorf("%s: exercised %d times, %d are wanted and never less than 10", id, r.Exercised, floors[id])
		}
		if r.Verdict != analysis.VerdictPass && r.Verdict != analysis.VerdictExpected {
			t.Errorf("%s: %s", id, r.Verdict)
		}
	}
	var all []string
	for _, r := range v.Rules {
		if r.Exercised > 0 {
			all = append(all, fmt.Sprintf("%s %d", r.ID, r.Exercised))
		}
	}
	t.Logf("exercised: %s", strings.Join(all, ", "))
}

// frugal holds what bulk-udp may cost: a record for each run, three for each
// batch, and one for each completion, of 16 bytes each, beside what a file has
// once: a header, a footer, and what the groups of quiet moments cost.
func frugal(t *testing.T, r *report.Report) {
	var batches, runs, completions analysis.U64
	for _, q := range r.Queues {
		batches += q.Batches.Count
		runs += q.Runs.Count
		completions += q.BQL.Completions
	}
	records, bytes := r.Capture.Records, r.Self.WrittenBytes
	if records > 3*batches+runs+completions || bytes > 16*records+32<<10 {
		t.Errorf("too many or too large")
	}
	t.Logf("%d records of %d bytes for %d batches, %d runs and %d completions", records, bytes, batches, runs, completions)
}

// budget holds that the bound of packets is proven by batches that ended at
// it, with bytes and packets left: that none is larger would prove nothing.
func budget(t *testing.T, g *guest, file string) {
	for _, arg := range []string{"auto", "bulk=budget", "latest"} {
		v := g.verify(t, file, "--variant", arg)
		d2 := rule(t, v, "D2")
		if v.Exit != analysis.ExitOK || d2.Verdict != analysis.VerdictPass || d2.Held < floors["bulk-udp"]["D2"] {
			t.Errorf("--variant %s: exit %d, D2 %s, held %d", arg, v.Exit, d2.Verdict, d2.Held)
		}
	}
	bulk := variant(t, g.verify(t, file), "bulk")
	if bulk.State != analysis.StateProven || bulk.Variant != "budget" || bulk.Rule != "D2" || bulk.By == nil {
		t.Fatalf("%+v", bulk)
	}
	packets, quota := value(t, bulk.By, "packets"), value(t, bulk.By, "quota_left")
	bytes, avail, qlen := value(t, bulk.By, "bytes"), value(t, bulk.By, "avail"), value(t, bulk.By, "qlen")
	if packets != 65 || quota != 64 || bytes >= avail || qlen == 0 {
		t.Errorf("not a batch of the whole quota, or not ended by it: %s", bulk.By.Says)
	}
	t.Logf("bulk=budget is proven: %s", bulk.By.Says)
	sizes := make(map[uint32]uint64)
	for _, q := range g.report(t, file).Queues {
		for _, s := range q.Batches.Size {
			sizes[s.N] += uint64(s.Count)
		}
	}
	if largest(sizes) != 65 || sizes[65] < 10 {
		t.Errorf("the largest batch has %d packets, %d have 65", largest(sizes), sizes[65])
	}
}
