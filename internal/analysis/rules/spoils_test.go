// SPDX-License-Identifier: Apache-2.0

package rules

import (
	"maps"

	"github.com/txtrace/txtrace/internal/event"
)

func init() { maps.Copy(spoils, moreSpoils) }

// apart plays on a device of its own.
func apart(build func(*trace)) func(*trace) {
	return func(t *trace) {
		was := *t
		t.ifindex, t.txq, t.state, t.qlen, t.parked = 6, 0, 0, 0, nil
		t.dql.NumQueued, t.dql.NumCompleted = 150_000, 150_000
		t.dql.AdjLimit = t.dql.NumCompleted + t.dql.Limit
		t.second(3)
		build(t)
		t.back(was)
	}
}

// moreSpoils are those of the rules of liveness and of what follows from
// single records.
var moreSpoils = map[string][]spoiled{
	"M4": {
		{spoil: func(t *trace) { t.header.Programs[0].Hook = "fentry:__qdisc_run.isra.0" }},
		{spoil: func(t *trace) { t.header.Programs = append(t.header.Programs, t.header.Programs[0]) }},
	},
	"M5": {{spoil: func(t *trace) { first[event.GRO](t).NapiID = 2 }}},
	"D6": {
		{spoil: func(t *trace) { where(t, func(d *event.Dequeue) bool { return d.GsoQlen == 3 }).Qlen = 2 }},
		{spoil: func(t *trace) { where(t, func(r *event.Run) bool { return r.GsoQlenEnd == 12 }).QlenEnd = 11 }},
	},
	"D8": {
		{spoil: func(t *trace) { first[event.Dequeue](t).PktLen-- }, suspect: true},
		{spoil: func(t *trace) {
			d := where(t, func(d *event.Direct) bool { return d.From == event.FromBypass })
			d.PktLen--
		}, suspect: true},
	},
	"D10": {{spoil: func(t *trace) {
		r, d := first[event.Run](t), first[event.Dequeue](t)
		r.TxqStateBegin, d.TxqState = event.StackXoff, event.StackXoff
	}, suspect: true}},
	"X2": {{spoil: func(t *trace) {
		where(t, func(d *event.Direct) bool { return d.From == event.FromBypass }).Hand.More = 1
	}, also: []string{"X1"}}},
	"V1": {
		{spoil: func(t *trace) { // 39 segments were promised, 40 came
			where(t, func(q *event.Dequeue) bool { return q.Bytes == 40*1514 }).GsoSegs = 39
		}, suspect: true},
		{spoil: func(t *trace) { where(t, func(d *event.Direct) bool { return d.GsoSegs == 40 }).Hand.Bytes += 161 }, suspect: true, also: []string{"B8"}},
	},
	"R4": {{spoil: func(t *trace) {
		r := last[event.Run](t, 0)
		r.QdiscKind = [16]byte{}
		copy(r.QdiscKind[:], "noqueue")
	}}},
	"B3": {{spoil: func(t *trace) { hand(t, anyHand).TxqStateBegin = event.StackXoff }, also: []string{"R1"}}},
	"B5": {{spoil: apart(func(t *trace) {
		t.snapshot()
		t.burst(sent{n: 20})
		t.watchdog()
	}), suspect: true}},
	"B7": {{spoil: func(t *trace) {
		h := hand(t, func(h *event.Hand) bool { return h.NumQueuedBegin > 0 })
		h.NumComplBegin = h.NumQueuedBegin + 1
	}}},
	"B9": {{spoil: func(t *trace) { t.purged(12, false) }, suspect: true}},
	"B10": {
		{spoil: apart(func(t *trace) { // nothing for six seconds, and then it goes on
			t.alone(90_000_000, sent{n: 1})
			t.second(6)
			t.complete(t.dql.InFlight())
		}), suspect: true, also: []string{"L1"}},
		{spoil: apart(func(t *trace) { // nothing any more
			t.alone(90_000_000, sent{n: 1})
			t.second(6)
		}), suspect: true},
	},
	"B12": {{spoil: func(t *trace) {
		const much = 1 << 28
		h := last[event.Handover](t, 0)
		more := much - h.Charged
		h.Bytes, h.Charged, h.NumQueuedEnd, h.TxqStateEnd = much, much, h.NumQueuedEnd+more, event.StackXoff
	}}},
	"B17": {{spoil: apart(func(t *trace) {
		r := t.run()
		r.dequeue(1, uint32(t.dql.Avail())+1000, 5)
		r.send(sent{})
		r.end()
		t.complete(t.dql.InFlight())
		t.second(6)
		r = t.run()
		r.dequeue(5, 142, 0)
		r.send(sent{})
		r.end()
	}), suspect: true}},
	"X3": {{spoil: apart(func(t *trace) {
		t.burst(sent{n: 20})
		last[event.Direct](t, 0).Hand.Uncharged = 1
		t.second(6)
		t.complete(t.dql.InFlight())
	}), suspect: true, also: []string{"L1"}}},
	"X4": {{spoil: apart(func(t *trace) {
		t.alone(20*142, sent{n: 20, rest: 8, stop: event.DrvXoff})
		t.second(6)
		t.complete(t.dql.InFlight())
	}), suspect: true, also: []string{"L1"}}},
	"X7": {{spoil: apart(func(t *trace) { // only the next hand-over rings
		h := t.alone(20*142, sent{n: 20, rest: 8, busy: true})
		h.OwedAny, h.OwedDrv = 0, 0
		t.second(6)
		t.alone(142, sent{n: 1})
		t.complete(t.dql.InFlight())
	}), suspect: true, also: []string{"L1"}}},
	"L1": {
		{spoil: apart(func(t *trace) {
			t.bypass(142, sent{})
			t.complete(t.dql.InFlight())
			t.bypass(142, sent{})
			t.second(6)
			t.complete(t.dql.InFlight())
		}), suspect: true},
		{spoil: apart(func(t *trace) {
			t.bypass(142, sent{})
			t.complete(t.dql.InFlight())
			t.bypass(142, sent{})
			t.second(6)
		}), suspect: true},
	},
	"L3": {{spoil: func(t *trace) { t.bursts(10, 1_000_000) }, suspect: true}},
	"W1": {{spoil: apart(func(t *trace) {
		t.alone(142, sent{n: 1})
		t.put(&event.Notice{Subtype: event.NoticeWatchdog}, 0)
	}), suspect: true}},
	"W2": {{spoil: apart(func(t *trace) {
		t.alone(142, sent{n: 1})
		t.second(1)
		t.complete(t.dql.InFlight())
		t.put(&event.Notice{Subtype: event.NoticeWatchdog}, 0)
	}), suspect: true}},
	"S2": {
		{spoil: apart(func(t *trace) { emptyStopped(t); t.second(6) }), suspect: true},
		{spoil: apart(func(t *trace) { emptyStopped(t); t.second(4); gaveUp(t) }), suspect: true, also: []string{"W2"}},
	},
	"N4": {{spoil: apart(func(t *trace) {
		for range 2 {
			t.second(6)
			r := t.run()
			r.dequeue(1, 142, 0)
			r.send(sent{})
			r.end()
			last[event.Run](t, 0).QdiscStateBegin = event.QdiscStateDeactivated
		}
	}), suspect: true}},
	"N6": {{spoil: apart(func(t *trace) {
		var runs [2]*runB
		for cpu := range runs {
			t.cpu = uint16(cpu)
			runs[cpu] = t.run()
			runs[cpu].dequeue(1, 142, 0)
			runs[cpu].send(sent{})
		}
		t.tick(100_000)
		for cpu, r := range runs {
			t.cpu = uint16(cpu)
			r.end()
		}
		t.cpu = 0
	})}},
	"N7": {{spoil: apart(func(t *trace) {
		r := t.run()
		r.dequeue(65, 142, 10)
		r.send(sent{})
		r.end()
		t.second(6)
	}), suspect: true}},
	"T4": {{spoil: func(t *trace) {
		t.throttle()
		t.second(6)
		t.wfree()
		t.resume()
	}, suspect: true}},
	"T6": {{spoil: func(t *trace) {
		t.throttle()
		t.wfree()
		t.second(6)
	}, suspect: true}},
}
