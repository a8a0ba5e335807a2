// SPDX-License-Identifier: Apache-2.0

package rules

import (
	"fmt"

	"github.com/txtrace/txtrace/internal/analysis"
	"github.com/txtrace/txtrace/internal/event"
)

// bracketed makes a batch of n packets of length bytes while a completion that
// is known runs.
func bracketed(n, length, left uint32, change func(q *event.Dequeue)) func(*trace) {
	return func(t *trace) {
		t.dql.NumQueued += 2000
		t.complete(1000)
		r := t.run()
		t.complete(1000)
		q := r.dequeue(n, length, left)
		r.send(sent{})
		r.end()
		change(q)
	}
}

func same(*event.Dequeue) {}

// restarted is a run of two batches that used up its quota and left the qdisc
// unscheduled.
func restarted(t *trace) {
	r := t.run()
	r.dequeue(10, 142, 60)
	r.send(sent{})
	r.dequeue(55, 142, 5)
	r.send(sent{})
	r.end()
	rec := last[event.Run](t, 0)
	rec.Rescheduled, rec.QdiscStateEnd = 0, 0
}

// noticesAround adds a record of the recorder before and after.
func noticesAround(build func(*trace)) func(*trace) {
	return func(t *trace) {
		build(t)
		t.own(&event.Ledger{})
		t.own(notice(event.NoticeSysctl, "net.x", 1, 2))
	}
}

func isLedger(r event.Any) bool { return r.Head().Kind == event.KindLedger }

var edges = []judged{
	{rule: "M1", name: "lost, and counted", build: batch(5, 0, sent{}, nil), lose: func(r event.Any) bool { return r.Head().Kind == event.KindDequeue }, want: counts{18, 0, 0, 0, 1}, reason: analysis.Lost},
	{rule: "M7", name: "begins with the recording", build: func(t *trace) {
		h := t.alone(142, sent{n: 1})
		h.Dur = uint32(h.Time - t.header.Clock.Monotonic)
	}, want: counts{1, 0, 0, 0, 0}},
	{rule: "M10", name: "the first look", build: bounded(1, stay), want: counts{1, 0, 0, 0, 0}},
	{rule: "M10", name: "more settings than are followed", build: func(t *trace) {
		for i := range uint64(maxQdiscs) {
			t.own(notice(event.NoticeSysctl, fmt.Sprintf("net.x%d", i), 1, 2))
		}
		t.own(notice(event.NoticeSysctl, "net.x0", 2, 3))
		t.own(notice(event.NoticeSysctl, "net.x0", 3, 4))
	}, want: counts{maxQdiscs + 2, 0, 0, 0, 0}},
	{rule: "M11", name: "stopped by BQL, no doorbell owed by DRV", build: single(sent{n: 3, rest: 1, stop: event.StackXoff}, func(_ *trace, h *event.Handover) { h.OwedDrv = 0 }), want: counts{1, 0, 0, 0, 0}},
	{rule: "M11", name: "refused, and nothing is left", build: single(sent{n: 1, rest: 1, busy: true}, func(_ *trace, h *event.Handover) { h.Rest, h.OwedAny, h.OwedDrv = 0, 0, 0 }), want: counts{1, 0, 0, 0, 0}},
	{rule: "M11", name: "jiffies run back", build: bounded(2, func(t *trace) { t.snapshot().Jiffies -= 2 }), want: counts{2, 1, 0, 0, 0}},
	{rule: "M11", name: "jiffies run back, on another CPU", build: bounded(2, func(t *trace) {
		c := t.snapshot()
		c.Jiffies, c.CPU, c.Seq = c.Jiffies-2, 1, 0
	}), want: counts{2, 0, 0, 0, 1}, reason: analysis.Race},
	{rule: "M11", name: "jiffies run back, in what was interrupted", build: bounded(2, func(t *trace) {
		c := t.snapshot()
		c.Jiffies, c.Context = c.Jiffies-2, event.ContextTask
	}), want: counts{2, 0, 0, 0, 1}, reason: analysis.Race},
	{rule: "M11", name: "more completed than queued, twice", build: bounded(2, func(t *trace) {
		c := t.snapshot()
		c.NumCompleted++
		c = t.snapshot()
		c.NumCompleted++
	}), want: counts{2, 2, 0, 0, 0}},

	{rule: "D1", name: "from gso_skb", build: batch(2, 0, sent{}, func(q *event.Dequeue, _ *event.Direct) { q.GsoQlen, q.Qlen = 1, 1 })},
	{rule: "D1", name: "of several queues", build: func(t *trace) { t.shared().NumQueued = 1 }},
	{rule: "D1", name: "a completion in the bracket, legal before and after", build: bracketed(20, 142, 0, same), want: counts{1, 0, 0, 0, 0}},
	{rule: "D1", name: "a completion in the bracket, too much before and after", build: bracketed(20, 14_200, 0, same), want: counts{0, 0, 0, 0, 1}, reason: analysis.Race},
	{rule: "D1", name: "others charge in the bracket", build: func(t *trace) {
		r := t.run()
		t.dql.NumQueued += 9000
		r.dequeue(2, 60_000, 0) // legal before they did
		r.send(sent{})
		r.end()
	}, want: counts{0, 0, 0, 0, 1}, reason: analysis.Race},

	{rule: "D2", name: "one packet, perhaps from gso_skb", build: batch(1, 10, sent{}, nil)},
	{rule: "D2", name: "one packet, surely fresh", build: func(t *trace) {
		r := t.run()
		for range 2 {
			r.dequeue(1, 142, 10)
			r.send(sent{})
		}
		r.end()
	}, want: counts{0, 1, 0, 0, 0}},
	{rule: "D2", name: "65 packets, first of its run", build: batch(65, 10, sent{}, nil), want: counts{1, 0, 0, 0, 0}},
	{rule: "D2", name: "65 packets, perhaps more", build: batch(65, 10, sent{}, func(q *event.Dequeue, _ *event.Direct) { q.Flags |= event.FlagWalkCut })},
	{rule: "D2", name: "65 packets, a completion in the bracket", build: bracketed(65, 142, 10, same)},
	{rule: "D2", name: "65 packets, no byte left", build: batch(65, 10, sent{}, func(q *event.Dequeue, _ *event.Direct) { q.Bytes = q.AdjLimit - q.NumQueued })},
	{rule: "D2", name: "65 packets, one byte left", build: batch(65, 10, sent{}, func(q *event.Dequeue, _ *event.Direct) { q.Bytes = q.AdjLimit - q.NumQueued - 1 }), want: counts{1, 0, 0, 0, 0}},
	{rule: "D2", name: "quota unsure, bytes and packets left", build: weighed(event.WeightUnsure, batch(65, 10, sent{}, nil)), want: counts{0, 0, 0, 0, 1}, reason: analysis.Changed},
	{rule: "D2", name: "quota unsure, nothing left", build: weighed(event.WeightUnsure, batch(65, 0, sent{}, nil))},
	{rule: "D2", name: "quota unsure, partial", build: weighed(event.WeightUnsure, batch(65, 10, sent{}, func(q *event.Dequeue, _ *event.Direct) { q.Flags |= event.FlagPartial }))},
	{rule: "D2", name: "above a quota of its own, notices are lost", build: weighed(64, noticesAround(batch(66, 10, sent{}, nil))), lose: isLedger, want: counts{0, 1, 0, 0, 0}},
	{rule: "D2", name: "above the quota, notices are lost", build: noticesAround(batch(66, 10, sent{}, nil)), lose: isLedger, want: counts{0, 0, 0, 0, 1}, reason: analysis.Changed},
	{rule: "D2", name: "ended by another bound, notices are lost", variant: "bulk=bytes", build: noticesAround(batch(65, 10, sent{}, nil)), lose: isLedger, want: counts{0, 0, 0, 0, 1}, reason: analysis.Changed},
	{rule: "D2", name: "above a bound of packets, notices are lost", variant: "bulk=cap8", build: noticesAround(batch(9, 0, sent{}, nil)), lose: isLedger, want: counts{0, 1, 0, 0, 0}},
	{rule: "D2", name: "quota used up before", build: batch(65, 10, sent{}, func(q *event.Dequeue, _ *event.Direct) { q.Before = 64 })},
	{rule: "D3", name: "from gso_skb", build: func(t *trace) { q := t.shared(); q.GsoQlen, q.Qlen = 1, 4 }},

	{rule: "D4", name: "nothing sent, quota unsure", build: weighed(event.WeightUnsure, func(t *trace) { t.run().end() })},
	{rule: "D4", name: "quota of restarts, left unscheduled", variant: "quota=restarts", build: func(t *trace) {
		batch(65, 0, sent{}, nil)(t)
		r := last[event.Run](t, 0)
		r.Rescheduled, r.QdiscStateEnd = 0, 0
	}, want: counts{0, 0, 0, 1, 0}},
	{rule: "D4", name: "left unscheduled", build: restarted, want: counts{0, 1, 0, 0, 0}},
	{rule: "D4", name: "left unscheduled, a batch is lost", build: restarted, lose: func(r event.Any) bool { q, ok := r.(*event.Dequeue); return ok && q.Packets == 10 }, want: counts{0, 0, 0, 0, 1}, reason: analysis.Lost},
	{rule: "D4", name: "left unscheduled, where the last batch went is not recorded", build: func(t *trace) {
		r := t.run()
		r.dequeue(65, 142, 5)
		rec := r.end()
		rec.Rescheduled, rec.QdiscStateEnd = 0, 0
	}, want: counts{0, 0, 0, 0, 1}, reason: analysis.Lost},
	{rule: "D9", name: "from gso_skb", build: func(t *trace) { q := t.dummy(); q.GsoQlen, q.Qlen = 1, 4 }},

	{rule: "X6", name: "not all seen", build: batch(5, 0, sent{n: 5, rest: 3, stop: event.DrvXoff}, func(_ *event.Dequeue, d *event.Direct) { d.Handovers, d.GsoQlenEnd = 2, 0 }), want: counts{1, 0, 0, 0, 1}, reason: analysis.Lost},
	{rule: "X6", name: "list cut", build: batch(5, 0, sent{n: 5, rest: 3, stop: event.DrvXoff}, func(_ *event.Dequeue, d *event.Direct) { d.Flags, d.GsoQlenEnd = event.FlagWalkCut, 0 }), want: counts{0, 0, 0, 0, 2}, reason: analysis.Cut},
	{rule: "X6", name: "none put back", build: batch(5, 0, sent{n: 5, rest: 3, stop: event.DrvXoff}, func(_ *event.Dequeue, d *event.Direct) { d.GsoQlenEnd = 0 }), want: counts{1, 1, 0, 0, 0}},
	{rule: "X6", name: "put back whole, another comes out", build: putBack(func(*event.Direct) {}), want: counts{1, 1, 0, 0, 0}},
	{rule: "X6", name: "put back whole, not seen from its begin", build: putBack(func(d *event.Direct) { d.Flags = event.FlagPartial }), want: counts{1, 0, 0, 0, 0}},
	{rule: "X6", name: "dropped, and others come out", build: putBack(func(d *event.Direct) { d.Result = 1 }), want: counts{1, 0, 0, 0, 0}},
	{rule: "X6", name: "none put back, and others come out", build: putBack(func(d *event.Direct) { d.GsoQlenEnd = 0 }), want: counts{1, 0, 0, 0, 0}},
	{rule: "X6", name: "comes out at once", build: func(t *trace) {
		requeued(func(*event.Dequeue, *event.Direct) {})(t)
		d, q := last[event.Direct](t, 1), last[event.Dequeue](t, 0)
		d.Time, d.Dur = q.Time, d.Dur+uint32(q.Time-d.Time)
	}, want: counts{4, 0, 0, 0, 0}},
	{rule: "R1", name: "vanished", build: batch(5, 0, sent{stopped: true}, func(_ *event.Dequeue, d *event.Direct) {
		d.Validate, d.Result, d.GsoQlenEnd = 0, 1, 0
	}), want: counts{0, 1, 0, 0, 0}},
	{rule: "R5", name: "not sent, none put back", build: batch(5, 0, sent{stopped: true}, func(_ *event.Dequeue, d *event.Direct) {
		d.GsoQlenEnd, d.RequeuesEnd = d.GsoQlenBegin, d.RequeuesBegin
	}), want: counts{1, 0, 0, 0, 0}},

	{rule: "T2", name: "first call, nobody paces", build: func(t *trace) {
		e := t.throttle()
		e.Birth, e.WmemEnd, e.Freed = e.Begin(), 100<<10, 200<<10
	}, want: counts{1, 0, 0, 0, 0}},
	{rule: "T2", name: "first call, fq paces", build: func(t *trace) {
		e := t.throttle()
		e.Birth, e.WmemEnd, e.Freed, e.PacingStatus = e.Begin(), 100<<10, 200<<10, 2
	}, want: counts{0, 0, 0, 0, 1}, reason: analysis.Race},
	{rule: "T2", name: "first call, fq paces, too little", build: func(t *trace) {
		e := t.throttle()
		e.Birth, e.WmemEnd, e.PacingStatus = e.Begin(), 100, 2
	}, want: counts{0, 1, 0, 0, 0}},
	{rule: "T2", name: "pure ACKs", build: func(t *trace) { e := t.throttle(); e.WmemEnd = 2*e.Truesize - 40 }, want: counts{0, 0, 0, 0, 1}, reason: "pure ACKs may explain it"},
	{rule: "T2", name: "freed, too little even so", build: func(t *trace) { e := t.throttle(); e.WmemEnd, e.Freed = 100<<10, 5<<10 }, want: counts{0, 0, 0, 0, 1}, reason: analysis.Race},
	{rule: "T2", name: "freed, and exempt", build: func(t *trace) { e := t.throttle(); e.Freed, e.Rtx = 5<<10, event.RtxEmpty }, want: counts{0, 1, 0, 0, 0}},
}

// putBack puts one packet back whole that needs no validation, and another
// comes out of gso_skb.
func putBack(change func(*event.Direct)) func(*trace) {
	return func(t *trace) {
		batch(1, 0, sent{stopped: true}, func(_ *event.Dequeue, d *event.Direct) { d.Validate = 0; change(d) })(t)
		t.parked[0] += 8
		t.drain(1)
	}
}
