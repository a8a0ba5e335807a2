// SPDX-License-Identifier: Apache-2.0

package accept

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/txtrace/txtrace/internal/analysis"
	"github.com/txtrace/txtrace/internal/report"
	"github.com/txtrace/txtrace/testenv/internal/outcome"
)

// TestFaultnic6_1 and TestFaultnic6_12 hold txtrace to a NIC that does one thing
// wrong at a time, and to the same NIC when it does nothing wrong. One boot
// each.
func TestFaultnic6_1(t *testing.T)  { faultnic(t, "6.1") }
func TestFaultnic6_12(t *testing.T) { faultnic(t, "6.12.95") }

// few are the cases of a guest that has not the time for all, a quarter of an
// hour: each way to complete, and of the faults what is quick, and shows on a
// machine that does much else. TXTRACE_FAULTS=all plays all.
var few = []string{
	"napi-0", "hardirq-0", "xmit-0",
	"stop-no-recheck", "busy-after-accept", "busy-mid-list", "orphan", "requeue-reorder",
}

func faultnic(t *testing.T, kernel string) {
	all := os.Getenv("TXTRACE_FAULTS") == "all"
	if !all && kernel != "6.12.95" {
		t.Skip("the faults of faultnic on another kernel: make test-faults")
	}
	g := newGuest(t)
	args := []string{"-nic", "faultnic", "-scenario", "faults", "-timeout", "30m"}
	if !all {
		args = append(args, "-env", "CASES="+strings.Join(few, " "))
	}
	out := g.boot(t, "boot", kernel, args...)
	play := func(name string, check func(t *testing.T, file string)) {
		t.Run(name, func(t *testing.T) {
			if !all && !slices.Contains(few, name) {
				t.Skip("make test-faults plays it")
			}
			check(t, filepath.Join(out, name+".txtrace"))
		})
	}
	for _, mode := range []string{"napi", "hardirq", "xmit"} {
		for each := range 2 {
			play(fmt.Sprintf("%s-%d", mode, each), func(t *testing.T, file string) { g.healthyNIC(t, file, each == 1) })
		}
	}
	for _, l := range lies {
		play(l.word, func(t *testing.T, file string) { g.lie(t, file, l) })
	}
	if !all {
		return
	}
	t.Run("console", func(t *testing.T) {
		b, err := os.ReadFile(filepath.Join(out, "console.log"))
		if err != nil {
			t.Fatal(err)
		}
		for _, says := range []string{"selects TX queue 3, but real number of TX queues is 2", "NETDEV WATCHDOG"} {
			if !bytes.Contains(b, []byte(says)) {
				t.Errorf("the kernel did not say: %s", says)
			}
		}
	})
}

// lie is a word of faultnic's parameter fault, and what must be said of it.
type lie struct {
	word    string
	scale   string // --time-scale, where what is late is so by milliseconds
	rule    string // the one that the word breaks; empty: none
	verdict analysis.Verdict
	least   uint64 // instances that say so
	more    func(*testing.T, *analysis.Verify, *report.Report)
}

// lies are all the words. Where a word of a fault is no more than suspect, its
// last step cannot be seen: what a driver keeps beside its ring may be charged
// to nobody (sent-never) or fill it (stop-no-recheck), a doorbell is nowhere, and
// BQL may be reset after what was in flight was freed. What the driver's ndo_select_queue said is not seen
// either: the core takes queue 0 and the kernel's log tells.
var lies = []lie{
	{word: "no-reset-on-purge", rule: "B2", verdict: analysis.VerdictFail, least: 1},
	{word: "reset-one-queue", rule: "B2", verdict: analysis.VerdictFail, least: 1, more: onOthers},
	{word: "reset-in-flight", rule: "B5", verdict: analysis.VerdictSuspect, least: 1},
	{word: "stop-no-recheck", rule: "S2", verdict: analysis.VerdictSuspect, least: 1},
	{word: "drop-last-no-doorbell", scale: "0.002", rule: "X3", verdict: analysis.VerdictSuspect, least: 1},
	{word: "busy-after-deferred", scale: "0.002", rule: "X7", verdict: analysis.VerdictSuspect, least: 1},
	{word: "busy-after-accept", rule: "R6", verdict: analysis.VerdictFail, least: 50},
	{word: "busy-mid-list", more: refused},
	{word: "charge-after-doorbell", rule: "B8", verdict: analysis.VerdictFail, least: 20},
	{word: "charge-wrong-queue", rule: "B8", verdict: analysis.VerdictFail, least: 3},
	{word: "sent-twice", rule: "B8", verdict: analysis.VerdictFail, least: 10},
	{word: "sent-never", rule: "B8", verdict: analysis.VerdictSuspect, least: 50},
	{word: "complete-missing", rule: "B2", verdict: analysis.VerdictFail, least: 1},
	{word: "complete-late", rule: "L3", verdict: analysis.VerdictSuspect, least: 1},
	{word: "doorbell-withheld", rule: "L3", verdict: analysis.VerdictSuspect, least: 1},
	{word: "complete-per-packet", rule: "B13", verdict: analysis.VerdictInconclusive},
	{word: "xdp-shares-queue", more: foreign},
	{word: "orphan", rule: "T5", verdict: analysis.VerdictFail, least: 1},
	{word: "select-out-of-range", more: capped},
	{word: "hang", scale: "0.2", rule: "B2", verdict: analysis.VerdictSuspect, least: 1, more: gaveUp},
	{word: "requeue-reorder", rule: "X6", verdict: analysis.VerdictExpected, least: 50, more: tail},
}

// lie holds a recording to its word: the rule says what it must, with evidence,
// and no other rule fails.
func (g *guest) lie(t *testing.T, file string, l lie) {
	var flags []string
	if l.scale != "" {
		flags = []string{"--time-scale", l.scale}
	}
	v := g.verify(t, file, flags...)
	for _, r := range v.Rules {
		if r.Verdict == analysis.VerdictFail && (r.ID != l.rule || l.verdict != analysis.VerdictFail) {
			t.Errorf("%s fails, too: %+v", r.ID, r.Evidence)
		}
	}
	if l.rule != "" {
		r := rule(t, v, l.rule)
		n := map[analysis.Verdict]analysis.U64{
			analysis.VerdictFail: r.Fails, analysis.VerdictSuspect: r.Suspects, analysis.VerdictExpected: r.Expected,
		}[l.verdict]
		if r.Verdict != l.verdict || uint64(n) < l.least {
			t.Errorf("%s is %s (%s), and %d times so; want %s, %d times", l.rule, r.Verdict, r.Reason, n, l.verdict, l.least)
		}
		if l.least > 0 && len(r.Evidence) == 0 {
			t.Errorf("%s shows nothing", l.rule)
		}
		for _, e := range r.Evidence[:min(1, len(r.Evidence))] {
			t.Logf("%s %s: %s", l.rule, r.Verdict, e.Says)
		}
	}
	if l.more != nil {
		l.more(t, v, g.report(t, file))
	}
}

// onOthers: the queue that was reset is in order.
func onOthers(t *testing.T, v *analysis.Verify, _ *report.Report) {
	for _, e := range rule(t, v, "B2").Evidence {
		if e.Txq != nil && *e.Txq == 0 {
			t.Errorf("queue 0 was reset: %s", e.Says)
		}
	}
}

func refused(t *testing.T, _ *analysis.Verify, r *report.Report) {
	n := uint64(0)
	for _, q := range r.Queues {
		n += uint64(q.Requeues.Cause["busy"])
	}
	if n < 10 {
		t.Errorf("%d requeues because the driver was BUSY", n)
	}
}

func foreign(t *testing.T, v *analysis.Verify, r *report.Report) {
	n := uint64(0)
	for _, q := range r.Queues {
		n += uint64(q.BQL.ForeignBytes)
	}
	if n < 1000 || n%100 != 0 {
		t.Errorf("%d bytes charged by others, want packets of 100", n)
	}
	if w := rule(t, v, "W1"); w.Verdict != analysis.VerdictNotExercised {
		t.Errorf("W1 is %s", w.Verdict)
	}
}

// capped: what a driver says beyond the device's queues is queue 0.
func capped(t *testing.T, v *analysis.Verify, _ *report.Report) {
	if q := rule(t, v, "Q1"); q.Verdict != analysis.VerdictPass || q.Held < 10 {
		t.Errorf("Q1 is %s, held %d", q.Verdict, q.Held)
	}
}

// gaveUp: the watchdog came, and not too early.
func gaveUp(t *testing.T, v *analysis.Verify, _ *report.Report) {
	for _, id := range []string{"W1", "W2"} {
		if w := rule(t, v, id); w.Verdict != analysis.VerdictPass || w.Held == 0 {
			t.Errorf("%s is %s, held %d", id, w.Verdict, w.Held)
		}
	}
}

func tail(t *testing.T, v *analysis.Verify, _ *report.Report) {
	if s := variant(t, v, "requeue"); s.State != analysis.StateProven || len(s.Left) != 1 || s.Left[0] != "tail" {
		t.Errorf("%+v", s)
	}
}

// healthyNIC: no rule fails or is suspect, and those that faults break were
// exercised. Of a driver that reports packet by packet most completions lie
// between two looks, so the model need not follow them.
func (g *guest) healthyNIC(t *testing.T, file string, each bool) {
	v := g.verify(t, file)
	for _, r := range v.Rules {
		switch {
		case r.Verdict == analysis.VerdictFail, r.Verdict == analysis.VerdictSuspect:
			t.Errorf("%s %s: %+v", r.ID, r.Verdict, r.Evidence)
		case r.Verdict == analysis.VerdictInconclusive && !(each && r.ID == "B13"):
			t.Errorf("%s inconclusive: %s", r.ID, r.Reason)
		}
	}
	for id, least := range map[string]uint64{"B3": 1000, "B7": 1000, "B8": 1000, "B10": 5, "X1": 1000} {
		if r := rule(t, v, id); uint64(r.Held) < least {
			t.Errorf("%s: held %d, want %d at least", id, r.Held, least)
		}
	}
}

// TestFaultnicBUG lets the kernel find more completed than queued, and stop: the
// capture can be read to its last block, and names the cause.
func TestFaultnicBUG(t *testing.T) {
	if os.Getenv("TXTRACE_FAULTS") != "all" {
		t.Skip("a fault that the kernel stops in: make test-faults")
	}
	g := newGuest(t)
	out := filepath.Join(g.out, "boot")
	cmd := exec.CommandContext(t.Context(), g.vm, "-kernel", "6.1", "-nic", "faultnic", "-txtrace", g.txtrace,
		"-out", out, "-scenario", "faults", "-env", "CASES=unguarded")
	said, err := cmd.CombinedOutput()
	switch code := exitCode(t, err); {
	case code == outcome.ExitSkip && bytes.Contains(said, []byte("skip: kernel")):
		t.Skip(string(said))
	case code != outcome.ExitGuest || !bytes.Contains(said, []byte("Kernel panic")):
		t.Fatalf("exit code %d: %s", code, said)
	}
	console, err := os.ReadFile(filepath.Join(out, "console.log"))
	if err != nil || !bytes.Contains(console, []byte("kernel BUG at lib/dynamic_queue_limits.c")) {
		t.Errorf("another end: %v", err)
	}
	file := filepath.Join(out, "unguarded.txtrace")
	v := g.verify(t, file)
	for _, r := range v.Rules {
		if r.Verdict == analysis.VerdictFail {
			t.Errorf("%s fails: %+v", r.ID, r.Evidence)
		}
	}
	if v.Lost.Cut == "" || v.Lost.Corrupt != 0 || v.Capture.Records < 100 {
		t.Errorf("%d records, lost %+v", v.Capture.Records, v.Lost)
	}
	b5 := rule(t, v, "B5")
	if b5.Verdict != analysis.VerdictSuspect || len(b5.Evidence) == 0 {
		t.Fatalf("B5 is %s: %s", b5.Verdict, b5.Reason)
	}
	t.Log(b5.Evidence[0].Says)
	g.report(t, file)
}
