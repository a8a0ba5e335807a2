// SPDX-License-Identifier: Apache-2.0

package rules

import (
	"github.com/txtrace/txtrace/internal/analysis"
	"github.com/txtrace/txtrace/internal/event"
	"github.com/txtrace/txtrace/internal/model"
)

// limitNS is how long rules of liveness wait.
const limitNS = 5_000_000_000

// after makes two things of which the second comes ns after the first, and the
// recorder tells of itself at the end.
func after(first func(*trace), ns uint64, second func(*trace)) func(*trace) {
	return func(t *trace) {
		first(t)
		from := t.now
		second(t)
		r := t.recs[len(t.recs)-1].Head()
		shift := from + ns - r.Begin()
		r.Time += shift
		t.tick(shift + 100)
	}
}

// overLimit leaves the queue stopped by BQL.
func overLimit(t *trace) { t.alone(90_000_000, sent{n: 1}) }

// inFlight leaves a packet in flight, of a driver whose completions were seen.
func inFlight(t *trace) {
	t.alone(142, sent{n: 1})
	completeAll(t)
	t.alone(142, sent{n: 1})
}

func completeAll(t *trace) { t.complete(t.dql.InFlight()) }

// changed tells of a change of the device.
func changed(t *trace) {
	n := notice(event.NoticeDevChanged, "mtu", 1500, 9000)
	t.put(n, 0)
}

// emptyStopped leaves the queue empty, and stopped by the driver.
func emptyStopped(t *trace) {
	t.alone(142, sent{n: 1, stop: event.DrvXoff})
	completeAll(t)
}

// woken is a hand-over to the queue, which the driver has started.
func woken(t *trace) { t.state = 0; t.alone(142, sent{n: 1}) }

// waits leaves packets in the qdisc of a queue that BQL stopped, and starts it.
func waits(kind string) func(*trace) {
	return func(t *trace) {
		t.kind = kind
		r := t.run()
		r.dequeue(1, uint32(t.dql.Avail())+1000, 5)
		r.send(sent{})
		r.end()
		completeAll(t)
	}
}

// spent is a run that its quota ended.
func spent(left uint32) func(*trace) {
	return batch(65, left, sent{}, nil)
}

func one(t *trace) { batch(1, 0, sent{}, nil)(t) }

// owing is a hand-over that owes a doorbell by rule X7.
func owing(t *trace) {
	h := t.alone(20*142, sent{n: 20, rest: 8, busy: true})
	h.OwedAny, h.OwedDrv = 0, 0
}

// unlocked is what build puts, by a driver without the core's transmit lock.
func unlocked(build func(*trace)) func(*trace) {
	return func(t *trace) {
		build(t)
		for _, r := range t.recs {
			switch r := any(r).(type) {
			case *event.Handover:
				r.Flags |= event.FlagUnlocked
			case *event.Direct:
				r.Flags |= event.FlagUnlocked
			case *event.Packet:
				r.Flags |= event.FlagUnlocked
			}
		}
	}
}

// overlapped are two runs of a qdisc on two CPUs, the second of which begins ns
// before the first ends.
func overlapped(ns uint64, change func(*event.Run)) func(*trace) {
	return func(t *trace) {
		one(t)
		first := last[event.Run](t, 0)
		t.tick(1_000_000)
		t.cpu = 1
		one(t)
		t.cpu = 0
		second := last[event.Run](t, 0)
		shift := second.Begin() + ns - first.Time
		first.Time, first.Dur = first.Time+shift, first.Dur+uint32(shift)
		second.Time, second.Dur = second.Time+1_000_000, second.Dur+1_000_000
		change(second)
		t.tick(2_000_000)
	}
}

func asIs(*event.Run) {}

// deactivated are runs of a qdisc that is being taken off its device.
func deactivated(first, second bool, ns uint64) func(*trace) {
	mark := func(t *trace, is bool) {
		if is {
			last[event.Run](t, 0).QdiscStateBegin |= event.QdiscStateDeactivated
		}
	}
	return func(t *trace) {
		one(t)
		mark(t, first)
		t.tick(ns)
		one(t)
		mark(t, second)
	}
}

func gaveUp(t *trace) { t.put(&event.Notice{Subtype: event.NoticeWatchdog}, 0) }

func loseLedger(r event.Any) bool { _, ok := r.(*event.Quiet); return ok }

// quietly adds a record that a test may lose.
func quietly(build func(*trace)) func(*trace) {
	return func(t *trace) {
		build(t)
		q := &event.Quiet{Packets: 1, Bytes: 142}
		q.Kind = event.KindQuiet
		t.put(q, 0)
		q.Kind = event.KindQuiet
	}
}

// lateEdges are the edges of rules that wait, and of those that follow from
// single records.
var lateEdges = []judged{
	{rule: "B3", name: "stopped, no transmit lock", build: unlocked(batch(5, 0, sent{}, func(_ *event.Dequeue, d *event.Direct) { d.Hand.TxqStateBegin = event.StackXoff })), want: counts{0, 0, 0, 0, 1}, reason: analysis.Race},
	{rule: "B3", name: "stopped, and others charged it", build: batch(5, 0, sent{}, func(_ *event.Dequeue, d *event.Direct) { d.Hand.TxqStateBegin, d.Hand.Foreign = event.StackXoff, 142 }), want: counts{0, 0, 0, 0, 1}, reason: analysis.Race},
	{rule: "B3", name: "stopped, and nobody else charged it", build: batch(5, 0, sent{}, func(_ *event.Dequeue, d *event.Direct) { d.Hand.TxqStateBegin = event.StackXoff }), want: counts{0, 1, 0, 0, 0}},
	{rule: "B3", name: "stopped by the driver", build: batch(5, 0, sent{}, func(_ *event.Dequeue, d *event.Direct) { d.Hand.TxqStateBegin = event.DrvXoff }), want: counts{1, 0, 0, 0, 0}},
	{rule: "B3", name: "without a qdisc", build: single(sent{n: 2}, func(_ *trace, h *event.Handover) { h.TxqStateBegin = event.StackXoff })},

	{rule: "W3", name: "trans_start stays", build: func(t *trace) { t.list3(); first[event.Packet](t).TransStart-- }, want: counts{2, 1, 0, 0, 0}},
	{rule: "W3", name: "trans_start stays, no transmit lock", build: unlocked(func(t *trace) { t.list3(); first[event.Packet](t).TransStart-- })},

	{rule: "B5", name: "the first snapshot", build: func(t *trace) { t.dql.Reset(model.DQLResetMin, t.jiffies); t.snapshot() }},
	{rule: "B5", name: "nothing in flight", build: func(t *trace) {
		t.alone(5000, sent{n: 1})
		completeAll(t)
		t.watchdog()
	}, want: counts{1, 0, 0, 0, 0}},
	{rule: "B5", name: "in flight", build: func(t *trace) {
		t.alone(5000, sent{n: 1})
		completeAll(t)
		t.alone(5000, sent{n: 1})
		t.watchdog()
	}, want: counts{0, 0, 1, 0, 0}},

	{rule: "B7", name: "reset between", build: single(sent{n: 2}, func(_ *trace, h *event.Handover) { h.NumQueuedBegin, h.NumComplBegin = 0, 5 }), want: counts{0, 0, 0, 0, 1}, reason: analysis.Reset},
	{rule: "B7", name: "no transmit lock", build: unlocked(func(t *trace) {
		t.alone(142, sent{n: 1})
		t.alone(142, sent{n: 1}).NumComplEnd = t.dql.NumQueued + 1
	}), want: counts{1, 0, 0, 0, 1}, reason: analysis.Race},
	{rule: "B7", name: "all of it", build: func(t *trace) { t.alone(142, sent{n: 1}).NumComplEnd = t.dql.NumQueued }, want: counts{1, 0, 0, 0, 0}},
	{rule: "B7", name: "one more", build: func(t *trace) {
		t.alone(142, sent{n: 1})
		t.alone(142, sent{n: 1}).NumComplEnd = t.dql.NumQueued + 1
	}, want: counts{1, 1, 0, 0, 0}},

	{rule: "B9", name: "both", build: func(t *trace) { t.purged(11, true) }, want: counts{1, 0, 0, 0, 0}},
	{rule: "B9", name: "one", build: func(t *trace) { t.purged(11, false) }, want: counts{0, 0, 1, 0, 0}},
	{rule: "B9", name: "one, and the device stays down", build: func(t *trace) {
		t.purged(11, false)
		for _, r := range t.recs {
			if s, ok := r.(*event.Sample); ok {
				s.Device = event.DevicePresent
			}
		}
	}},
	{rule: "B9", name: "one, and the other goes on", build: func(t *trace) {
		t.purged(11, false)
		for i := range 5 {
			last[event.Sample](t, i).NumCompl++
		}
	}, want: counts{1, 0, 0, 0, 0}},
	{rule: "B9", name: "one, and nothing in flight in the other", build: func(t *trace) {
		t.purged(11, false)
		h := last[event.Handover](t, 0)
		h.NumComplEnd = h.NumQueuedEnd
	}},
	{rule: "B9", name: "one, and something was lost", build: func(t *trace) { t.purged(11, false) },
		lose: func(r event.Any) bool { s, ok := r.(*event.Sample); return ok && s.Time < limitNS && s.Txq == 1 }, want: counts{0, 0, 0, 0, 1}, reason: analysis.Lost},

	{rule: "B10", name: "just in time", build: after(overLimit, limitNS, completeAll), want: counts{1, 0, 0, 0, 0}},
	{rule: "B10", name: "late", build: after(overLimit, limitNS+1, completeAll), want: counts{0, 0, 1, 0, 0}},
	{rule: "B10", name: "the recording ended", build: overLimit},
	{rule: "B10", name: "the device changed", build: func(t *trace) { overLimit(t); changed(t); t.second(6) }},
	{rule: "B10", name: "started, by what was not seen", build: func(t *trace) { overLimit(t); woken(t) }, want: counts{1, 0, 0, 0, 0}},
	{rule: "B10", name: "late, and something was lost", build: func(t *trace) { quietly(overLimit)(t); t.second(6); completeAll(t) }, lose: loseLedger, want: counts{0, 0, 0, 0, 1}, reason: analysis.Lost},

	{rule: "B12", name: "as much as may be", build: func(t *trace) { t.dql.AdjLimit = 1 << 30; t.alone(model.DQLMaxObject, sent{n: 1}) }, want: counts{1, 0, 0, 0, 0}},
	{rule: "B12", name: "one more, by two", build: func(t *trace) {
		t.dql.AdjLimit = 1 << 30
		h := t.alone(1<<28, sent{n: 2})
		h.Charged = model.DQLMaxObject + 1
	}, want: counts{0, 0, 0, 0, 1}, reason: "the charges of single packets are not recorded"},
	{rule: "B12", name: "not charged", build: single(sent{n: 2, noBQL: true}, func(*trace, *event.Handover) {})},

	{rule: "B17", name: "run in time", build: func(t *trace) { waits("pfifo_fast")(t); t.second(4); one(t) }, want: counts{1, 0, 0, 0, 0}},
	{rule: "B17", name: "not run", build: func(t *trace) { waits("fq_codel")(t); t.second(6) }, want: counts{0, 0, 1, 0, 0}},
	{rule: "B17", name: "a qdisc that may hold packets back", build: func(t *trace) { waits("fq")(t); t.second(6) }},
	{rule: "B17", name: "the device changed", build: func(t *trace) { waits("fq_codel")(t); changed(t); t.second(6) }},
	{rule: "B17", name: "still stopped by the driver", build: func(t *trace) {
		waits("fq_codel")(t)
		last[event.Complete](t, 0).TxqState |= event.DrvXoff
		t.second(6)
	}},

	{rule: "D6", name: "exactly the parked ones", build: func(t *trace) {
		batch(5, 0, sent{n: 5, rest: 3, stop: event.DrvXoff}, nil)(t)
	}, want: counts{1, 0, 0, 0, 0}},
	{rule: "D6", name: "a count for each CPU", build: func(t *trace) {
		batch(5, 0, sent{n: 5, rest: 3, stop: event.DrvXoff}, nil)(t)
		r := last[event.Run](t, 0)
		r.QlenEnd, r.Flags = 0, event.FlagPerCPU
	}},

	{rule: "D6", name: "a lock, and a count for each CPU", build: func(t *trace) {
		t.qflags |= event.QdiscCPUStats
		batch(5, 0, sent{n: 5, rest: 3, stop: event.DrvXoff}, nil)(t)
		last[event.Run](t, 0).QlenEnd = 0
	}},

	{rule: "D8", name: "cut", build: batch(5, 0, sent{}, func(q *event.Dequeue, _ *event.Direct) { q.PktLen, q.Flags = 0, event.FlagWalkCut })},
	{rule: "D8", name: "one byte less", build: batch(5, 0, sent{}, func(q *event.Dequeue, _ *event.Direct) { q.PktLen-- }), want: counts{0, 0, 1, 0, 0}},

	{rule: "D10", name: "charged in between", build: batch(5, 0, sent{}, func(q *event.Dequeue, _ *event.Direct) { q.TxqState, q.NumQueued = event.StackXoff, q.NumQueued+1 }), want: counts{1, 0, 0, 0, 0}},

	{rule: "X2", name: "not readable", build: func(t *trace) { _, h := t.bypass(142, sent{}); h.More = event.MoreUnknown }, want: counts{0, 0, 0, 0, 1}, reason: "xmit_more not readable"},
	{rule: "X2", name: "stacked", build: func(t *trace) { d, h := t.bypass(142, sent{}); h.More, d.Flags = 1, event.FlagNested }, want: counts{0, 0, 0, 0, 1}, reason: "a stacked device sent inside"},
	{rule: "X2", name: "a list", build: func(t *trace) { _, h := t.bypass(1420, sent{n: 10, rest: 5, stop: event.DrvXoff}); h.More = 1 }},
	{rule: "X2", name: "dequeued alone", build: batch(1, 0, sent{}, func(_ *event.Dequeue, d *event.Direct) { d.Hand.More = 1 })},

	{rule: "X7", name: "completed", build: after(owing, limitNS, completeAll), want: counts{1, 0, 0, 0, 0}},
	{rule: "X7", name: "completed late", build: after(owing, limitNS+1, completeAll), want: counts{0, 0, 1, 0, 0}},
	{rule: "X7", name: "the next one rings", build: func(t *trace) { owing(t); t.alone(142, sent{n: 1}); completeAll(t) }},
	{rule: "X7", name: "the next one rings, late", build: func(t *trace) { owing(t); t.second(6); t.alone(142, sent{n: 1}) }, want: counts{0, 0, 1, 0, 0}},
	{rule: "X7", name: "completed in part", build: func(t *trace) { owing(t); t.complete(142); t.second(6) }, want: counts{0, 0, 1, 0, 0}},
	{rule: "X7", name: "one rang", build: func(t *trace) { t.alone(20*142, sent{n: 20, rest: 8, busy: true}); t.second(6) }},
	{rule: "X7", name: "reset", build: func(t *trace) { t.snapshot(); owing(t); t.watchdog(); t.second(6) }},
	{rule: "X7", name: "the device changed", build: func(t *trace) { owing(t); changed(t); t.second(6) }},
	{rule: "X3", name: "all dropped", build: func(t *trace) { t.alone(142*3, sent{n: 3, noBQL: true}); t.second(6) }},
	{rule: "X4", name: "stopped before", build: func(t *trace) {
		t.state = event.DrvXoff
		t.alone(20*142, sent{n: 20, rest: 8})
		t.second(6)
	}},

	{rule: "R4", name: "seen in part", build: single(sent{n: 2}, func(_ *trace, h *event.Handover) { h.Flags = event.FlagPartial })},

	{rule: "V1", name: "tags for each", build: batch(5, 0, sent{}, func(_ *event.Dequeue, d *event.Direct) { d.Hand.Bytes += 5 * vlanHeader }), want: counts{1, 0, 0, 0, 0}},
	{rule: "V1", name: "one byte more", build: batch(5, 0, sent{}, func(_ *event.Dequeue, d *event.Direct) { d.Hand.Bytes += 5*vlanHeader + 1 }), want: counts{0, 0, 1, 0, 0}},
	{rule: "V1", name: "not validated", build: batch(5, 0, sent{}, func(_ *event.Dequeue, d *event.Direct) { d.Validate, d.Hand.Bytes = 0, 1<<20 })},
	{rule: "V1", name: "cut", build: batch(5, 0, sent{}, func(_ *event.Dequeue, d *event.Direct) { d.Flags, d.Hand.Bytes = event.FlagWalkCut, 1<<20 })},

	{rule: "W1", name: "a fifth of a second", build: after(woken, shortest, gaveUp), want: counts{1, 0, 0, 0, 0}},
	{rule: "W1", name: "a ns less", build: after(woken, shortest-1, gaveUp), want: counts{0, 0, 1, 0, 0}},
	{rule: "W1", name: "another queue", build: func(t *trace) { woken(t); t.txq = 1; gaveUp(t) }},
	{rule: "W1", name: "nothing taken before", build: gaveUp},

	{rule: "S2", name: "started", build: after(emptyStopped, limitNS, woken), want: counts{1, 0, 0, 0, 0}},
	{rule: "S2", name: "started late", build: func(t *trace) { emptyStopped(t); t.second(6); woken(t) }, want: counts{0, 0, 1, 0, 0}},
	{rule: "S2", name: "the device changed", build: func(t *trace) { emptyStopped(t); changed(t); t.second(6) }},
	{rule: "S2", name: "the watchdog gives it up", build: after(emptyStopped, shortest, gaveUp), want: counts{0, 0, 1, 0, 0}},
	{rule: "S2", name: "the watchdog, of what came before", build: after(emptyStopped, shortest-1, gaveUp)},
	{rule: "S2", name: "the watchdog gives another queue up", build: func(t *trace) { emptyStopped(t); t.second(1); t.txq = 1; gaveUp(t) }},
	{rule: "S2", name: "started, and then given up", build: func(t *trace) { emptyStopped(t); woken(t); t.second(1); gaveUp(t) }, want: counts{1, 0, 0, 0, 0}},
	{rule: "S2", name: "the watchdog, and something was lost", build: func(t *trace) { quietly(emptyStopped)(t); t.second(1); gaveUp(t) }, lose: loseLedger, want: counts{0, 0, 0, 0, 1}, reason: analysis.Lost},
	{rule: "S2", name: "stopped with some in flight", build: func(t *trace) {
		t.alone(284, sent{n: 2, stop: event.DrvXoff})
		t.complete(142)
		t.second(6)
	}},

	{rule: "L1", name: "in time", build: after(inFlight, limitNS, completeAll), want: counts{2, 0, 0, 0, 0}},
	{rule: "L1", name: "late", build: after(inFlight, limitNS+1, completeAll), want: counts{1, 0, 1, 0, 0}},
	{rule: "L1", name: "late, and noticed by another", build: func(t *trace) {
		inFlight(t)
		t.second(6)
		t.complete(t.dql.InFlight()).Source = event.SourceSnapshot
	}, want: counts{1, 0, 0, 0, 1}, reason: "it was noticed later"},
	{rule: "L1", name: "not at all", build: func(t *trace) { inFlight(t); t.second(6) }, want: counts{1, 0, 1, 0, 0}},
	{rule: "L1", name: "behind others", build: func(t *trace) {
		inFlight(t)
		t.second(6)
		t.alone(142, sent{n: 1})
		t.complete(142)
	}, want: counts{1, 0, 1, 0, 0}},
	{rule: "L1", name: "the recording ended", build: func(t *trace) { inFlight(t); t.second(4) }, want: counts{1, 0, 0, 0, 0}},
	{rule: "L1", name: "the device changed", build: func(t *trace) { inFlight(t); changed(t); t.second(6) }, want: counts{1, 0, 0, 0, 0}},
	{rule: "L1", name: "completes when it sends", build: func(t *trace) {
		inFlight(t)
		last[event.Complete](t, 0).Source = event.SourceXmit
		t.second(6)
	}},
	{rule: "L1", name: "late, and something was lost", build: func(t *trace) { inFlight(t); quietly(stay)(t); t.second(6); completeAll(t) }, lose: loseLedger, want: counts{1, 0, 0, 0, 0}},
	{rule: "L1", name: "not at all, and something was lost", build: func(t *trace) { inFlight(t); quietly(stay)(t); t.second(6) }, lose: loseLedger, want: counts{1, 0, 0, 0, 1}, reason: analysis.Lost},

	{rule: "L3", name: "as soon", build: func(t *trace) { t.bursts(9, 20_000) }, want: counts{1, 0, 0, 0, 0}},
	{rule: "L3", name: "half a millisecond", build: func(t *trace) { t.bursts(9, littleL3) }, want: counts{1, 0, 0, 0, 0}},
	{rule: "L3", name: "a millisecond", build: func(t *trace) { t.bursts(9, 1_000_000) }, want: counts{0, 0, 1, 0, 0}},
	{rule: "L3", name: "a millisecond, and something was lost", build: func(t *trace) { t.bursts(9, 1_000_000); quietly(stay)(t); t.bursts(9, 1_000_000) }, lose: loseLedger, want: counts{0, 0, 0, 0, 1}, reason: analysis.Lost},
	{rule: "L3", name: "all alone", build: func(t *trace) {
		for range 2 * enoughL3 {
			t.alone(1514, sent{n: 1})
			t.tick(1_000_000)
			completeAll(t)
		}
	}},

	{rule: "N4", name: "soon after", build: deactivated(true, true, 1000), want: counts{2, 0, 0, 0, 0}},
	{rule: "N4", name: "long after", build: deactivated(true, true, limitNS+1), want: counts{1, 0, 1, 0, 0}},
	{rule: "N4", name: "active again, and not", build: deactivated(false, true, limitNS+1), want: counts{1, 0, 0, 0, 0}},
	{rule: "N4", name: "active", build: one},

	{rule: "N6", name: "one after the other", build: overlapped(0, asIs), want: counts{1, 0, 0, 0, 0}},
	{rule: "N6", name: "within the clocks' error", build: overlapped(clockError, asIs), want: counts{0, 0, 0, 0, 1}, reason: analysis.Race},
	{rule: "N6", name: "beyond it", build: overlapped(clockError+1, asIs), want: counts{0, 1, 0, 0, 0}},
	{rule: "N6", name: "another qdisc", build: overlapped(clockError+1, func(r *event.Run) { r.Qdisc ^= 8 })},
	{rule: "N6", name: "one CPU", build: func(t *trace) { one(t); one(t) }},

	{rule: "N7", name: "run again", build: func(t *trace) { spent(10)(t); one(t) }, want: counts{1, 0, 0, 0, 0}},
	{rule: "N7", name: "not run again", build: func(t *trace) { spent(10)(t); t.second(6) }, want: counts{0, 0, 1, 0, 0}},
	{rule: "N7", name: "empty", build: func(t *trace) { spent(0)(t); t.second(6) }},
	{rule: "N7", name: "stopped", build: func(t *trace) { batch(65, 10, sent{stop: event.DrvXoff}, nil)(t); t.second(6) }},
	{rule: "N7", name: "a qdisc that may hold packets back", build: func(t *trace) { t.kind = "fq"; spent(10)(t); t.second(6) }},

	{rule: "T4", name: "met at once", build: func(t *trace) { t.throttle().TSQEnd |= event.TSQQueued; t.second(6) }},
	{rule: "T4", name: "resumed", build: func(t *trace) { t.throttle(); t.resume() }, want: counts{1, 0, 0, 0, 0}},
	{rule: "T4", name: "another socket was freed", build: func(t *trace) { t.throttle(); t.wfree().Sock ^= 8; t.second(6) }, want: counts{0, 0, 0, 0, 1}, reason: "it may be closed: the end of a socket has no record"},
	{rule: "T4", name: "late", build: func(t *trace) { t.throttle(); t.second(6); t.resume() }, want: counts{0, 0, 1, 0, 0}},
	{rule: "T6", name: "resumed", build: func(t *trace) { t.wfree(); t.resume() }, want: counts{1, 0, 0, 0, 0}},
	{rule: "T6", name: "left throttled", build: func(t *trace) { t.wfree().TSQEnd = event.TSQThrottled; t.second(6) }},

	{rule: "M5", name: "without a number", build: func(t *trace) { t.receiving(); numbered(t, 0) }},
	{rule: "M5", name: "the first that is no CPU's", build: func(t *trace) { t.receiving(); numbered(t, 3) }, want: counts{1, 0, 0, 0, 0}},
	{rule: "M5", name: "the number of CPUs is not known", build: func(t *trace) {
		t.header.Kernel.PossibleCPUs = 0
		t.receiving()
		numbered(t, 3)
	}, want: counts{0, 0, 0, 0, 1}, reason: "the number of CPUs is not known"},
}

// numbered gives the first list's NAPI a number, and those of others none.
func numbered(t *trace, id uint32) {
	for _, r := range t.recs {
		if g, ok := r.(*event.GRO); ok {
			g.NapiID, id = id, 0
		}
	}
}
