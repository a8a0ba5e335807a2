// SPDX-License-Identifier: Apache-2.0

package rules

import (
	"testing"

	"github.com/txtrace/txtrace/internal/analysis"
	"github.com/txtrace/txtrace/internal/event"
)

// look adds a look at the current queue, whose device is up.
func (t *trace) look(s event.Sample) *event.Sample {
	r := &s
	r.Jiffies, r.TxqState, r.Device = t.jiffies, t.state, event.DeviceStart|event.DevicePresent
	r.NumQueued, r.NumCompl, r.AdjLimit = t.dql.NumQueued, t.dql.NumCompleted, t.dql.AdjLimit
	t.put(r, 0)
	return r
}

// looked is what the rules of looks judge: bytes that are completed, and
// packets of a lockless qdisc that is scheduled, on a device of its own.
func (t *trace) looked() {
	was := *t
	t.ifindex, t.txq, t.state, t.qlen, t.parked = 8, 0, 0, 0, nil
	t.dql.NumQueued, t.dql.NumCompleted = 80_000, 80_000
	t.dql.AdjLimit = t.dql.NumCompleted + t.dql.Limit
	t.bypass(142, sent{})
	t.complete(t.dql.InFlight())
	t.bypass(1514, sent{})
	t.look(event.Sample{})
	t.complete(t.dql.InFlight())
	t.look(left(event.QdiscStateSched))
	t.list3()
	t.back(was)
}

// list3 sends three packets in a list, and each has a record.
func (t *trace) list3() {
	r := t.run()
	r.dequeue(3, 142, 0)
	first := len(t.recs)
	_, h := r.send(sent{})
	d := t.recs[first].(*event.Direct)
	t.recs = t.recs[:first]
	t.seq[t.cpu] -= 1
	for i := range uint32(3) {
		p := &event.Packet{
			Skb: h.First + uint64(i)*2, Len: 142, Segs: 1, JiffiesBegin: t.jiffies, JiffiesEnd: t.jiffies, TransStart: t.jiffies,
			NumQueuedBegin: h.NumQueuedBegin + i*142, NumQueuedEnd: h.NumQueuedBegin + (i+1)*142,
		}
		if i < 2 {
			p.More = 1
		}
		t.put(p, t.now)
		p.Parent = d.ID()
	}
	begin := d.Begin()
	t.put(d, begin)
	r.end()
	t.complete(t.dql.InFlight())
}

// unreported is a packet that was charged and is never reported. lose leaves out
// that it was freed, or more.
func unreported(lose func(t *trace, p *event.Packet)) func(*trace) {
	return alive(func(t *trace) {
		t.freeAll(t.three("pfifo", 0, unchanged))
		lose(t, t.given(0))
		for range 7 {
			t.look(event.Sample{})
			t.second(1)
		}
	})
}

func freed(t *trace, p *event.Packet) { t.free(p) }

// freedUnreported are the cases of B2 in which packets are followed.
var freedUnreported = []judged{
	{rule: "B2", name: "freed", build: unreported(freed), want: counts{0, 1, 0, 0, 0}},
	{rule: "B2", name: "freed in the call, maybe after a copy", build: unreported(func(_ *trace, p *event.Packet) { p.Life |= event.LifeFreed }), want: counts{0, 0, 1, 0, 0}},
	{rule: "B2", name: "freed before the call ended", build: unreported(func(t *trace, p *event.Packet) {
		f := t.free(p)
		f.Time, p.Time = p.Time, f.Time
		n := len(t.recs)
		t.recs[n-1], t.recs[n-2] = p, f
		f.Seq, p.Seq = p.Seq, f.Seq
	}), want: counts{0, 1, 0, 0, 0}},
	{rule: "B2", name: "freed as it is looked at", build: alive(func(t *trace) {
		t.freeAll(t.three("pfifo", 0, unchanged))
		p := t.given(0)
		for range 5 {
			t.look(event.Sample{})
			t.second(1)
		}
		t.cpu = 1
		t.free(p)
		t.cpu = 0
		t.look(event.Sample{})
		t.cpu = 1
		t.complete(142)
		t.cpu = 0
	}), want: counts{0, 0, 1, 0, 0}},
	{rule: "B2", name: "not freed", build: unreported(func(*trace, *event.Packet) {}), want: counts{0, 0, 1, 0, 0}},
	{rule: "B2", name: "freed, of several users", build: unreported(func(t *trace, p *event.Packet) { p.Life |= event.LifeShared; t.free(p) }), want: counts{0, 0, 1, 0, 0}},
	{rule: "B2", name: "freed, not seen sent", build: unreported(func(t *trace, p *event.Packet) { p.Turn = 0; t.free(p) }), want: counts{0, 0, 1, 0, 0}},
	{rule: "B2", name: "freed, others charged later", build: unreported(func(t *trace, p *event.Packet) { t.free(p); t.dql.NumQueued++ }), want: counts{0, 0, 1, 0, 0}},
	{rule: "B2", name: "freed, others in flight before", build: unreported(func(t *trace, p *event.Packet) {
		p.NumQueuedBegin++
		p.NumQueuedEnd++
		t.dql.NumQueued++
		t.free(p)
	}), want: counts{0, 0, 1, 0, 0}},
	{rule: "B2", name: "freed, and another free is lost", build: unreported(freed), lose: func(r event.Any) bool {
		f, ok := r.(*event.Free)
		return ok && f.Turn == 2
	}, want: counts{0, 0, 1, 0, 0}},
	{rule: "B2", name: "freed, and something was lost", build: unreported(func(t *trace, p *event.Packet) { t.free(p); t.put(&event.Quiet{Packets: 1, Bytes: 142}, 0) }), lose: loseLedger, want: counts{0, 0, 0, 0, 1}, reason: analysis.Lost},
}

// left is a lockless qdisc with a packet in it that nobody has.
func left(state uint8) event.Sample {
	return event.Sample{Qdisc: 0x77, First: 0x1234, Dequeued: 3, QdiscFlags: event.QdiscNoLock | event.QdiscCPUStats, Qlen: 1, QdiscState: state}
}

func init() {
	spoils["B2"] = []spoiled{{spoil: apart(func(t *trace) { // bytes that stay
		t.bypass(142, sent{})
		t.complete(t.dql.InFlight())
		t.bypass(1514, sent{})
		for range 7 {
			t.look(event.Sample{})
			t.second(1)
		}
	}), suspect: true, also: []string{"L1"}}, {spoil: unreported(freed)}}
	stuck := func(s event.Sample) func(*trace) {
		return apart(func(t *trace) {
			for range 7 {
				t.look(s)
				t.second(1)
			}
		})
	}
	spoils["W3"] = []spoiled{
		{spoil: func(t *trace) { first[event.Packet](t).TransStart-- }},
		{spoil: func(t *trace) { first[event.Packet](t).TransStart++ }},
	}
	spoils["X1"] = append(spoils["X1"], spoiled{spoil: func(t *trace) { first[event.Packet](t).More = 0 }})
	for _, spoil := range []func(*event.Packet){
		func(p *event.Packet) { p.Skb++ }, func(p *event.Packet) { p.Ifindex++ }, func(p *event.Packet) { p.JiffiesBegin++ },
		func(p *event.Packet) { p.Segs = 0 }, func(p *event.Packet) { p.Len++ }, func(p *event.Packet) { p.RC = 16 },
		func(p *event.Packet) { p.NumQueuedEnd++ },
	} {
		spoils["M11"] = append(spoils["M11"], spoiled{spoil: func(t *trace) { spoil(first[event.Packet](t)) }})
	}
	for _, spoil := range []func(*trace){
		func(t *trace) { first[event.Pick](t).Txq++ },
		func(t *trace) { first[event.Pick](t).StampEnd = 1 },
		func(t *trace) { first[event.Picks](t).Hashed = 1000 },
		func(t *trace) { first[event.GRO](t).Held = event.HeldUnknown },
		func(t *trace) { first[event.GRO](t).LastSegs = 0 },
		func(t *trace) { first[event.Wfree](t).TSQBegin = 0 },
		func(t *trace) { first[event.Throttle](t).TSQEnd = 0 },
		func(t *trace) { first[event.Dequeue](t).Pid++ },
		func(t *trace) { first[event.Dequeue](t).Txq++ },
		func(t *trace) {
			where(t, func(d *event.Direct) bool { return d.From == event.FromDequeue && d.Handovers > 0 }).Handovers = 0
		},
		func(t *trace) {
			where(t, func(d *event.Direct) bool { return d.Handovers > 0 && d.Hand.Attempts > 0 }).Hand.Attempts = 0
		},
	} {
		spoils["M11"] = append(spoils["M11"], spoiled{spoil: spoil})
	}
	unknown := left(0)
	unknown.First = 0
	spoils["N1"] = []spoiled{{spoil: stuck(left(0))}, {spoil: stuck(unknown), suspect: true}}
}

// What explains that nothing moves makes no accusation, and neither does time
// that is too short.
func TestLooks(t *testing.T) {
	play := func(n int, change func(i int, s *event.Sample)) func(*trace) {
		return apart(func(t *trace) {
			t.bypass(142, sent{})
			t.complete(t.dql.InFlight())
			t.bypass(1514, sent{})
			for i := range n {
				change(i, t.look(left(0)))
				t.second(1)
			}
		})
	}
	for name, c := range map[string]struct {
		n      int
		change func(i int, s *event.Sample)
		b2, n1 analysis.Verdict
	}{
		"stuck":       {7, func(int, *event.Sample) {}, analysis.VerdictSuspect, analysis.VerdictFail},
		"not long":    {5, func(int, *event.Sample) {}, analysis.VerdictPass, analysis.VerdictPass},
		"torn":        {7, func(_ int, s *event.Sample) { s.Flags = event.FlagTorn }, analysis.VerdictPass, analysis.VerdictPass},
		"no carrier":  {7, func(_ int, s *event.Sample) { s.Device |= event.DeviceNoCarrier }, analysis.VerdictPass, analysis.VerdictPass},
		"down":        {7, func(_ int, s *event.Sample) { s.Device = event.DevicePresent }, analysis.VerdictPass, analysis.VerdictPass},
		"stopped":     {7, func(_ int, s *event.Sample) { s.TxqState = event.DrvXoff }, analysis.VerdictSuspect, analysis.VerdictPass},
		"completed":   {7, func(i int, s *event.Sample) { s.NumCompl += uint32(i) }, analysis.VerdictPass, analysis.VerdictFail},
		"reset":       {7, func(i int, s *event.Sample) { s.NumQueued -= uint32(i / 4 * 9000) }, analysis.VerdictPass, analysis.VerdictFail},
		"run":         {7, func(i int, s *event.Sample) { s.Held = uint8(i / 4 * event.HeldRun) }, analysis.VerdictSuspect, analysis.VerdictPass},
		"unknown":     {7, func(_ int, s *event.Sample) { s.Held = event.HeldByWhom }, analysis.VerdictSuspect, analysis.VerdictPass},
		"missed":      {7, func(_ int, s *event.Sample) { s.QdiscState = event.QdiscStateMissed }, analysis.VerdictSuspect, analysis.VerdictPass},
		"deactivated": {7, func(_ int, s *event.Sample) { s.QdiscState = event.QdiscStateDeactivated }, analysis.VerdictSuspect, analysis.VerdictPass},
		"dequeued":    {7, func(i int, s *event.Sample) { s.Dequeued += uint64(i) }, analysis.VerdictSuspect, analysis.VerdictPass},
		"put back":    {7, func(i int, s *event.Sample) { s.Requeues += uint32(i) }, analysis.VerdictSuspect, analysis.VerdictPass},
		"exchanged":   {7, func(i int, s *event.Sample) { s.Qdisc += uint64(i / 4) }, analysis.VerdictSuspect, analysis.VerdictPass},
		"empty":       {7, func(_ int, s *event.Sample) { s.Qlen = 0 }, analysis.VerdictSuspect, analysis.VerdictPass},
		"with a lock": {7, func(_ int, s *event.Sample) { s.QdiscFlags = 0 }, analysis.VerdictSuspect, analysis.VerdictPass},
		"not counted": {7, func(_ int, s *event.Sample) { s.Dequeued = event.DequeuedUnknown }, analysis.VerdictSuspect, analysis.VerdictPass},
	} {
		tr := legal()
		play(c.n, c.change)(tr)
		res := tr.analyze(t, "latest", nil)
		for id, want := range map[string]analysis.Verdict{"B2": c.b2, "N1": c.n1} {
			if r := ruling(t, res, id); r.Verdict != want {
				t.Errorf("%s: %s is %s, want %s: %+v", name, id, r.Verdict, want, r.Evidence)
			}
		}
	}
}
