// SPDX-License-Identifier: Apache-2.0

package rules

import (
	"testing"

	"github.com/txtrace/txtrace/internal/analysis"
	"github.com/txtrace/txtrace/internal/event"
)

// What is missing makes the instances that need it undecided, and no others.
func TestLossPoisonsWindows(t *testing.T) {
	tr := bulk(20, 65, 10)
	at := func(nth int, is func(event.Any) bool) int {
		for i, r := range tr.recs {
			if is(r) {
				if nth--; nth < 0 {
					return i
				}
			}
		}
		return -1
	}
	isDirect := func(r event.Any) bool { _, ok := r.(*event.Direct); return ok }
	lost := at(3, isDirect)
	res := tr.analyze(t, "auto", func(i int) bool { return i == lost })
	d1 := ruling(t, res, "D1")
	if d1.Held != 19 || d1.Inconclusive != 1 || d1.Undecided[0].Reason != analysis.Lost {
		t.Errorf("D1: held %d, undecided %+v", d1.Held, d1.Undecided)
	}
	if r1 := ruling(t, res, "R1"); r1.Held != 19 {
		t.Errorf("R1: held %d, undecided %+v", r1.Held, r1.Undecided)
	}
	// The bound of packets needs the dequeue's own record only.
	over := bulk(3, 224, 10)
	lost = at(1, isDirect)
	if r := ruling(t, over.analyze(t, "latest", func(i int) bool { return i == lost }), "D2"); r.Fails != 3 {
		t.Errorf("D2: %+v", r)
	}
	m1 := ruling(t, res, "M1")
	if m1.Verdict != analysis.VerdictInconclusive || res.Verify.Exit != analysis.ExitInconclusive {
		t.Errorf("M1: %s, exit %d", m1.Verdict, res.Verify.Exit)
	}
	if res.Verify.Lost.Records != 1 || res.Verify.Lost.Gaps != 1 {
		t.Errorf("%+v", res.Verify.Lost)
	}
}

// A gap that is found later than the instance it speaks against: a lost
// completion explains why a stopped queue runs again.
func TestLossFoundLater(t *testing.T) {
	tr := newTrace()
	tr.halts()
	tr.cpu = 1
	tr.put(&event.Wfree{TSQBegin: 1, TSQEnd: 2, WmemBegin: 2305, Truesize: 2304}, 0)
	tr.cpu = 0
	tr.state = 0
	r := tr.run()
	r.dequeue(1, 142, 0)
	r.send(sent{})
	r.end()
	tr.tick(1_000_000)
	tr.cpu = 1
	tr.put(&event.Wfree{TSQBegin: 1, TSQEnd: 2, WmemBegin: 2305, Truesize: 2304}, 0)
	tr.put(&event.Wfree{TSQBegin: 1, TSQEnd: 2, WmemBegin: 2305, Truesize: 2304}, 0)
	tr.expect(t, "B16", "auto", analysis.VerdictFail)
	n := len(tr.recs)
	res := tr.analyze(t, "auto", func(i int) bool { return i == n-2 })
	if r := ruling(t, res, "B16"); r.Fails != 0 || r.Inconclusive != 1 || r.Undecided[0].Reason != analysis.Lost {
		t.Errorf("%+v", r)
	}
}

// That no other CPU looks at a queue is seen by its snapshots alone: one that
// is lost may be of a CPU that was writing when another looked.
func TestLossOfAnotherCPU(t *testing.T) {
	tr := newTrace()
	tr.snapshot()
	at := len(tr.recs)
	tr.cpu = 1
	tr.put(&event.Wfree{TSQBegin: 1, TSQEnd: 2, WmemBegin: 2305, Truesize: 2304}, 0) // or a snapshot of the queue
	tr.put(&event.Wfree{TSQBegin: 1, TSQEnd: 2, WmemBegin: 2305, Truesize: 2304}, 0)
	tr.cpu = 0
	tr.halts()
	tr.state = 0
	tr.alone(142, sent{n: 1})
	tr.expect(t, "B16", "latest", analysis.VerdictFail)
	res := tr.analyze(t, "latest", func(i int) bool { return i == at })
	if r := ruling(t, res, "B16"); r.Fails != 0 || len(r.Undecided) == 0 || r.Undecided[0].Reason != analysis.Lost {
		t.Errorf("%+v", r)
	}
}

// Runs of a hook's program that the kernel skipped speak against rules that
// need every call.
func TestSkippedPrograms(t *testing.T) {
	tr := legal()
	spoils["X6"][0].spoil(tr)
	l := &event.Ledger{Program: 7, Missed: 3} // net_dev_xmit
	tr.own(l)
	tr.footer = tr.foot(nil)
	for i := range tr.footer.Ledger {
		if row := &tr.footer.Ledger[i]; row.Program == 7 && row.CPU == 0 {
			row.Missed = 3
		}
	}
	if r := ruling(t, tr.analyze(t, "latest", nil), "X6"); r.Fails != 0 || r.Inconclusive == 0 {
		t.Errorf("%+v", r)
	}
}
