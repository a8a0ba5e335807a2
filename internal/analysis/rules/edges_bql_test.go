// SPDX-License-Identifier: Apache-2.0

package rules

import (
	"github.com/txtrace/txtrace/internal/analysis"
	"github.com/txtrace/txtrace/internal/event"
	"github.com/txtrace/txtrace/internal/model"
)

// anew ends three snapshots with a reset that leaves limit.
func anew(limit uint32) func(*trace) {
	return bounded(3, func(t *trace) {
		t.dql.Reset(model.DQLResetMin, t.jiffies)
		t.dql.Limit = limit
		t.snapshot()
	})
}

// held at limit, whose bounds are least and most.
func limited(limit, least, most uint32) func(*trace) {
	return func(t *trace) {
		t.dql.MinLimit, t.dql.MaxLimit, t.dql.Limit = least, most, limit
		for range 3 {
			t.dql.NumQueued += 500
			t.stepB13(500, func(_ model.DQL, d *model.DQL) { d.Limit, d.AdjLimit = limit, d.NumCompleted+limit })
		}
	}
}

// elsewhereOf hands bytes to queue 0 uncharged between two hand-overs to queue
// 1, of which the second finds foreign bytes.
func elsewhereOf(bytes, foreign uint32, change func(t *trace, first, uncharged, second *event.Handover)) func(*trace) {
	return func(t *trace) {
		t.alone(1000, sent{n: 1})
		t.txq = 1
		first := t.alone(142, sent{n: 1})
		t.txq = 0
		u := t.alone(bytes, sent{n: 1, noBQL: true})
		t.txq = 1
		second := t.alone(142, sent{n: 1})
		second.Foreign = foreign
		change(t, first, u, second)
	}
}

// kept makes n hand-overs with a record of their call, and one that was not
// charged, of such a life.
func kept(n int, life uint8) func(*trace) {
	return func(t *trace) {
		for range n {
			t.called(event.LifeFollowed, sent{n: 1})
			t.complete(t.dql.InFlight())
		}
		t.called(life, sent{n: 1, noBQL: true})
	}
}

// keptAnd is a packet that is kept and not charged, and what comes then.
func keptAnd(then func(*trace)) func(*trace) {
	return func(t *trace) {
		t.alone(142, sent{n: 1})
		t.called(event.LifeFollowed, sent{n: 1, noBQL: true})
		then(t)
	}
}

// keptAndCharged keeps n packets without a charge, and charges so many of them
// later.
func keptAndCharged(n, charged int) func(*trace) {
	return func(t *trace) {
		t.alone(142, sent{n: 1})
		for i := range n {
			t.called(event.LifeFollowed, sent{n: 1, noBQL: true})
			if i < charged {
				t.alone(142, sent{n: 1}).Foreign = 142
			}
		}
	}
}

// keptElsewhere keeps three packets of another queue without a charge, with a
// completion after the first, and charges others' bytes then, all at once.
func keptElsewhere(foreign uint32) func(*trace) {
	return func(t *trace) {
		t.alone(142, sent{n: 1})
		for i := range 3 {
			t.called(event.LifeFollowed, sent{n: 1, noBQL: true})
			last[event.Handover](t, 0).Txq, last[event.Packet](t, 0).Txq = 1, 1
			if i == 0 {
				t.complete(t.dql.InFlight())
			}
		}
		t.alone(142, sent{n: 1}).Foreign = foreign
	}
}

// called is a hand-over of one packet with a record of its call.
func (t *trace) called(life uint8, s sent) {
	h := t.alone(142, s)
	t.recs = t.recs[:len(t.recs)-1]
	t.seq[t.cpu]--
	t.turns++
	p := &event.Packet{
		Skb: h.First, Len: 142, Segs: 1, Turn: t.turns, Life: life,
		NumQueuedBegin: h.NumQueuedBegin, NumQueuedEnd: h.NumQueuedEnd,
	}
	t.put(p, h.Begin())
	p.Parent = h.ID()
	t.put(h, h.Begin())
}

// after33 charges a queue with bytes after one hand-over more than is remembered
// was not charged, of 5000 bytes and up.
func after33(bytes uint32) func(*trace) {
	return func(t *trace) {
		t.alone(1000, sent{n: 1})
		t.txq = 1
		t.snapshot()
		for i := range uint32(33) {
			t.txq = 0
			t.alone(5000+i, sent{n: 1, noBQL: true})
		}
		t.txq = 1
		t.dql.NumQueued += bytes
		t.snapshot()
	}
}

func asItIs(*trace, *event.Handover, *event.Handover, *event.Handover) {}

// stoppedThen takes a snapshot of a queue that BQL stopped.
func stoppedThen(then func(*trace)) func(*trace) {
	return func(t *trace) {
		t.halts()
		then(t)
	}
}

// startedWhile is a queue that is not stopped any more when the next packet is
// handed over, which stops it again; change is what was otherwise when it was
// seen stopped.
func startedWhile(change func(*trace, *event.Complete)) func(*trace) {
	return stoppedThen(func(t *trace) {
		change(t, last[event.Complete](t, 0))
		t.state = 0
		t.alone(142, sent{n: 1})
	})
}

// overAfter hands over more than the limit, and the queue goes on, after a
// completion that is seen as change says.
func overAfter(change func(*trace, *event.Complete)) func(*trace) {
	return func(t *trace) {
		t.completes()
		change(t, last[event.Complete](t, 0))
		over(2, completeAll)(t)
	}
}

// movedNAPI looks at a queue that another CPU, which has just taken its NAPI over,
// is about to start: that clears STACK in the hand-over.
func movedNAPI(t *trace) {
	t.completes()
	t.dql.LastObjCnt = t.dql.Limit + 1000
	t.dql.NumQueued += t.dql.LastObjCnt
	t.state |= event.StackXoff
	if err := t.dql.Completed(t.dql.LastObjCnt, t.jiffies); err != nil {
		panic(err)
	}
	t.snapshot()
	t.state = 0
	h := t.alone(uint32(t.dql.Avail())+1000, sent{n: 1})
	h.TxqStateBegin, h.TxqStateEnd, h.TxqStateLast = 0, 0, 0
	t.state = 0
	t.alone(142, sent{n: 1}).TxqStateBegin = 0
	t.cpu = 1
	completeAll(t)
	t.cpu = 0
}

// toldLate hands over more than the limit, and the queue goes on; n completions
// come before the run is over in which that was.
func toldLate(n int) func(*trace) {
	return func(t *trace) {
		t.completes()
		r := t.run()
		over(2, stay)(t)
		for i := len(t.recs) - 2; i < len(t.recs); i++ {
			t.recs[i].Head().Parent, t.recs[i].Head().Depth = r.parent(), 1
		}
		for range n {
			t.snapshot().NumCompleted += uint32(n)
		}
		r.end()
		completeAll(t)
	}
}

// twice over the limit in steps of one driver.
func overTwice(t *trace) {
	t.header.Devices[0].Driver = "tg3"
	t.dql.Limit, t.dql.AdjLimit, t.dql.LowestSlack = 4000, 4000, 500
	t.dql.NumQueued, t.dql.LastObjCnt = 6000, 6000
	t.complete(1000)
	for range 2 {
		t.dql.NumQueued, t.dql.LastObjCnt = t.dql.NumQueued+2000, 2000
		if t.dql.Completed(1000, t.jiffies) != nil {
			panic("too much")
		}
	}
	t.snapshot()
}

var bqlEdges = []judged{
	{rule: "B11", name: "one value is allowed", build: limited(1000, 1000, 1000), want: counts{1, 0, 0, 0, 0}},
	{rule: "B11", name: "at limit_max", build: limited(9000, 1000, 9000), want: counts{1, 0, 0, 0, 0}},
	{rule: "B11", name: "at limit_min", build: limited(1000, 1000, 9000), want: counts{1, 0, 0, 0, 0}},
	{rule: "B11", name: "below limit_min", build: limited(999, 1000, 9000), want: counts{0, 1, 0, 0, 0}},
	{rule: "B11", name: "above limit_max", build: limited(9001, 1000, 9000), want: counts{0, 1, 0, 0, 0}},
	{rule: "B11", name: "all is completed, at a total of 0", build: func(t *trace) {
		t.dql.NumQueued, t.dql.NumCompleted = 1<<32-15_000, 1<<32-15_000
		t.dql.AdjLimit, t.dql.PrevNumQueued, t.dql.LastObjCnt = t.dql.NumCompleted+t.dql.Limit, t.dql.NumCompleted, 5000
		bounded(3, stay)(t)
	}, want: counts{1, 0, 0, 0, 0}},
	{rule: "B11", name: "a reset, and one completion", build: bounded(3, func(t *trace) {
		t.dql.Reset(model.DQLResetMin, t.jiffies)
		t.dql.NumQueued, t.dql.LastObjCnt = 5000, 5000
		t.complete(5000)
	}), want: counts{2, 0, 0, 0, 0}},
	{rule: "B11", name: "a reset to limit_min", build: anew(1000), want: counts{2, 0, 0, 0, 0}},
	{rule: "B11", name: "a reset to limit_min, of an old kernel", variant: "dql-reset=zero", build: anew(1000), want: counts{1, 1, 0, 0, 0}},
	{rule: "B11", name: "a reset to 0", build: anew(0), want: counts{1, 1, 0, 0, 0}},
	{rule: "B11", name: "a reset, and limit was written", build: anew(77), want: counts{1, 0, 0, 0, 1}, reason: analysis.Changed},
	{rule: "B11", name: "a reset, and limit was written, of an old kernel", variant: "dql-reset=zero", build: anew(77), want: counts{1, 0, 0, 0, 1}, reason: analysis.Changed},

	{rule: "B13", name: "two completions, of which the end tells", build: overTwice, want: counts{1, 0, 0, 0, 0}},
	{rule: "B13", name: "limit was written, nothing is completed", build: bounded(2, func(t *trace) { t.dql.Limit = 7; t.snapshot() }), want: counts{1, 0, 0, 0, 1}, reason: analysis.Changed},
	{rule: "B13", name: "reset", build: bounded(2, func(t *trace) { t.dql.Reset(model.DQLResetMin, t.jiffies); t.snapshot() }), want: counts{1, 0, 0, 0, 1}, reason: analysis.Reset},

	{rule: "B16", name: "stopped as another CPU saw it", build: func(t *trace) {
		t.snapshot()
		t.cpu = 1
		stoppedThen(func(t *trace) { t.state = 0; t.alone(142, sent{n: 1}) })(t)
	}, want: counts{1, 0, 0, 0, 0}},
	{rule: "B16", name: "started before who completes it is known", build: func(t *trace) {
		t.dql.NumQueued, t.dql.LastObjCnt, t.state = 100_000, 100_000, event.StackXoff
		for range 7 {
			t.complete(1000)
		}
		t.state = 0
		t.alone(142, sent{n: 1})
	}, want: counts{1, 0, 0, 0, 0}},
	{rule: "B16", name: "started after it was stopped", build: startedWhile(func(*trace, *event.Complete) {}), want: counts{1, 1, 0, 0, 0}},
	{rule: "B16", name: "stopped as an interrupt of the completion saw it", build: startedWhile(func(_ *trace, c *event.Complete) { c.Context = event.ContextHardirq }), want: counts{1, 0, 0, 0, 0}},
	{rule: "B16", name: "stopped as the poll saw it that completes", build: startedWhile(func(_ *trace, c *event.Complete) { c.Context = event.ContextKsoftirqd }), want: counts{1, 1, 0, 0, 0}},
	{rule: "B16", name: "stopped with room, so that the sender starts it", build: startedWhile(func(_ *trace, c *event.Complete) { c.AdjLimit = c.NumQueued }), want: counts{1, 0, 0, 0, 0}},
	{rule: "B16", name: "stopped without room", build: startedWhile(func(_ *trace, c *event.Complete) { c.AdjLimit = c.NumQueued - 1 }), want: counts{1, 1, 0, 0, 0}},
	{rule: "B16", name: "over the limit after a completion", build: overAfter(func(*trace, *event.Complete) {}), want: counts{0, 1, 0, 0, 0}},
	{rule: "B16", name: "over the limit, and a completion had not looked yet", build: overAfter(func(_ *trace, c *event.Complete) { c.NumCompleted-- }), want: counts{0, 0, 0, 0, 2}, reason: analysis.Race},
	{rule: "B16", name: "over the limit, and a completion looked as an interrupt saw it", build: overAfter(func(_ *trace, c *event.Complete) { c.Context = event.ContextHardirq }), want: counts{0, 0, 0, 0, 2}, reason: analysis.Race},
	{rule: "B16", name: "over the limit, and a completion was looked at by another CPU", build: overAfter(func(t *trace, c *event.Complete) {
		t.seq[0]--
		t.cpu = 1
		c.CPU, c.Seq = 1, t.seq[1]
		t.seq[1]++
	}), want: counts{0, 0, 0, 0, 2}, reason: analysis.Race},
	{rule: "B16", name: "over the limit, and a completion looked as it began", build: overAfter(func(t *trace, c *event.Complete) {
		t.now = c.Time - 200 // when the hand-over begins
	}), want: counts{0, 0, 0, 0, 1}, reason: analysis.Race},
	{rule: "B16", name: "stopped with room, though nothing was charged", build: single(sent{n: 2, noBQL: true}, func(_ *trace, h *event.Handover) { h.TxqStateEnd = event.StackXoff }), want: counts{0, 0, 0, 0, 1}, reason: analysis.Race},
	{rule: "B16", name: "stopped with room, though nothing was taken", build: single(sent{n: 2}, func(_ *trace, h *event.Handover) { h.TxqStateEnd, h.Attempts = event.StackXoff, 0 }), want: counts{0, 0, 0, 0, 1}, reason: analysis.Race},
	{rule: "B16", name: "over the limit, and another CPU completes it from now on", build: movedNAPI, want: counts{1, 0, 0, 0, 1}, reason: analysis.Race},
	{rule: "B16", name: "over the limit, told after 15 more completions", build: toldLate(15), want: counts{0, 1, 0, 0, 0}},
	{rule: "B16", name: "over the limit, told after 16 more completions", build: toldLate(16), want: counts{0, 0, 0, 0, 2}, reason: analysis.Race},
	{rule: "B16", name: "stopped with room, as one of two senders saw it", build: unlocked(single(sent{n: 2}, func(_ *trace, h *event.Handover) { h.TxqStateEnd = event.StackXoff })), want: counts{0, 0, 0, 0, 1}, reason: analysis.Race},
	{rule: "B16", name: "stopped, and then not", build: stoppedThen(func(t *trace) { t.state = 0; t.snapshot(); t.alone(142, sent{n: 1}) }), want: counts{1, 0, 0, 0, 0}},
	{rule: "B16", name: "stopped after it began", build: stoppedThen(func(t *trace) {
		s := last[event.Complete](t, 0).Time
		t.state = 0
		h := t.alone(142, sent{n: 1})
		h.Dur = uint32(h.Time - s + 1)
	}), want: counts{1, 0, 0, 0, 0}},
	{rule: "B16", name: "stopped as it began", build: stoppedThen(func(t *trace) {
		s := last[event.Complete](t, 0).Time
		t.state = 0
		h := t.alone(142, sent{n: 1})
		h.Dur = uint32(h.Time - s)
	}), want: counts{1, 0, 0, 0, 0}},
	{rule: "B16", name: "stopped before it began", build: stoppedThen(func(t *trace) {
		s := last[event.Complete](t, 0).Time
		t.state = 0
		h := t.alone(142, sent{n: 1})
		h.Dur = uint32(h.Time - s - 1)
	}), want: counts{1, 1, 0, 0, 0}},
	{rule: "B16", name: "handed over while stopped", build: stoppedThen(func(t *trace) { t.alone(142, sent{n: 1}) })},
	{rule: "B16", name: "handed over while stopped, and then started", build: stoppedThen(func(t *trace) {
		t.alone(142, sent{n: 1})
		t.state = 0
		t.alone(142, sent{n: 1})
	}), want: counts{1, 0, 0, 0, 0}},
	{rule: "B16", name: "over the limit while stopped", build: func(t *trace) {
		t.state = event.StackXoff
		t.alone(90_000, sent{n: 1})
		t.alone(90_000, sent{n: 1})
	}},
	{rule: "B16", name: "over the limit, completed with the same adj_limit", build: over(1, func(t *trace) {
		t.dql.NumCompleted++
		t.alone(142, sent{n: 1})
	}), want: counts{1, 0, 0, 0, 1}, reason: analysis.Race},

	{rule: "B8", name: "foreign bytes of nobody", build: elsewhereOf(5000, 4000, asItIs), want: counts{3, 0, 0, 0, 0}},
	{rule: "B8", name: "no foreign bytes", build: elsewhereOf(5000, 0, asItIs), want: counts{3, 0, 0, 0, 0}},
	{rule: "B8", name: "foreign bytes handed over before", build: elsewhereOf(5000, 5000, func(_ *trace, first, u, _ *event.Handover) { first.Time = u.Time + 1 }), want: counts{3, 0, 0, 0, 0}},
	{rule: "B8", name: "foreign bytes handed over at once", build: elsewhereOf(5000, 5000, func(_ *trace, first, u, _ *event.Handover) { first.Time = u.Time }), want: counts{3, 0, 1, 0, 0}},
	{rule: "B8", name: "foreign bytes handed over later", build: elsewhereOf(5000, 5000, func(_ *trace, _, u, second *event.Handover) { second.Dur = uint32(second.Time - u.Time + 1) }), want: counts{3, 0, 0, 0, 0}},
	{rule: "B8", name: "foreign bytes handed over as it began", build: elsewhereOf(5000, 5000, func(_ *trace, _, u, second *event.Handover) { second.Dur = uint32(second.Time - u.Time) }), want: counts{3, 0, 1, 0, 0}},
	{rule: "B8", name: "foreign bytes handed to the same queue, charged later", build: elsewhereOf(5000, 5000, func(_ *trace, _, u, _ *event.Handover) { u.Txq = 1 }), want: counts{3, 0, 1, 0, 0}},
	{rule: "B8", name: "kept, and charged later", build: keptAnd(func(t *trace) { t.alone(142, sent{n: 1}).Foreign = 142 }), want: counts{2, 0, 1, 0, 0}},
	{rule: "B8", name: "three kept, and charged later", build: keptAndCharged(3, 3), want: counts{4, 3, 0, 0, 0}},
	{rule: "B8", name: "six kept, three charged later", build: keptAndCharged(6, 3), want: counts{4, 3, 0, 0, 0}},
	{rule: "B8", name: "seven kept, three charged later", build: keptAndCharged(7, 3), want: counts{4, 0, 3, 0, 0}},
	{rule: "B8", name: "two kept, and charged later", build: keptAndCharged(2, 2), want: counts{3, 0, 2, 0, 0}},
	{rule: "B8", name: "three kept, and charged elsewhere at once", build: keptElsewhere(3 * 142), want: counts{2, 3, 0, 0, 0}},
	{rule: "B8", name: "three kept, and less charged elsewhere", build: keptElsewhere(3*142 - 1), want: counts{2, 0, 0, 0, 0}},
	{rule: "B8", name: "kept, and charged after the next", build: keptAnd(func(t *trace) {
		t.alone(142, sent{n: 1})
		t.alone(142, sent{n: 1}).Foreign = 142
		t.alone(142, sent{n: 1}).Foreign = 142
	}), want: counts{4, 0, 1, 0, 0}},
	{rule: "B8", name: "kept, and charged much later", build: keptAnd(func(t *trace) {
		t.alone(142, sent{n: 1})
		t.second(1)
		t.alone(142, sent{n: 1}).Foreign = 142
	}), want: counts{3, 0, 0, 0, 0}},
	{rule: "B8", name: "kept, and others charged", build: keptAnd(func(t *trace) { t.alone(142, sent{n: 1}).Foreign = 143 }), want: counts{2, 0, 0, 0, 0}},
	{rule: "B8", name: "kept, and charged later, with a loss", build: quietly(keptAnd(func(t *trace) {
		t.put(&event.Quiet{Packets: 1, Bytes: 142}, 0)
		t.alone(142, sent{n: 1}).Foreign = 142
	})), lose: loseLedger, want: counts{2, 0, 0, 0, 1}, reason: analysis.Lost},
	{rule: "B8", name: "twice, beside 64 that were counted", build: func(t *trace) {
		t.alone(142, sent{n: 1})
		t.put(&event.Quiet{Packets: 64, Bytes: 64 * 142}, 0)
		batch(1, 0, sent{}, func(_ *event.Dequeue, d *event.Direct) { charge(d, 142) })(t)
	}, want: counts{2, 1, 0, 0, 0}},
	{rule: "B8", name: "kept, and not charged", build: kept(64, event.LifeFollowed), want: counts{64, 0, 1, 0, 0}},
	{rule: "B8", name: "kept, of 63 others", build: kept(63, event.LifeFollowed), want: counts{63, 0, 0, 0, 0}},
	{rule: "B8", name: "dropped", build: kept(64, event.LifeFollowed|event.LifeFreed), want: counts{64, 0, 0, 0, 0}},
	{rule: "B8", name: "kept, of several users", build: kept(64, event.LifeFollowed|event.LifeShared), want: counts{64, 0, 0, 0, 0}},
	{rule: "B8", name: "not followed", build: kept(64, 0), want: counts{64, 0, 0, 0, 0}},
	{rule: "B8", name: "the 33rd forgets the first", build: after33(5000), want: counts{1, 0, 0, 0, 0}},
	{rule: "B8", name: "the 33rd is known", build: after33(5032), want: counts{1, 1, 0, 0, 0}},
	{rule: "B8", name: "refused, and charged to another", build: elsewhere(5000, stay, func(t *trace) {
		h := last[event.Handover](t, 0)
		h.Busy, h.DriverRC, h.Rest, h.Uncharged = 1, 16, 1, 0
	}), want: counts{1, 0, 0, 0, 0}},
	{rule: "B8", name: "a device that never charges", build: func(t *trace) {
		elsewhere(5000, stay, stay)(t)
		h := first[event.Handover](t)
		h.NumQueuedEnd, h.Charged, h.Uncharged = h.NumQueuedBegin, 0, 1
	}},
	{rule: "B8", name: "the first look at a queue", build: func(t *trace) {
		t.alone(1000, sent{n: 1})
		t.alone(4000, sent{n: 1, noBQL: true})
		t.txq = 1
		t.dql.NumQueued = 4000
		t.snapshot()
	}, want: counts{1, 0, 0, 0, 0}},
}
