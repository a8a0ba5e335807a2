// SPDX-License-Identifier: Apache-2.0

package rules

import (
	"slices"
	"strings"
	"testing"

	"github.com/txtrace/txtrace/internal/analysis"
	"github.com/txtrace/txtrace/internal/capture"
	"github.com/txtrace/txtrace/internal/event"
)

// counts are the instances of one rule: held, failed, suspect, expected,
// undecided.
type counts [5]int

func countsOf(r analysis.RuleVerdict) counts {
	return counts{int(r.Held), int(r.Fails), int(r.Suspects), int(r.Expected), int(r.Inconclusive)}
}

// judged is a trace with the count of instances that a rule finds in it: what
// is no instance, what is undecided and why, at the very edge of each test.
type judged struct {
	rule, name string
	variant    string // latest when empty
	build      func(*trace)
	stats      capture.ReaderStats
	lose       func(event.Any) bool // which records are lost
	want       counts
	reason     string // of what is undecided
}

// batch is one run with one batch, changed by the test. Its records are in the
// trace already.
func batch(n, left uint32, s sent, change func(q *event.Dequeue, d *event.Direct)) func(*trace) {
	return func(t *trace) {
		r := t.run()
		q := r.dequeue(n, 142, left)
		d, _ := r.send(s)
		r.end()
		if change != nil {
			change(q, d)
		}
	}
}

// requeued leaves three of five packets and takes one out of gso_skb.
func requeued(change func(q *event.Dequeue, d *event.Direct)) func(*trace) {
	return func(t *trace) {
		t.head = true
		r := t.run()
		r.dequeue(5, 142, 0)
		r.send(sent{n: 5, rest: 3, stop: event.DrvXoff})
		r.end()
		t.state = 0
		r = t.run()
		q := r.fromGSO(142)
		d, _ := r.send(sent{})
		r.end()
		change(q, d)
	}
}

// putInto leaves three of five packets for a gso_skb that holds others, of which
// so many go meanwhile.
func putInto(parked, gone uint32) func(*trace) {
	return batch(5, 0, sent{n: 5, rest: 3, stop: event.DrvXoff}, func(_ *event.Dequeue, d *event.Direct) {
		d.GsoQlenBegin, d.GsoQlenEnd = parked, parked-gone+3
	})
}

// weighed gives the runs a quota of their own.
func weighed(weight uint16, build func(*trace)) func(*trace) {
	return func(t *trace) {
		build(t)
		for _, r := range t.recs {
			if run, ok := r.(*event.Run); ok {
				run.TxWeight = weight
			}
		}
	}
}

func spoilOf(id string, i int) func(*trace) {
	return func(t *trace) { batch(5, 0, sent{}, nil)(t); spoils[id][i].spoil(t) }
}

// single is a hand-over of two packets without a qdisc.
func single(s sent, change func(*trace, *event.Handover)) func(*trace) {
	return func(t *trace) { change(t, t.alone(2*142, s)) }
}

// bounded makes n snapshots after completions with limits of 1000 to 90000.
func bounded(n int, change func(*trace)) func(*trace) {
	return func(t *trace) {
		t.dql.MinLimit, t.dql.MaxLimit = 1000, 90_000
		for range n {
			t.dql.NumQueued += 5000
			t.complete(5000)
		}
		change(t)
	}
}

func stay(*trace) {}

// charge makes the hand-over of d charge so much more than the lengths.
func charge(d *event.Direct, more int32) {
	d.Hand.Charged += uint32(more)
	d.Hand.NumQueuedEnd += uint32(more)
}

// lengths makes hand-overs of n packets of length bytes: so many of which the
// lengths are charged, and others of which so much more.
func lengths(same, other int, more int32, n, length uint32) func(*trace) {
	return func(t *trace) {
		for i := range same + other {
			r := t.run()
			r.dequeue(n, length, 0)
			d, _ := r.send(sent{})
			r.end()
			if i%2 == 1 && i/2 < other {
				charge(d, more)
			}
			t.unstop()
		}
	}
}

// over makes n hand-overs that go over the limit and do not stop the queue.
func over(n int, then func(*trace)) func(*trace) {
	return func(t *trace) {
		for range n {
			h := t.alone(90_000, sent{n: 1})
			t.state, h.TxqStateLast, h.TxqStateEnd = 0, 0, 0
		}
		then(t)
	}
}

// elsewhere hands bytes to queue 0 uncharged after one that was charged, while
// queue 1 grows by as many.
func elsewhere(handed uint32, before, after func(*trace)) func(*trace) {
	return func(t *trace) {
		t.alone(1000, sent{n: 1})
		t.txq = 1
		before(t)
		t.snapshot()
		t.txq = 0
		t.alone(handed, sent{n: 1, noBQL: true})
		t.txq = 1
		t.dql.NumQueued += 5000
		t.snapshot()
		after(t)
	}
}

var cases = []judged{
	{rule: "M1", name: "lost and yet no gap", build: func(t *trace) {
		batch(5, 0, sent{}, nil)(t)
		t.footer = t.foot(nil)
		t.footer.Ledger[0].Lost++
		t.footer.Ledger[0].Seen++
	}, want: counts{18, 0, 0, 0, 1}, reason: analysis.Lost},
	{rule: "M3", name: "corrupt blocks", build: spoilOf("M3", 0), stats: capture.ReaderStats{Corrupt: 1}, want: counts{2, 0, 0, 0, 1}, reason: "calls under way"},
	{rule: "M3", name: "a pair whose orphans are not counted", build: func(t *trace) {
		t.header.Programs = append(t.header.Programs, capture.Program{Name: "wfree_begin", Hook: "fentry:tcp_wfree", Pair: "wfree_end"})
		t.footer = t.foot(nil)
		t.footer.Ledger[9].Seen, t.footer.Ledger[9].Submitted = 3, 3
	}, want: counts{3, 0, 0, 0, 1}, reason: "calls under way"},
	{rule: "M3", name: "skipped ends", build: func(t *trace) {
		spoilOf("M3", 0)(t)
		t.footer.Ledger[1].Missed = 3
	}, want: counts{3, 0, 0, 0, 0}},
	{rule: "M3", name: "ends of queues that are not wanted", build: func(t *trace) {
		spoilOf("M3", 0)(t)
		t.footer.Ledger[0].Filtered = 1
	}, want: counts{2, 0, 0, 0, 1}, reason: "calls under way"},
	{rule: "M3", name: "more ends of queues that are not wanted than there can be", build: func(t *trace) {
		spoilOf("M3", 0)(t)
		t.footer.Ledger[0].Filtered = 1
		t.footer.Ledger[0].Seen += 1000
	}, want: counts{2, 1, 0, 0, 0}},
	{rule: "M3", name: "rows of no program", build: func(t *trace) {
		t.footer = t.foot(nil)
		t.footer.Ledger = append(t.footer.Ledger, capture.LedgerRow{Program: -1}, capture.LedgerRow{Program: len(t.header.Programs)})
	}, want: counts{3, 0, 0, 0, 0}},
	{rule: "M7", name: "no span", build: func(t *trace) { t.wfree().Dur = 1 << 20 }},
	{rule: "M7", name: "partial", build: func(t *trace) {
		h := t.alone(142, sent{n: 1})
		h.Flags, h.Dur = event.FlagPartial, uint32(h.Time-t.header.Clock.Monotonic+1)
	}, want: counts{1, 0, 0, 0, 0}},
	{rule: "M8", name: "another task", build: func(t *trace) { t.wfree().Pid = 1; w := t.wfree(); w.Pid, w.Time = 2, w.Time-5000 }, want: counts{0, 0, 0, 0, 1}, reason: analysis.Race},
	{rule: "M8", name: "an interrupt", build: func(t *trace) { t.wfree().Context = event.ContextHardirq; t.wfree().Time -= 5000 }, want: counts{1, 0, 0, 0, 0}},
	{rule: "M8", name: "the same time", build: func(t *trace) { w := t.wfree(); t.wfree().Time = w.Time }, want: counts{1, 0, 0, 0, 0}},
	{rule: "M8", name: "the recorder's own", build: func(t *trace) { t.own(&event.Ledger{}); last[event.Ledger](t, 0).Time -= 5000 }},
	{rule: "M8", name: "came late", build: func(t *trace) { t.wfree() }, stats: capture.ReaderStats{Late: 2, Unordered: 3}, want: counts{0, 0, 0, 0, 5}, reason: "came late"},
	{rule: "M11", name: "parts that came late", build: func(t *trace) { batch(5, 0, sent{}, nil)(t); first[event.Run](t).Directs++ }, stats: capture.ReaderStats{Late: 1}, want: counts{1, 0, 0, 0, 1}, reason: analysis.Late},
	{rule: "M11", name: "parts that are lost", build: batch(5, 0, sent{}, nil), lose: func(r event.Any) bool { return r.Head().Kind == event.KindDequeue }, want: counts{1, 0, 0, 0, 1}, reason: analysis.Lost},
	{rule: "M11", name: "partial", build: func(t *trace) {
		batch(5, 0, sent{}, nil)(t)
		r := first[event.Run](t)
		r.Flags, r.Directs = event.FlagPartial, 7
	}, want: counts{1, 0, 0, 0, 0}},
	{rule: "M11", name: "a direct of something else", build: batch(5, 0, sent{}, func(_ *event.Dequeue, d *event.Direct) { d.First ^= 8; d.From = event.FromUnknown }), want: counts{2, 0, 0, 0, 0}},
	{rule: "M11", name: "hand-over partial", build: single(sent{n: 2}, func(_ *trace, h *event.Handover) { h.Flags, h.OwedAny = event.FlagPartial, 0 })},
	{rule: "M11", name: "no attempt", build: single(sent{n: 2, rest: 2}, func(_ *trace, h *event.Handover) { h.OwedAny, h.OwedDrv = 0, 0 })},
	{rule: "M11", name: "refused at once", build: single(sent{n: 2, rest: 2, busy: true}, func(_ *trace, h *event.Handover) { h.OwedAny, h.OwedDrv = 0, 0 }), want: counts{1, 0, 0, 0, 0}},
	{rule: "M11", name: "stopped by another in between", build: single(sent{n: 3}, func(_ *trace, h *event.Handover) { h.OwedAny, h.OwedDrv = 3, 3 }), want: counts{1, 0, 0, 0, 0}},
	{rule: "M11", name: "more owed than taken", build: single(sent{n: 3}, func(_ *trace, h *event.Handover) { h.OwedAny, h.OwedDrv = 4, 4 }), want: counts{0, 1, 0, 0, 0}},
	{rule: "M11", name: "owed by DRV alone", build: single(sent{n: 3}, func(_ *trace, h *event.Handover) { h.OwedAny, h.OwedDrv = 1, 2 }), want: counts{0, 1, 0, 0, 0}},
	{rule: "M11", name: "all completed", build: bounded(1, stay), want: counts{1, 0, 0, 0, 0}},
	{rule: "M11", name: "more completed than queued", build: bounded(2, func(t *trace) { last[event.Complete](t, 0).NumCompleted++ }), want: counts{1, 1, 0, 0, 0}},
	{rule: "M11", name: "a reset between two reads", build: bounded(2, func(t *trace) { last[event.Complete](t, 0).NumQueued = 0 }), want: counts{1, 0, 0, 0, 1}, reason: analysis.Reset},
	{rule: "M11", name: "torn", build: bounded(2, func(t *trace) { c := last[event.Complete](t, 0); c.NumQueued, c.Flags = 0, event.FlagTorn }), want: counts{1, 0, 0, 0, 0}},
	{rule: "M9", name: "the device is gone", build: func(t *trace) {
		n := &event.Notice{Subtype: event.NoticeDevRemoved}
		t.own(n)
		n.Netns, n.Ifindex = 7, 2
		t.snapshot()
	}, want: counts{0, 0, 0, 0, 1}, reason: "the device was removed"},
	{rule: "M10", name: "a change was missed", build: func(t *trace) {
		t.own(notice(event.NoticeSysctl, "net.x", 1, 2))
		t.own(notice(event.NoticeSysctl, "net.x", 2, 3))
		t.own(notice(event.NoticeSysctl, "net.x", 2, 4))
	}, want: counts{2, 1, 0, 0, 0}},
	{rule: "M10", name: "limit_min moves", build: bounded(1, func(t *trace) { t.dql.MinLimit++; t.snapshot(); t.snapshot() }), want: counts{2, 0, 0, 0, 1}, reason: analysis.Changed},
	{rule: "M10", name: "limit_max moves", build: bounded(1, func(t *trace) { t.dql.MaxLimit++; t.snapshot(); t.snapshot() }), want: counts{2, 0, 0, 0, 1}, reason: analysis.Changed},
	{rule: "D1", name: "one packet", build: batch(1, 0, sent{}, nil)},
	{rule: "D1", name: "two packets", build: batch(2, 0, sent{}, nil), want: counts{1, 0, 0, 0, 0}},
	{rule: "D1", name: "list cut", build: batch(5, 0, sent{}, func(q *event.Dequeue, _ *event.Direct) { q.Flags |= event.FlagWalkCut }), want: counts{0, 0, 0, 0, 1}, reason: analysis.Cut},
	{rule: "D1", name: "too much, with a completion in the bracket", build: func(t *trace) {
		r := t.run()
		r.dequeue(30, 1514, 0)
		r.send(sent{})
		t.complete(40_000)
		r.dequeue(30, 9000, 0)
		r.send(sent{})
		r.end()
	}, want: counts{1, 0, 0, 0, 1}, reason: analysis.Race},
	{rule: "D3", name: "one packet", build: func(t *trace) { t.qflags = 0; batch(1, 0, sent{}, nil)(t) }},
	{rule: "D3", name: "two packets", build: func(t *trace) { t.qflags = 0; batch(2, 0, sent{}, nil)(t) }, want: counts{1, 0, 0, 0, 0}},
	{rule: "D3", name: "list cut", build: func(t *trace) { t.shared(); last[event.Dequeue](t, 0).Flags |= event.FlagWalkCut }, want: counts{0, 0, 0, 0, 1}, reason: analysis.Cut},
	{rule: "D2", name: "a quota of its own", build: weighed(300, batch(224, 5, sent{}, nil))},
	{rule: "D2", name: "at a quota of its own", build: weighed(8, batch(9, 5, sent{}, nil)), want: counts{1, 0, 0, 0, 0}},
	{rule: "D2", name: "above a quota of its own", build: weighed(8, batch(10, 5, sent{}, nil)), want: counts{0, 1, 0, 0, 0}},
	{rule: "D2", name: "above a quota of its own, which changed later", build: func(t *trace) {
		weighed(64, batch(66, 5, sent{}, nil))(t)
		t.own(notice(event.NoticeSysctl, "net.core.dev_weight", 64, 300))
	}, want: counts{0, 1, 0, 0, 0}},
	{rule: "D2", name: "a quota that changed meanwhile", build: weighed(event.WeightUnsure, batch(70, 5, sent{}, nil)), want: counts{0, 0, 0, 0, 1}, reason: analysis.Changed},
	{rule: "D4", name: "below a quota of its own", build: weighed(300, batch(100, 0, sent{}, nil))},
	{rule: "D4", name: "at a quota of its own", build: weighed(8, func(t *trace) { batch(8, 0, sent{}, nil)(t); last[event.Run](t, 0).Rescheduled = 1 }), want: counts{1, 0, 0, 0, 0}},
	{rule: "D4", name: "unscheduled at a quota of its own", build: weighed(8, batch(8, 0, sent{}, nil)), want: counts{0, 1, 0, 0, 0}},
	{rule: "D4", name: "overlong by a quota of its own", build: weighed(8, func(t *trace) {
		r := t.run()
		for range 9 {
			r.dequeue(1, 142, 1)
			r.send(sent{})
		}
		r.end().Rescheduled = 1
		t.own(notice(event.NoticeSysctl, "net.core.dev_weight", 8, 300))
	}), want: counts{0, 1, 0, 0, 0}},
	{rule: "D4", name: "a quota that changed meanwhile", build: weighed(event.WeightUnsure, batch(65, 0, sent{}, nil)), want: counts{0, 0, 0, 0, 1}, reason: analysis.Changed},
	{rule: "D4", name: "below the quota", build: batch(63, 0, sent{}, nil)},
	{rule: "D4", name: "at the quota", build: batch(64, 0, sent{}, nil), want: counts{1, 0, 0, 0, 0}},
	{rule: "D4", name: "partial", build: func(t *trace) { batch(65, 0, sent{}, nil)(t); last[event.Run](t, 0).Flags |= event.FlagPartial }},
	{rule: "D4", name: "quota of restarts", variant: "quota=restarts", build: batch(65, 0, sent{}, nil), want: counts{0, 1, 0, 0, 0}},
	{rule: "D4", name: "the last batch went back", build: func(t *trace) {
		batch(64, 0, sent{rest: 3, stop: event.DrvXoff}, nil)(t)
	}, want: counts{1, 0, 0, 0, 0}},
	{rule: "D4", name: "past the quota", variant: "quota=stop", build: batch(65, 0, sent{}, nil), want: counts{0, 1, 0, 0, 0}},
	{rule: "D4", name: "at a quota that stops", variant: "quota=stop", build: batch(64, 0, sent{}, nil), want: counts{1, 0, 0, 0, 0}},
	{rule: "D4", name: "past a quota that stops no shared qdisc", variant: "quota=stop", build: func(t *trace) {
		t.qflags = 0
		batch(65, 0, sent{}, nil)(t)
	}, want: counts{1, 0, 0, 0, 0}},
	{rule: "D4", name: "as many restarts as the quota", variant: "quota=restarts", build: func(t *trace) {
		r := t.run()
		for range 64 {
			r.dequeue(1, 142, 1)
			r.send(sent{})
		}
		r.end()
	}, want: counts{1, 0, 0, 0, 0}},
	{rule: "M10", name: "notices are lost", build: func(t *trace) {
		t.own(notice(event.NoticeSysctl, "net.x", 1, 2))
		t.own(&event.Ledger{})
		t.own(notice(event.NoticeSysctl, "net.x", 3, 4))
	}, lose: func(r event.Any) bool { return r.Head().Kind == event.KindLedger }, want: counts{1, 0, 0, 0, 1}, reason: analysis.Lost},
	{rule: "D4", name: "the last direct is lost", build: func(t *trace) {
		batch(65, 0, sent{}, nil)(t)
		r := last[event.Run](t, 0)
		r.Rescheduled, r.QdiscStateEnd = 0, 0
	}, lose: func(r event.Any) bool { return r.Head().Kind == event.KindDirect }, want: counts{0, 0, 0, 0, 1}, reason: analysis.Lost},
	{rule: "D5", name: "perhaps with IPsec offload", build: func(t *trace) {
		t.header.Devices[0].Offloads = nil
		requeued(func(_ *event.Dequeue, d *event.Direct) { d.Validate = 1 })(t)
	}, want: counts{0, 0, 0, 0, 1}, reason: "xfrm offload may ask for it"},
	{rule: "D5", name: "perhaps with IPsec offload, others are known", build: func(t *trace) {
		t.header.Devices[0].Offloads = map[string]bool{"tx-tcp-segmentation": false, "esp-hw-offload": false}
		requeued(func(_ *event.Dequeue, d *event.Direct) { d.Validate = 1 })(t)
	}, want: counts{0, 0, 0, 0, 1}, reason: "xfrm offload may ask for it"},
	{rule: "D5", name: "not validated, perhaps with IPsec offload", build: func(t *trace) {
		t.header.Devices[0].Offloads = nil
		requeued(func(*event.Dequeue, *event.Direct) {})(t)
	}, want: counts{1, 0, 0, 0, 0}},
	{rule: "D5", name: "the last one under lists", variant: "requeue=whole", build: requeued(func(q *event.Dequeue, _ *event.Direct) { q.GsoQlen = 0 }), want: counts{1, 0, 0, 0, 0}},
	{rule: "D9", name: "two packets, nothing left", build: func(t *trace) { t.ifindex, t.dql.AdjLimit = 3, 0; batch(2, 0, sent{noBQL: true}, nil)(t) }, want: counts{0, 1, 0, 0, 0}},
	{rule: "D9", name: "no count of what is left", build: func(t *trace) {
		t.ifindex, t.dql.AdjLimit, t.qflags = 3, 0, event.QdiscOneTxQueue|event.QdiscNoLock|event.QdiscCPUStats
		batch(1, 0, sent{noBQL: true}, nil)(t)
	}, want: counts{1, 0, 0, 0, 0}},
	{rule: "B13", name: "limit was written", build: bounded(3, func(t *trace) { t.dql.NumQueued += 9000; t.dql.Limit = 77; t.complete(3000) }), want: counts{2, 0, 0, 0, 1}},
	{rule: "D5", name: "validated again", build: requeued(func(_ *event.Dequeue, d *event.Direct) { d.Validate = 1 }), want: counts{0, 1, 0, 0, 0}},
	{rule: "D5", name: "entries left under lists", variant: "requeue=whole", build: requeued(func(*event.Dequeue, *event.Direct) {}), want: counts{0, 1, 0, 0, 0}},
	{rule: "D9", name: "nothing else to take", build: func(t *trace) { t.ifindex, t.dql.AdjLimit = 3, 0; batch(1, 0, sent{noBQL: true}, nil)(t) }},
	{rule: "D9", name: "more to take", build: func(t *trace) { t.ifindex, t.dql.AdjLimit = 3, 0; batch(1, 1, sent{noBQL: true}, nil)(t) }, want: counts{1, 0, 0, 0, 0}},
	{rule: "X1", name: "partial", build: single(sent{n: 2}, func(_ *trace, h *event.Handover) { h.Flags, h.More = event.FlagPartial, 1 })},
	{rule: "X1", name: "not readable", build: single(sent{n: 2}, func(_ *trace, h *event.Handover) { h.More = event.MoreUnknown }), want: counts{0, 0, 0, 0, 1}, reason: "xmit_more not readable"},
	{rule: "X1", name: "nested", build: single(sent{n: 2}, func(_ *trace, h *event.Handover) { h.Flags = event.FlagNested }), want: counts{0, 0, 0, 0, 1}, reason: "a stacked device sent inside"},
	{rule: "X5", name: "partial", build: single(sent{n: 2, rest: 1}, func(_ *trace, h *event.Handover) { h.Flags = event.FlagPartial })},
	{rule: "X5", name: "no attempt", build: single(sent{n: 2, rest: 2}, func(*trace, *event.Handover) {})},
	{rule: "X5", name: "stopped a moment later", build: single(sent{n: 2, rest: 1}, func(_ *trace, h *event.Handover) { h.TxqStateEnd = event.DrvXoff }), want: counts{0, 0, 0, 0, 1}, reason: analysis.Race},
	{rule: "X5", name: "went on", build: single(sent{n: 2}, func(_ *trace, h *event.Handover) { h.OwedAny = 2 }), want: counts{1, 0, 0, 0, 0}},
	{rule: "X5", name: "went on, completed", build: single(sent{n: 2}, func(_ *trace, h *event.Handover) { h.OwedAny = 2; h.NumComplEnd++ })},
	{rule: "X5", name: "went on, reset", build: single(sent{n: 2}, func(_ *trace, h *event.Handover) { h.OwedAny, h.Flags = 2, event.FlagReset })},
	{rule: "X5", name: "went on, nested", build: single(sent{n: 2}, func(_ *trace, h *event.Handover) { h.OwedAny, h.Flags = 2, event.FlagNested })},
	{rule: "X6", name: "emptied", build: batch(5, 0, sent{n: 5, rest: 3, stop: event.DrvXoff}, func(_ *event.Dequeue, d *event.Direct) { d.GsoQlenBegin = d.GsoQlenEnd + 1 }), want: counts{1, 0, 0, 0, 1}, reason: analysis.Reset},
	{rule: "X6", name: "all that was parked before went meanwhile", build: putInto(1, 1), want: counts{1, 0, 0, 0, 1}, reason: analysis.Reset},
	{rule: "X6", name: "some went before the next came out", build: requeued(func(q *event.Dequeue, _ *event.Direct) { q.GsoQlen-- }), want: counts{3, 0, 0, 0, 1}, reason: analysis.Reset},
	{rule: "X6", name: "put back as another number", build: batch(5, 0, sent{n: 5, rest: 3, stop: event.DrvXoff}, func(_ *event.Dequeue, d *event.Direct) { d.GsoQlenEnd-- }), want: counts{1, 1, 0, 0, 0}},
	{rule: "X6", name: "partial", build: batch(5, 0, sent{n: 5, rest: 3, stop: event.DrvXoff}, func(_ *event.Dequeue, d *event.Direct) { d.Flags |= event.FlagPartial })},
	{rule: "X6", name: "put back whole, comes out", build: func(t *trace) {
		batch(1, 0, sent{stopped: true}, func(_ *event.Dequeue, d *event.Direct) { d.Validate = 0 })(t)
		t.drain(1)
	}, want: counts{2, 0, 0, 0, 0}},
	{rule: "X6", name: "put back validated, another list comes out", build: func(t *trace) {
		batch(1, 0, sent{stopped: true}, nil)(t)
		t.parked[0] += 8
		t.drain(1)
	}, want: counts{1, 0, 0, 0, 0}},
	{rule: "X6", name: "seen before it was put back", build: func(t *trace) {
		requeued(func(*event.Dequeue, *event.Direct) {})(t)
		d := last[event.Direct](t, 1)
		d.Time, d.Dur = d.Time+1<<20, d.Dur+1<<20
	}, want: counts{3, 0, 0, 0, 1}, reason: analysis.Race},
	{rule: "X6", name: "it is not what comes out", build: func(t *trace) {
		batch(5, 0, sent{n: 5, rest: 3, stop: event.DrvXoff}, nil)(t)
		t.parked, t.state = nil, 0
		batch(5, 0, sent{}, nil)(t)
		batch(5, 0, sent{}, nil)(t)
	}, want: counts{4, 0, 0, 0, 1}, reason: analysis.Reset},
	{rule: "X6", name: "what comes out is lost", build: func(t *trace) {
		batch(5, 0, sent{n: 5, rest: 3, stop: event.DrvXoff}, nil)(t)
		t.state = 0
		t.drain(5)
		batch(5, 0, sent{}, nil)(t)
		batch(5, 0, sent{}, nil)(t)
	}, lose: func(r event.Any) bool {
		q, ok := r.(*event.Dequeue)
		d, is := r.(*event.Direct)
		return ok && q.Packets == 1 || is && d.Packets == 1
	}, want: counts{4, 0, 0, 0, 1}, reason: analysis.Lost},
	{rule: "X6", name: "cut", build: single(sent{n: 2}, func(_ *trace, h *event.Handover) { h.Flags, h.Packets = event.FlagWalkCut, 9 }), want: counts{0, 0, 0, 0, 1}, reason: analysis.Cut},
	{rule: "X6", name: "hand-over partial", build: single(sent{n: 2}, func(_ *trace, h *event.Handover) { h.Flags, h.Packets = event.FlagPartial, 9 })},
	{rule: "X6", name: "no attempt", build: single(sent{n: 2, rest: 2}, func(_ *trace, h *event.Handover) { h.Rest = 1 })},
	{rule: "R1", name: "emptied", build: batch(5, 0, sent{stopped: true}, func(_ *event.Dequeue, d *event.Direct) { d.GsoQlenBegin = d.GsoQlenEnd + 1 }), want: counts{0, 0, 0, 0, 1}, reason: analysis.Reset},
	{rule: "R1", name: "all that was parked before went meanwhile", build: batch(5, 0, sent{stopped: true}, func(_ *event.Dequeue, d *event.Direct) {
		d.GsoQlenBegin = 5
	}), want: counts{0, 0, 0, 0, 1}, reason: analysis.Reset},
	{rule: "R1", name: "not stopped at either end", build: batch(5, 0, sent{stopped: true}, nil), want: counts{0, 0, 0, 0, 1}, reason: analysis.Race},
	{rule: "R1", name: "stopped at the begin", build: batch(5, 0, sent{stopped: true}, func(_ *event.Dequeue, d *event.Direct) { d.TxqStateBegin = event.DrvXoff }), want: counts{1, 0, 0, 0, 0}},
	{rule: "R1", name: "stopped at the end", build: batch(5, 0, sent{stopped: true}, func(_ *event.Dequeue, d *event.Direct) { d.TxqStateEnd = event.DrvXoff }), want: counts{1, 0, 0, 0, 0}},
	{rule: "R1", name: "partial", build: batch(5, 0, sent{}, func(_ *event.Dequeue, d *event.Direct) { d.Flags |= event.FlagPartial }), want: counts{0, 0, 0, 0, 1}, reason: analysis.Start},
	{rule: "R1", name: "without a transmit lock", build: unlocked(batch(5, 0, sent{}, func(_ *event.Dequeue, d *event.Direct) { d.Hand.TxqStateBegin = event.Frozen })), want: counts{0, 0, 0, 0, 1}, reason: analysis.Race},
	{rule: "R5", name: "all sent", build: batch(5, 0, sent{}, nil)},
	{rule: "R5", name: "put and not counted", build: batch(5, 0, sent{}, func(_ *event.Dequeue, d *event.Direct) { d.GsoQlenEnd++ }), want: counts{0, 1, 0, 0, 0}},
	{rule: "R5", name: "emptied", build: batch(5, 0, sent{stopped: true}, func(_ *event.Dequeue, d *event.Direct) { d.GsoQlenBegin = d.GsoQlenEnd + 1 }), want: counts{0, 0, 0, 0, 1}, reason: analysis.Reset},
	{rule: "R5", name: "what was parked before went meanwhile", build: putInto(2, 1), want: counts{0, 0, 0, 0, 1}, reason: analysis.Reset},
	{rule: "R5", name: "all that was parked before went meanwhile", build: putInto(1, 1), want: counts{0, 0, 0, 0, 1}, reason: analysis.Reset},
	{rule: "R5", name: "more went than was parked before", build: putInto(1, 2), want: counts{0, 1, 0, 0, 0}},
	{rule: "R5", name: "counted another number than went back", build: func(t *trace) {
		putInto(4, 1)(t)
		last[event.Direct](t, 0).RequeuesEnd++
	}, want: counts{0, 1, 0, 0, 0}},
	{rule: "R5", name: "what was put went meanwhile, lockless", build: func(t *trace) {
		t.qflags |= event.QdiscNoLock
		putInto(0, 2)(t)
	}, want: counts{0, 0, 0, 0, 1}, reason: analysis.Reset},
	{rule: "R5", name: "partial", build: batch(5, 0, sent{stopped: true}, func(_ *event.Dequeue, d *event.Direct) { d.Flags |= event.FlagPartial }), want: counts{0, 0, 0, 0, 1}, reason: analysis.Start},
	{rule: "R6", name: "not refused", build: single(sent{n: 2}, func(*trace, *event.Handover) {})},
	{rule: "R6", name: "partial", build: single(sent{n: 2, rest: 1, busy: true}, func(_ *trace, h *event.Handover) { h.Flags = event.FlagPartial })},
	{rule: "R6", name: "without BQL", build: single(sent{n: 2, rest: 1, busy: true}, func(_ *trace, h *event.Handover) { h.NumQueuedEnd, h.NumComplEnd, h.AdjLimitEnd = 0, 0, 0 })},
	{rule: "R6", name: "reset", build: single(sent{n: 2, rest: 1, busy: true}, func(_ *trace, h *event.Handover) { h.BusyCharged, h.Flags = 142, event.FlagReset }), want: counts{0, 0, 0, 0, 1}, reason: analysis.Reset},
	{rule: "R6", name: "without a transmit lock", build: unlocked(single(sent{n: 2, rest: 1, busy: true}, func(_ *trace, h *event.Handover) { h.BusyCharged = 142 })), want: counts{0, 0, 0, 0, 1}, reason: analysis.Race},
	{rule: "B8", name: "elsewhere", build: elsewhere(5000, stay, stay), want: counts{1, 1, 0, 0, 0}},
	{rule: "B8", name: "other bytes elsewhere", build: elsewhere(4999, stay, stay), want: counts{1, 0, 0, 0, 0}},
	{rule: "B8", name: "elsewhere, and handed to later", build: elsewhere(5000, stay, func(t *trace) { t.alone(142, sent{n: 1}) }), want: counts{2, 0, 1, 0, 0}},
	{rule: "B8", name: "elsewhere, and handed to before", build: elsewhere(5000, func(t *trace) { t.alone(142, sent{n: 1}) }, stay), want: counts{2, 0, 0, 0, 0}},
	{rule: "B8", name: "elsewhere, torn", build: elsewhere(5000, stay, func(t *trace) { last[event.Complete](t, 0).Flags |= event.FlagTorn }), want: counts{1, 0, 0, 0, 0}},
	{rule: "B8", name: "charged by others before", build: func(t *trace) {
		t.alone(1000, sent{n: 1})
		t.txq = 1
		t.alone(142, sent{n: 1})
		t.txq = 0
		t.alone(5000, sent{n: 1, noBQL: true})
		t.txq = 1
		t.alone(142, sent{n: 1}).Foreign = 5000
	}, want: counts{3, 0, 1, 0, 0}},
	{rule: "B8", name: "unknown what others charged", build: func(t *trace) {
		t.alone(1000, sent{n: 1})
		t.txq = 1
		t.alone(142, sent{n: 1})
		t.txq = 0
		t.alone(5000, sent{n: 1, noBQL: true})
		t.txq = 1
		t.alone(142, sent{n: 1}).Foreign = event.ForeignUnknown
	}, want: counts{3, 0, 0, 0, 0}},
	{rule: "B8", name: "charged outside of the attempts", build: single(sent{n: 2}, func(_ *trace, h *event.Handover) { h.Charged-- }), want: counts{0, 1, 0, 0, 0}},
	{rule: "B8", name: "reset after the last attempt", build: single(sent{n: 2}, func(_ *trace, h *event.Handover) { h.NumQueuedEnd, h.NumComplEnd = 0, 0 }), want: counts{0, 0, 0, 0, 1}, reason: analysis.Reset},
	{rule: "B8", name: "fewer in the end", build: single(sent{n: 2}, func(_ *trace, h *event.Handover) { h.NumQueuedBegin, h.NumQueuedEnd = 1000, 1000 }), want: counts{0, 1, 0, 0, 0}},
	{rule: "B8", name: "charged outside, no transmit lock", build: unlocked(func(t *trace) { t.alone(142, sent{n: 1}).Charged-- }), want: counts{0, 0, 0, 0, 1}, reason: analysis.Race},
	{rule: "B8", name: "a refused one charged too", build: single(sent{n: 2, rest: 1, busy: true}, func(_ *trace, h *event.Handover) { h.BusyCharged, h.NumQueuedEnd = 71, h.NumQueuedEnd+71 }), want: counts{1, 0, 0, 0, 0}},
	{rule: "B8", name: "64 lengths, one less", build: lengths(64, 1, -1, 5, 142), want: counts{65, 0, 1, 0, 0}},
	{rule: "B8", name: "63 lengths, one less", build: lengths(63, 1, -1, 5, 142), want: counts{64, 0, 0, 0, 0}},
	{rule: "B8", name: "127 lengths, two less", build: lengths(127, 2, -1, 5, 142), want: counts{129, 0, 0, 0, 0}},
	{rule: "B8", name: "320 lengths, five more", build: lengths(320, 5, 5*64+1, 5, 142), want: counts{325, 0, 5, 0, 0}},
	{rule: "B8", name: "64 lengths, one twice", build: lengths(64, 1, 142, 1, 142), want: counts{65, 1, 0, 0, 0}},
	{rule: "B8", name: "63 lengths, one twice", build: lengths(63, 1, 142, 1, 142), want: counts{64, 0, 0, 0, 0}},
	{rule: "B8", name: "64 lengths, two packets twice", build: lengths(64, 1, 2*142, 2, 142), want: counts{65, 0, 1, 0, 0}},
	{rule: "B8", name: "perhaps padded", build: lengths(64, 1, 5*64, 5, 142), want: counts{65, 0, 0, 0, 0}},
	{rule: "B8", name: "lengths of GSO skbs apart", build: func(t *trace) {
		lengths(64, 0, 0, 1, 142)(t)
		batch(1, 0, sent{n: 2}, func(_ *event.Dequeue, d *event.Direct) { d.GsoSegs = 2; charge(d, -1) })(t)
	}, want: counts{65, 0, 0, 0, 0}},
	{rule: "B8", name: "lengths of GSO skbs", build: func(t *trace) {
		for i := range 65 {
			batch(1, 0, sent{n: 2}, func(_ *event.Dequeue, d *event.Direct) {
				if d.GsoSegs = 2; i == 9 {
					charge(d, -1)
				}
			})(t)
			t.unstop()
		}
	}, want: counts{65, 0, 1, 0, 0}},
	{rule: "B8", name: "lengths, not all taken", build: func(t *trace) {
		lengths(64, 0, 0, 1, 142)(t)
		batch(5, 0, sent{rest: 2, stop: event.DrvXoff}, nil)(t)
	}, want: counts{65, 0, 0, 0, 0}},
	{rule: "B8", name: "lengths, one dropped", build: func(t *trace) {
		lengths(64, 0, 0, 1, 142)(t)
		batch(5, 0, sent{}, func(_ *event.Dequeue, d *event.Direct) { charge(d, -142); d.Hand.Uncharged = 1 })(t)
	}, want: counts{65, 0, 0, 0, 0}},
	{rule: "B8", name: "lengths, cut", build: func(t *trace) {
		lengths(64, 0, 0, 1, 142)(t)
		batch(5, 0, sent{}, func(_ *event.Dequeue, d *event.Direct) { charge(d, -142); d.Flags = event.FlagWalkCut })(t)
	}, want: counts{65, 0, 0, 0, 0}},
	{rule: "B8", name: "reset", build: single(sent{n: 2}, func(_ *trace, h *event.Handover) { h.Flags = event.FlagReset })},
	{rule: "B8", name: "nested", build: single(sent{n: 2}, func(_ *trace, h *event.Handover) { h.Flags = event.FlagNested })},
	{rule: "B8", name: "partial", build: single(sent{n: 2}, func(_ *trace, h *event.Handover) { h.Flags = event.FlagPartial })},
	{rule: "B11", name: "two snapshots", build: bounded(2, stay)},
	{rule: "B11", name: "three snapshots", build: bounded(3, stay), want: counts{1, 0, 0, 0, 0}},
	{rule: "B11", name: "limit_min moves", build: bounded(3, func(t *trace) { t.dql.MinLimit++; t.dql.NumQueued += 5000; t.complete(5000) }), want: counts{1, 0, 0, 0, 0}},
	{rule: "B11", name: "limit_max moves", build: bounded(3, func(t *trace) { t.dql.MaxLimit++; t.dql.NumQueued += 5000; t.complete(5000) }), want: counts{1, 0, 0, 0, 0}},
	{rule: "B11", name: "idle", build: bounded(3, func(t *trace) { t.snapshot() }), want: counts{1, 0, 0, 0, 0}},
	{rule: "B11", name: "torn", build: bounded(3, func(t *trace) { last[event.Complete](t, 0).Flags |= event.FlagTorn })},
	{rule: "B11", name: "limit was written", build: bounded(3, func(t *trace) { c := last[event.Complete](t, 0); c.Limit = 95_000 }), want: counts{0, 0, 0, 1, 0}},
	{rule: "B11", name: "bounds that exclude each other", build: func(t *trace) {
		t.dql.MinLimit = 90_000
		bounded(3, stay)(t)
		for _, r := range t.recs {
			if c, ok := r.(*event.Complete); ok {
				c.MinLimit, c.MaxLimit = 9000, 100
			}
		}
	}},
	{rule: "B13", name: "torn", build: bounded(2, func(t *trace) { last[event.Complete](t, 0).Flags |= event.FlagTorn }), want: counts{0, 0, 0, 0, 1}, reason: analysis.Torn},
	{rule: "B13", name: "first and idle", build: bounded(1, func(t *trace) { t.snapshot() })},
	{rule: "B16", name: "reset", build: single(sent{n: 2}, func(_ *trace, h *event.Handover) { h.TxqStateEnd, h.Flags = event.StackXoff, event.FlagReset }), want: counts{0, 0, 0, 0, 1}, reason: analysis.Reset},
	{rule: "B16", name: "over the limit", build: over(2, completeAll), want: counts{0, 1, 0, 0, 0}},
	{rule: "B16", name: "over the limit, and again before anything is completed", build: over(5, completeAll), want: counts{0, 1, 0, 0, 0}},
	{rule: "B16", name: "over the limit, and nothing is completed", build: over(2, stay), want: counts{0, 0, 0, 0, 1}, reason: analysis.Race},
	{rule: "B16", name: "over the limit at the end", build: over(1, stay)},
	{rule: "B16", name: "over the limit, completed before the next", build: over(1, func(t *trace) { t.complete(1000); t.alone(142, sent{n: 1}) }), want: counts{1, 0, 0, 0, 1}, reason: analysis.Race},
	{rule: "B16", name: "over the limit, the completion is seen half", build: over(1, func(t *trace) { t.dql.AdjLimit++; t.alone(142, sent{n: 1}); t.state = 0 }), want: counts{1, 0, 0, 0, 1}, reason: analysis.Race},
	{rule: "B16", name: "over the limit, seen by a snapshot only", build: over(1, func(t *trace) { t.snapshot() })},
	{rule: "B16", name: "over the limit, reset", build: over(1, func(t *trace) { last[event.Handover](t, 0).Flags = event.FlagReset }), want: counts{0, 0, 0, 0, 1}, reason: analysis.Reset},
	{rule: "B16", name: "over the limit, completed meanwhile", build: over(1, func(t *trace) { last[event.Handover](t, 0).AdjLimitBegin-- }), want: counts{0, 0, 0, 0, 1}, reason: analysis.Race},
	{rule: "B16", name: "over the limit, no transmit lock", build: unlocked(over(2, stay)), want: counts{0, 0, 0, 0, 2}, reason: analysis.Race},
	{rule: "B16", name: "over the limit, some left", build: over(2, func(t *trace) { h := last[event.Handover](t, 1); h.Packets, h.Rest = 2, 1 })},
	{rule: "B16", name: "over the limit, one dropped", build: over(2, func(t *trace) { last[event.Handover](t, 1).Uncharged = 1 })},
	{rule: "B16", name: "over the limit, none taken", build: over(2, func(t *trace) { last[event.Handover](t, 1).Attempts = 0 })},
	{rule: "B16", name: "at the limit", build: func(t *trace) {
		for range 2 {
			t.alone(142, sent{n: 1}).AdjLimitEnd = t.dql.NumQueued
			last[event.Handover](t, 0).AdjLimitBegin = t.dql.NumQueued
		}
	}},
	{rule: "B16", name: "partial", build: single(sent{n: 2}, func(_ *trace, h *event.Handover) { h.TxqStateEnd, h.Flags = event.StackXoff, event.FlagPartial })},
	{rule: "B16", name: "no byte left, none over", build: single(sent{n: 2}, func(_ *trace, h *event.Handover) {
		h.TxqStateEnd, h.AdjLimitBegin, h.AdjLimitEnd = event.StackXoff, h.NumQueuedEnd, h.NumQueuedEnd
	}), want: counts{0, 1, 0, 0, 0}},
	{rule: "B16", name: "started by a completion", build: func(t *trace) {
		t.halts()
		t.state = 0
		t.dql.NumCompleted++
		t.alone(142, sent{n: 1}) // and stops it again
	}, want: counts{2, 0, 0, 0, 0}},
	{rule: "B16", name: "started by a reset", build: func(t *trace) {
		t.halts()
		t.state, t.dql.NumQueued = 0, 0
		t.alone(142, sent{n: 1})
	}, want: counts{0, 0, 0, 0, 1}, reason: analysis.Reset},
	{rule: "B16", name: "torn while stopped", build: func(t *trace) {
		t.halts()
		last[event.Complete](t, 0).Flags |= event.FlagTorn
		t.state = 0
		t.alone(142, sent{n: 1})
	}, want: counts{1, 0, 0, 0, 0}},
	{rule: "T2", name: "the skb went out", build: func(t *trace) { e := t.throttle(); e.WmemEnd, e.QueueEmpty = 100, 1 }, want: counts{0, 0, 0, 0, 1}, reason: "the skb went out after all"},
	{rule: "T3", name: "the threshold is not known", build: func(t *trace) { t.header.Kernel.SkbTruesize = 0; t.wfree().Ksoftirqd = 1 }, want: counts{0, 0, 0, 0, 1}, reason: "SKB_TRUESIZE(1) is not known"},
	{rule: "T3", name: "the threshold is not needed", build: func(t *trace) { t.header.Kernel.SkbTruesize = 0; t.wfree() }, want: counts{1, 0, 0, 0, 0}},
}

// Each rule counts what is an instance, and only that, and leaves undecided
// what it cannot know.
func TestJudged(t *testing.T) {
	for _, c := range slices.Concat(cases, edges, bqlEdges, lateEdges, lifeEdges, freedUnreported) {
		tr := newTrace()
		c.build(tr)
		if c.variant == "" {
			c.variant = "latest"
		}
		v, err := analysis.ParseVariants(c.variant)
		if err != nil {
			t.Fatal(err)
		}
		src := tr.source(func(i int) bool { return c.lose != nil && c.lose(tr.recs[i]) })
		src.stats = c.stats
		res, err := analysis.Analyze(src, analysis.Options{Rules: All(), Variant: v})
		if err != nil {
			t.Fatal(err)
		}
		r := ruling(t, res, c.rule)
		for _, e := range r.Evidence {
			if strings.Contains(e.Says, "%!") {
				t.Errorf("%s, %s: says %q", c.rule, c.name, e.Says)
			}
		}
		if got := countsOf(r); got != c.want {
			t.Errorf("%s, %s: %v, want %v: %+v", c.rule, c.name, got, c.want, r)
		} else if c.reason != "" && (len(r.Undecided) != 1 || r.Undecided[0].Reason != c.reason) {
			t.Errorf("%s, %s: %+v, want %q", c.rule, c.name, r.Undecided, c.reason)
		}
	}
}
