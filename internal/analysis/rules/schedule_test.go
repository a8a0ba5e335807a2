// SPDX-License-Identifier: Apache-2.0

package rules

import (
	"testing"

	"github.com/txtrace/txtrace/internal/analysis"
	"github.com/txtrace/txtrace/internal/capture"
	"github.com/txtrace/txtrace/internal/event"
)

// putOnList puts the current queue's qdisc on the list of the current CPU.
func (t *trace) putOnList(inAction uint8) *event.Schedule {
	s := &event.Schedule{Qdisc: 0xabc0, QdiscFlags: t.qflags, Waiting: 1, QdiscState: event.QdiscStateSched, TxqState: t.state, InAction: inAction}
	t.put(s, 0)
	return s
}

// served lets net_tx_action take the list of the current CPU.
func (t *trace) served() {
	s := &event.Schedule{What: event.ScheduleServed, Waiting: 1}
	t.put(s, 0)
	s.Ifindex, s.Netns, s.Txq = 0, 0, event.NoQueue
}

// emptied resets the qdisc for so many ns.
func (t *trace) emptied(ns uint64) {
	begin := t.now
	t.tick(ns)
	t.put(&event.Schedule{What: event.ScheduleReset, Qdisc: 0xabc0, QdiscFlags: t.qflags}, begin)
}

// delivered is a list of packets whose flows had others go up before.
func (t *trace) delivered(followed, overtaken uint32) *event.Delivery {
	t.tick(100)
	d := &event.Delivery{NAPI: 0x77, Skbs: followed + overtaken + 1, Passed: followed + overtaken + 1, Followed: followed, Overtaken: overtaken}
	if overtaken > 0 {
		d.Early, d.Late = t.now-9000, t.now-2000
	}
	t.put(d, t.now-50)
	d.Txq = event.NoQueue
	return d
}

// idle comes n times to the qdisc of a stopped queue, and lists it again.
func idle(n int) func(*trace) {
	return func(t *trace) {
		t.state = event.StackXoff
		for range n {
			t.putOnList(1)
			t.served()
		}
	}
}

// scheduling is what a right kernel does with a lockless qdisc, and a stall
// while the device has no link, on a device of its own.
func (t *trace) scheduling() {
	was := *t
	t.ifindex, t.txq, t.state, t.qlen = 13, 0, 0, 0
	t.qflags |= event.QdiscNoLock
	t.putOnList(0)
	t.served()
	idle(2)(t)
	t.state = 0
	t.emptied(20_000)
	t.stalled(20, 0, deviceUp|event.DeviceNoCarrier)
	t.back(was)
}

// stalled tells of a queue that completed nothing for so many jiffies.
func (t *trace) stalled(jiffies uint64, queue, device uint8) {
	n := &event.Notice{Subtype: event.NoticeStall, Before: jiffies, After: 5 | uint64(queue)<<32 | uint64(device)<<40}
	t.put(n, 0)
}

const deviceUp = event.DeviceStart | event.DevicePresent

// taken is a batch of another CPU that falls into a reset, so long after that
// began and before that ends.
func taken(after, before uint64) func(*trace) {
	return func(t *trace) {
		t.qflags |= event.QdiscNoLock
		t.emptied(after + before)
		s := last[event.Schedule](t, 0)
		t.cpu = 1
		r := t.run()
		q := r.dequeue(1, 142, 0)
		r.send(sent{})
		r.end()
		t.cpu = 0
		s.Time, s.Dur = q.Time+before, uint32(after+before)
		t.tick(after + before)
	}
}

func init() {
	spoils["L2"] = []spoiled{{spoil: apart(func(t *trace) { t.putOnList(0); t.second(6); t.served() }), suspect: true}, {spoil: apart(func(t *trace) { t.putOnList(0); t.second(6) }), suspect: true}}
	spoils["N3"] = []spoiled{{spoil: apart(idle(maxIdleRuns + 1)), suspect: true}}
	spoils["N5"] = []spoiled{{spoil: apart(taken(100_000, 100_000))}}
	spoils["B14"] = []spoiled{{spoil: func(t *trace) { t.stalled(20, 0, deviceUp) }, suspect: true}}
	spoils["G3"] = []spoiled{{spoil: func(t *trace) { t.delivered(1, 1) }}}
	spoils["G4"] = []spoiled{{spoil: func(t *trace) { last[event.Delivery](t, 0).Passed++; last[event.Delivery](t, 0).Skbs-- }}}
	cases = append(cases, scheduleCases...)
}

var scheduleCases = []judged{
	{rule: "L2", name: "at once", build: func(t *trace) { t.putOnList(0); t.putOnList(0); t.served() }, want: counts{1, 0, 0, 0, 0}},
	{rule: "L2", name: "in time", build: after(func(t *trace) { t.putOnList(0) }, limitNS, (*trace).served), want: counts{1, 0, 0, 0, 0}},
	{rule: "L2", name: "late", build: after(func(t *trace) { t.putOnList(0) }, limitNS+1, (*trace).served), want: counts{0, 0, 1, 0, 0}},
	{rule: "L2", name: "another CPU", build: func(t *trace) { t.putOnList(0); t.cpu = 1; t.served(); t.second(6) }, want: counts{0, 0, 1, 0, 0}},
	{rule: "L2", name: "the recording ended", build: func(t *trace) { t.putOnList(0); t.second(4) }},
	{rule: "L2", name: "not at all, and something was lost", build: func(t *trace) { t.putOnList(0); quietly(stay)(t); t.second(6) }, lose: loseLedger, want: counts{0, 0, 0, 0, 1}, reason: analysis.Lost},

	{rule: "N3", name: "as often as may be", build: idle(maxIdleRuns), want: counts{1, 0, 0, 0, 0}},
	{rule: "N3", name: "once more", build: idle(maxIdleRuns + 1), want: counts{0, 0, 1, 0, 0}},
	{rule: "N3", name: "again and again, and then it gave something", build: func(t *trace) {
		idle(maxIdleRuns)(t)
		t.state = 0
		one(t)
		idle(maxIdleRuns)(t)
	}, want: counts{2, 0, 0, 0, 0}},
	{rule: "N3", name: "again and again, and then it was started", build: func(t *trace) {
		idle(maxIdleRuns)(t)
		t.state = 0
		t.putOnList(0)
		idle(maxIdleRuns)(t)
	}, want: counts{2, 0, 0, 0, 0}},
	{rule: "N3", name: "by others", build: func(t *trace) {
		t.state = event.StackXoff
		for range maxIdleRuns + 1 {
			t.putOnList(0)
		}
	}},
	{rule: "N3", name: "once more, and something was lost", build: func(t *trace) { idle(maxIdleRuns)(t); quietly(stay)(t); idle(1)(t) }, lose: loseLedger, want: counts{0, 0, 0, 0, 1}, reason: analysis.Lost},

	{rule: "N5", name: "before", build: func(t *trace) { t.qflags |= event.QdiscNoLock; one(t); t.emptied(200_000) }, want: counts{1, 0, 0, 0, 0}},
	{rule: "N5", name: "within", build: taken(clockError+1, clockError+1), want: counts{0, 1, 0, 0, 0}},
	{rule: "N5", name: "by the clocks' error after it began", build: taken(clockError, clockError+1), want: counts{0, 0, 0, 0, 1}, reason: analysis.Race},
	{rule: "N5", name: "by the clocks' error before it ended", build: taken(clockError+1, clockError), want: counts{0, 0, 0, 0, 1}, reason: analysis.Race},
	{rule: "N5", name: "with a lock", build: func(t *trace) {
		taken(100_000, 100_000)(t)
		for _, r := range t.recs {
			if d, ok := r.(*event.Dequeue); ok {
				d.QdiscFlags &^= event.QdiscNoLock
			}
		}
	}, want: counts{1, 0, 0, 0, 0}},
	{rule: "N5", name: "another qdisc", build: func(t *trace) { taken(100_000, 100_000)(t); last[event.Schedule](t, 0).Qdisc ^= 8 }, want: counts{1, 0, 0, 0, 0}},

	{rule: "B14", name: "while it could send", build: func(t *trace) { t.stalled(20, event.StackXoff, deviceUp) }, want: counts{0, 0, 1, 0, 0}},
	{rule: "B14", name: "without a link", build: func(t *trace) { t.stalled(20, 0, deviceUp|event.DeviceNoCarrier) }, want: counts{0, 0, 0, 1, 0}},
	{rule: "B14", name: "stopped by its driver", build: func(t *trace) { t.stalled(20, event.DrvXoff, deviceUp) }, want: counts{0, 0, 0, 1, 0}},
	{rule: "B14", name: "stopped by its driver in that time", build: func(t *trace) {
		t.alone(142, sent{n: 1, stop: event.DrvXoff})
		t.stalled(20, 0, deviceUp)
	}, want: counts{0, 0, 0, 1, 0}},
	{rule: "B14", name: "stopped by its driver before that time", build: func(t *trace) {
		t.alone(142, sent{n: 1, stop: event.DrvXoff})
		t.tick(21 * nsPerJiffy)
		t.stalled(20, 0, deviceUp)
	}, want: counts{0, 0, 1, 0, 0}},
	{rule: "B14", name: "the device changed, and that was told later", build: func(t *trace) { t.stalled(20, 0, deviceUp); changed(t) }, want: counts{0, 0, 0, 1, 0}},
	{rule: "B14", name: "the device changed long after", build: func(t *trace) { t.stalled(20, 0, deviceUp); t.second(6); changed(t) }, want: counts{0, 0, 1, 0, 0}},
	{rule: "B14", name: "without a clock", build: func(t *trace) { t.header.Kernel.HZ = 0; t.stalled(20, 0, deviceUp) }, want: counts{0, 0, 0, 0, 1}, reason: "the kernel's clock tick is not known"},

	{rule: "G3", name: "in order", build: func(t *trace) { t.delivered(3, 0) }, want: counts{3, 0, 0, 0, 0}},
	{rule: "G3", name: "overtaken", build: func(t *trace) { t.delivered(3, 2) }, want: counts{3, 2, 0, 0, 0}},
	{rule: "G3", name: "overtaken by more than a list has", build: func(t *trace) { t.delivered(0, 1).Overtaken = 1<<32 - 1 }, want: counts{0, maxUp, 0, 0, 0}},
	{rule: "G3", name: "GRO was switched", build: func(t *trace) { t.delivered(3, 2); t.second(4); changed(t) }, want: counts{3, 0, 0, 0, 2}, reason: analysis.Changed},
	{rule: "G3", name: "GRO was switched long after", build: func(t *trace) { t.delivered(3, 2); t.second(6); changed(t) }, want: counts{3, 2, 0, 0, 0}},
	{rule: "G4", name: "all of it", build: func(t *trace) { t.delivered(3, 0) }, want: counts{1, 0, 0, 0, 0}},
	{rule: "G4", name: "some given away", build: func(t *trace) { t.delivered(3, 0).Passed = 0 }, want: counts{1, 0, 0, 0, 0}},
	{rule: "G4", name: "one added", build: func(t *trace) { t.delivered(3, 0).Passed = 5 }, want: counts{0, 1, 0, 0, 0}},
}

// An arrival that was not seen leaves an older one of the same address, at a
// time that is not the end's.
func TestOvertakenWhileSkipped(t *testing.T) {
	for _, c := range []struct {
		missed uint64
		want   analysis.Verdict
	}{{0, analysis.VerdictFail}, {3, analysis.VerdictInconclusive}} {
		tr := newTrace()
		tr.header.Programs = append(tr.header.Programs, capture.Program{Name: "arrive", Hook: "fentry:napi_gro_receive"})
		tr.delivered(0, 1)
		tr.second(1)
		tr.own(&event.Ledger{Program: uint32(len(tr.header.Programs) - 1), Missed: c.missed})
		tr.second(9)
		if r := ruling(t, tr.analyze(t, "latest", nil), "G3"); r.Verdict != c.want {
			t.Errorf("%d skipped: %+v", c.missed, r)
		}
	}
}
