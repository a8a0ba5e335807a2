// SPDX-License-Identifier: Apache-2.0

package rules

import (
	"slices"
	"testing"

	"github.com/txtrace/txtrace/internal/analysis"
	"github.com/txtrace/txtrace/internal/capture"
	"github.com/txtrace/txtrace/internal/event"
)

// spoiled makes, of the legal trace, one that breaks a rule. also names rules
// that the same records break.
type spoiled struct {
	spoil   func(*trace)
	also    []string
	suspect bool // all that this can show
}

// accuses is the verdict that is wanted.
func (s spoiled) accuses() (analysis.Verdict, int) {
	if s.suspect {
		return analysis.VerdictSuspect, analysis.ExitOK
	}
	return analysis.VerdictFail, analysis.ExitFail
}

func tooLong(d *event.Dequeue, n uint32) {
	d.Packets, d.Walked, d.Bytes = n, n, n*d.LastLen
}

func first[T any](t *trace) *T {
	for _, r := range t.recs {
		if x, ok := any(r).(*T); ok {
			return x
		}
	}
	return nil
}

// on makes a trace break a rule, and not M11 beside it: what records say of
// each other follows what was changed.
func (s spoiled) on(t *trace) {
	s.spoil(t)
	by := make(map[uint64]*event.Dequeue) // by head
	last := make(map[uint32]uint32)       // packets of it, by run
	for _, r := range t.recs {
		switch r := r.(type) {
		case *event.Dequeue:
			by[r.First], last[r.Parent] = r, r.Packets
			r.Last = r.First + uint64(r.Walked-1)*2
			switch {
			case r.Walked == 1:
				r.FirstLen, r.LastLen = r.Bytes, r.Bytes
			case r.FirstLen+r.LastLen > r.Bytes:
				r.FirstLen = r.Bytes - min(r.LastLen, r.Bytes)
			}
		case *event.Direct:
			if d := by[r.First]; d != nil && r.From == event.FromDequeue {
				r.Packets, r.Bytes, r.GsoSegs, r.PktLen = d.Packets, d.Bytes, d.GsoSegs, d.PktLen
			}
		case *event.Run:
			r.LastPackets = last[r.ID()]
		}
	}
}

// spoils has at least one entry for every rule.
var spoils = map[string][]spoiled{
	"M1": {
		{spoil: func(t *trace) { t.footer = t.foot(nil); t.footer.Ledger[0].Submitted-- }},
	},
	"M2": {{spoil: func(t *trace) {
		t.own(&event.Ledger{Program: 0, Missed: 7})
		t.footer = t.foot(nil)
	}}},
	"M3": {{spoil: func(t *trace) {
		t.footer = t.foot(nil)
		t.footer.Ledger[0].Seen += 3
		t.footer.Ledger[0].Submitted += 3
	}}},
	"M7": {{spoil: func(t *trace) { r := first[event.Run](t); r.Dur = uint32(r.Time - t.header.Clock.Monotonic + 50) }, also: []string{"M11"}}},
	"M8": {{spoil: func(t *trace) { last[event.Wfree](t, 0).Time -= 5000 }}},
	"M9": {{spoil: func(t *trace) { last[event.Complete](t, 0).Netns = 0 }}},
	"M10": {{spoil: func(t *trace) {
		t.own(notice(event.NoticeSysctl, "net.core.dev_weight_tx_bias", 3, 4)) // it was 1
	}}},
	"M11": {
		{spoil: func(t *trace) { first[event.Run](t).Packets++ }},
		{spoil: func(t *trace) { first[event.Run](t).Dequeues++ }},
		{spoil: func(t *trace) { first[event.Run](t).Directs++ }},
		{spoil: func(t *trace) { first[event.Direct](t).First ^= 8 }},
		{spoil: func(t *trace) { hand(t, anyHand).DriverRC = 16 }},
		{spoil: func(t *trace) { hand(t, anyHand).RC = 16 }},
		{spoil: func(t *trace) { hand(t, func(h *event.Hand) bool { return h.Rest > 0 }).RC = 0 }},
		{spoil: func(t *trace) { hand(t, anyHand).Uncharged = hand(t, anyHand).Attempts }},
		{spoil: func(t *trace) { hand(t, anyHand).Uncharged = hand(t, anyHand).Attempts + 1 }},
		{spoil: func(t *trace) { hand(t, anyHand).BusyCharged = 1 }},
		{spoil: func(t *trace) { first[event.Run](t).Empty = 2 }},
		{spoil: func(t *trace) { first[event.Dequeue](t).Before++ }},
		{spoil: func(t *trace) { first[event.Dequeue](t).Order++ }},
		{spoil: func(t *trace) { first[event.Dequeue](t).Qdisc ^= 1 << 12 }},
		{spoil: func(t *trace) { first[event.Direct](t).QdiscFlags ^= event.QdiscNoLock }},
		{spoil: func(t *trace) { first[event.Direct](t).From = 3 }},
		{spoil: func(t *trace) { // the driver stopped the queue, so that it must ring
			h := hand(t, func(h *event.Hand) bool { return h.Rest == 12 && h.Busy == 0 })
			h.OwedAny, h.OwedDrv = 0, 0
		}},
		{spoil: func(t *trace) { first[event.Direct](t).From = event.FromUnknown }},
		{spoil: func(t *trace) {
			where(t, func(d *event.Direct) bool { return d.From == event.FromBypass }).Validate = 0
		}},
		{spoil: func(t *trace) { last[event.Complete](t, 5).Jiffies += 1000 }},
		{spoil: func(t *trace) { hand(t, func(h *event.Hand) bool { return h.Busy > 0 }).DriverRC = 0 }},
		{spoil: func(t *trace) { hand(t, anyHand).OwedAny = 0 }},
		{spoil: func(t *trace) { hand(t, anyHand).OwedAny, hand(t, anyHand).OwedDrv = 0, 0 }},
		{spoil: func(t *trace) {
			h := hand(t, func(h *event.Hand) bool { return h.Rest == 12 && h.Busy > 0 })
			h.OwedAny = h.Attempts - h.Busy + 1
		}},
		{spoil: func(t *trace) {
			c := last[event.Complete](t, 0)
			c.NumCompleted, c.AdjLimit = c.NumQueued+1, c.NumQueued+1+c.Limit
		}, also: []string{"B13"}},
	},
	"D1": {
		{spoil: func(t *trace) {
			d := where(t, func(d *event.Dequeue) bool { return d.Packets == 10 })
			d.Bytes, d.LastLen = 1<<20, 142
		}},
		{spoil: func(t *trace) { // one byte over, the last packet not counted
			d := where(t, func(d *event.Dequeue) bool { return d.Packets == 10 })
			d.LastLen = 100
			d.Bytes = d.AdjLimit - d.NumQueued + d.LastLen
		}},
	},
	"D2": {{spoil: func(t *trace) {
		d := first[event.Dequeue](t)
		tooLong(d, 66)
		r := first[event.Run](t)
		r.Packets, r.LastPackets = 66, 66
	}}},
	"D3": {
		{spoil: func(t *trace) { tooLong(last[event.Dequeue](t, 0), 10); last[event.Run](t, 0).Packets = 10 }},
		{spoil: func(t *trace) { last[event.Dequeue](t, 0).Flags |= event.FlagMixed }},
	},
	"D4": {
		{spoil: func(t *trace) { r := first[event.Run](t); r.Rescheduled, r.QdiscStateEnd = 0, 0 }},
		{spoil: func(t *trace) { // one restart too many
			r := t.run()
			r.dequeue(64, 142, 10)
			r.send(sent{})
			r.dequeue(2, 142, 8)
			r.send(sent{})
			r.end()
		}, also: []string{"D2"}},
	},
	"D5": {
		{spoil: func(t *trace) {
			d := where(t, func(d *event.Dequeue) bool { return d.GsoQlen == 3 })
			d.Walked, d.GsoQlen = 3, 3 // a list, and yet more entries
		}},
		{spoil: func(t *trace) { // gso_skb was empty before
			where(t, func(d *event.Direct) bool { return d.Packets == 10 }).Validate = 0
		}},
	},
	"D9": {{spoil: func(t *trace) {
		d := where(t, func(d *event.Dequeue) bool { return d.Ifindex == 3 })
		tooLong(d, 2)
		where(t, func(r *event.Run) bool { return r.Ifindex == 3 }).Packets = 2
	}}},
	"X1": {
		{spoil: func(t *trace) { hand(t, anyHand).More = 1 }},
		{spoil: func(t *trace) { hand(t, func(h *event.Hand) bool { return h.Rest == 12 }).More = 0 }},
		{spoil: func(t *trace) { hand(t, func(h *event.Hand) bool { return h.Rest == 1 }).More = 1 }},
	},
	"X5": {{spoil: func(t *trace) {
		h := hand(t, func(h *event.Hand) bool { return h.Rest == 12 && h.Busy == 0 })
		h.TxqStateLast, h.TxqStateEnd = 0, 0
	}}},
	"X6": {
		{spoil: func(t *trace) { // the driver took one that is neither sent nor left
			hand(t, func(h *event.Hand) bool { return h.Rest == 12 && h.Busy == 0 }).Attempts--
		}},
		{spoil: func(t *trace) { // the same, and nothing is left
			h := hand(t, anyHand)
			h.Attempts--
		}},
		{spoil: func(t *trace) { hand(t, func(h *event.Hand) bool { return h.Packets == 1 && h.Rest == 0 }).Attempts++ }}, // twice
		{spoil: func(t *trace) { // refused, and yet nothing is left
			h := hand(t, func(h *event.Hand) bool { return h.Packets > 1 && h.Rest == 0 })
			h.Busy, h.DriverRC, h.RC = 1, 16, 16
		}},
		{spoil: func(t *trace) { // it does not come out first
			where(t, func(d *event.Dequeue) bool { return d.GsoQlen == 11 }).First ^= 8
			where(t, func(d *event.Direct) bool { return d.GsoQlenEnd == 11 }).First ^= 8
		}},
	},
	"R1": {
		{spoil: func(t *trace) { hand(t, anyHand).TxqStateBegin = event.StackXoff }, also: []string{"B3"}},
		{spoil: func(t *trace) { hand(t, anyHand).TxqStateBegin = event.Frozen }},
		{spoil: func(t *trace) { first[event.Direct](t).Result = 0 }, also: []string{"D4"}},
		{spoil: func(t *trace) { // stopped, and yet nothing was put back
			d := where(t, func(d *event.Direct) bool { return d.Handovers == 0 })
			d.GsoQlenEnd, d.RequeuesEnd = d.GsoQlenBegin, d.RequeuesBegin
		}, also: []string{"D5"}},
		{spoil: func(t *trace) { // put back, and told to go on
			where(t, func(d *event.Direct) bool { return d.Handovers == 0 }).Result = 1
		}},
		{spoil: func(t *trace) { // vanished without validation
			d := where(t, func(d *event.Direct) bool { return d.Handovers == 0 })
			d.GsoQlenEnd, d.RequeuesEnd, d.Result, d.Validate = d.GsoQlenBegin, d.RequeuesBegin, 1, 0
		}, also: []string{"D5"}},
	},
	"R5": {
		{spoil: func(t *trace) { where(t, func(d *event.Direct) bool { return d.Result == 0 }).RequeuesEnd++ }},
		{spoil: func(t *trace) { first[event.Direct](t).RequeuesEnd++ }},
	},
	"R6": {{spoil: func(t *trace) { hand(t, func(h *event.Hand) bool { return h.Busy > 0 }).BusyCharged = 1514 }, also: []string{"B8"}}},
	"B8": {{spoil: func(t *trace) { hand(t, anyHand).Charged-- }}, {spoil: func(t *trace) {
		// Queue 1 completes what was handed to queue 0.
		t.txq = 1
		t.snapshot()
		t.txq = 0
		r := t.run()
		r.dequeue(5, 1000, 0)
		r.send(sent{noBQL: true})
		r.end()
		t.txq = 1
		t.dql.NumQueued += 5000
		t.snapshot()
		t.txq = 0
		t.dql.NumQueued -= 5000
	}}},
	"B11": {{spoil: func(t *trace) {
		c := last[event.Complete](t, 0)
		c.Limit += c.MaxLimit
		c.AdjLimit = c.NumCompleted + c.Limit
	}, also: []string{"B13"}}},
	"B13": {
		{spoil: func(t *trace) { last[event.Complete](t, 0).SlackStartTime += 5000 }},
	},
	"B16": {
		{spoil: func(t *trace) { // over the limit, and it goes on
			for range 2 {
				r := t.run()
				r.dequeue(1, 90_000_000, 0)
				_, h := r.send(sent{})
				t.state, h.TxqStateLast, h.TxqStateEnd = 0, 0, 0
				r.end()
			}
			completeAll(t)
		}},
		{spoil: func(t *trace) { h := hand(t, anyHand); h.TxqStateEnd |= event.StackXoff }},
		{spoil: func(t *trace) { // started again with no completion
			t.halts()
			t.state = 0
			r := t.run()
			r.dequeue(1, 100, 0)
			r.send(sent{})
			r.end()
		}},
	},
	"Q1": {{spoil: func(t *trace) { choose(where(t, func(p *event.Pick) bool { return p.Select != 0 }), 4) }, also: []string{"Q2"}}},
	"Q2": {{spoil: func(t *trace) { first[event.Pick](t).Exact = 0 }}},
	"Q3": {
		{spoil: func(t *trace) { where(t, func(p *event.Pick) bool { return p.OOO != 0 }).OOO = 0 }},
		{spoil: func(t *trace) { first[event.Pick](t).After = event.NoQueue }},
	},
	"Q4": {
		{spoil: func(t *trace) { choose(first[event.Pick](t), 1) }},
		{spoil: func(t *trace) { where(t, func(p *event.Pick) bool { return p.RxMapping != 0 }).RxMapping++ }},
	},
	"Q6": {{spoil: func(t *trace) { first[event.Pick](t).Mapping++ }}},
	"Q8": {{spoil: func(t *trace) { where(t, func(p *event.Pick) bool { return p.OOO != 0 }).SenderCPU = 100 }}},
	"Q9": {{spoil: func(t *trace) { where(t, func(p *event.Pick) bool { return p.OOO != 0 }).XpsCPU = 0 }}},
	"G2": {{spoil: func(t *trace) { first[event.GRO](t).Held = 1 }, suspect: true}},
	"G1": {
		{spoil: func(t *trace) { g := first[event.GRO](t); g.Skbs, g.Segs, g.RxCount = 9, 9, 9 }},
		{spoil: func(t *trace) { first[event.GRO](t).RxCount = 7 }},
	},
	"T2": {
		{spoil: func(t *trace) { w := last[event.Throttle](t, 0); w.WmemEnd = 2 * w.Truesize / 2 }},
		{spoil: func(t *trace) { last[event.Throttle](t, 0).Rtx = event.RtxEmpty }},
	},
	"T3": {
		{spoil: func(t *trace) { w := last[event.Wfree](t, 0); w.TSQEnd, w.WmemEnd = w.TSQBegin, 99001 }},
		{spoil: func(t *trace) { last[event.Wfree](t, 0).Ksoftirqd = 1 }}, // queued although much is in flight
	},
}

// A right kernel passes: every rule has instances and none is broken.
func TestLegal(t *testing.T) {
	for _, variant := range []string{"auto", "latest", "bulk=budget,requeue=head"} {
		tr := legal()
		res := tr.analyze(t, variant, nil)
		for _, r := range res.Verify.Rules {
			switch {
			case r.Verdict == analysis.VerdictFail || r.Verdict == analysis.VerdictSuspect:
				t.Errorf("%s under %s: %s %s", r.ID, variant, r.Verdict, r.Evidence[0].Says)
			case r.Held+r.Expected == 0 && r.ID != "M10": // B14 has nothing to hold but what is expected
				t.Errorf("%s under %s: nothing held: %+v", r.ID, variant, r)
			}
		}
	}
}

// Each rule has a trace that passes it and at least one that fails it, and
// fails no rule besides.
func TestSpoiled(t *testing.T) {
	for _, rule := range All() {
		if len(spoils[rule.ID]) == 0 {
			t.Errorf("%s: no trace breaks it", rule.ID)
		}
		for i, s := range spoils[rule.ID] {
			tr := legal()
			s.on(tr)
			res := tr.analyze(t, "latest", nil)
			failed := false
			want, exit := s.accuses()
			for _, r := range res.Verify.Rules {
				if r.Verdict != want {
					continue
				}
				switch {
				case r.ID == rule.ID:
					failed = true
					if len(r.Evidence) == 0 || r.Evidence[0].Says == "" || r.Evidence[0].Function == "" || r.Evidence[0].Document == "" {
						t.Errorf("%s/%d: evidence %+v", rule.ID, i, r.Evidence)
					}
				case !slices.Contains(s.also, r.ID):
					t.Errorf("%s/%d: breaks %s too: %s", rule.ID, i, r.ID, r.Evidence[0].Says)
				}
			}
			if !failed {
				r := ruling(t, res, rule.ID)
				t.Errorf("%s/%d: %s, not broken: held %d, undecided %v %s", rule.ID, i, r.Verdict, r.Held, r.Undecided, r.Reason)
			}
			if res.Verify.Exit != exit {
				t.Errorf("%s/%d: exit %d", rule.ID, i, res.Verify.Exit)
			}
		}
	}
}

// Records that went missing after the ring are in no program's count. The gap
// tells of them all the same, so they are lost evidence and no fail.
func TestLostAfterTheRing(t *testing.T) {
	tr := legal()
	tr.footer = tr.foot(nil)
	last[event.Run](tr, 0).Seq += 5
	tr.seq[0] = last[event.Run](tr, 0).Seq + 1
	res := tr.analyze(t, "latest", nil)
	m1 := ruling(t, res, "M1")
	if m1.Fails != 0 || m1.Inconclusive != 1 || m1.Undecided[0].Reason != "lost after the ring" {
		t.Errorf("M1: %+v", m1)
	}
	if res.Verify.Exit == analysis.ExitFail || res.Verify.Exit == analysis.ExitOK {
		t.Errorf("exit %d", res.Verify.Exit)
	}
}

// The fail comes from the rule's own check: without it there is none.
func TestSpoiledByThatRule(t *testing.T) {
	for _, rule := range All() {
		for i, s := range spoils[rule.ID] {
			tr := legal()
			s.on(tr)
			rules := All()
			for k := range rules {
				if rules[k].ID == rule.ID {
					rules[k].New = func(*analysis.Judge) analysis.Checks { return analysis.Checks{} }
				}
			}
			v, _ := analysis.ParseVariants("latest")
			res, err := analysis.Analyze(tr.source(nil), analysis.Options{Rules: rules, Variant: v})
			if err != nil {
				t.Fatal(err)
			}
			if got := ruling(t, res, rule.ID).Verdict; got == analysis.VerdictFail || got == analysis.VerdictSuspect {
				t.Errorf("%s/%d: fails without its check", rule.ID, i)
			}
		}
	}
}

// Every field that rules prints is there.
func TestDocumented(t *testing.T) {
	seen := make(map[string]bool)
	for _, r := range All() {
		if r.ID == "" || r.Sentence == "" || len(r.Documents) == 0 || r.Kernel == "" || r.Strength == "" || r.Antecedent == "" || r.New == nil {
			t.Errorf("%s: something is missing: %+v", r.ID, r)
		}
		if seen[r.ID] {
			t.Errorf("%s twice", r.ID)
		}
		seen[r.ID] = true
	}
}

// A fact without a source leaves its rules not applicable, with the reason.
func TestNotApplicable(t *testing.T) {
	tr := legal()
	tr.header.Plan = []capture.Choice{{Fact: "handover.more", State: "absent", Reason: "no symbol", Disables: []string{"X1"}}}
	r := tr.expect(t, "X1", "auto", analysis.VerdictNotApplicable)
	if r.Reason != "needs handover.more: no symbol" {
		t.Error(r.Reason)
	}
}
