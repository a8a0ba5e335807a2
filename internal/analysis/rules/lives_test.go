// SPDX-License-Identifier: Apache-2.0

package rules

import (
	"github.com/txtrace/txtrace/internal/analysis"
	"github.com/txtrace/txtrace/internal/event"
)

// three sends three packets out of a qdisc of a kind, and gives their calls of
// the driver a life. They are the last records.
func (t *trace) three(kind string, flags uint32, change func(i uint32, p *event.Packet)) []*event.Packet {
	t.kind, t.qflags = kind, event.QdiscOneTxQueue|flags
	from := len(t.recs)
	t.list3()
	var all []*event.Packet
	for _, r := range t.recs[from:] {
		if p, ok := r.(*event.Packet); ok {
			i := uint32(len(all))
			t.turns++
			p.Turn, p.Order, p.Life = t.turns, t.turns, event.LifeFollowed
			if flags&event.QdiscNoLock != 0 {
				p.Order = 0
			}
			change(i, p)
			all = append(all, p)
		}
	}
	return all
}

func unchanged(uint32, *event.Packet) {}

// free ends the life of a call's skb.
func (t *trace) free(p *event.Packet) *event.Free {
	f := &event.Free{Skb: p.Skb, Turn: p.Turn, Sender: p.Sender, Tries: p.Tries + 1, TCP: 1}
	t.put(f, 0)
	return f
}

func (t *trace) freeAll(all []*event.Packet) {
	for _, p := range all {
		t.free(p)
	}
}

// enqueue puts the packet of the next turn into a lockless qdisc.
func (t *trace) enqueue() *event.Enqueue {
	t.turns++
	e := &event.Enqueue{Qdisc: 0xabc0, Skb: 0x5000, QdiscFlags: event.QdiscNoLock, Turn: t.turns}
	t.put(e, 0)
	return e
}

// life is a packet that a qdisc with a lock takes, that a driver refuses and then
// takes, and its end, on a queue of its own.
func (t *trace) life() (*event.Enqueue, *event.Packet, *event.Free) {
	txq := t.txq
	t.txq = 3
	defer func() { t.txq = txq }()
	e := t.enqueue()
	e.QdiscFlags, e.Order, e.Skb = event.QdiscOneTxQueue, 1, 0x7000
	t.turns--
	t.lone(0, 16).Order = 1
	t.turns--
	p := t.lone(0, 0)
	p.Order, p.Tries = 1, 1
	return e, p, t.free(p)
}

// lone is a call of a driver outside of any hand-over.
func (t *trace) lone(life uint8, rc int32) *event.Packet {
	t.turns++
	p := &event.Packet{Skb: 0x7000, Len: 142, Segs: 1, RC: rc, Turn: t.turns, Life: event.LifeFollowed | life}
	p.Flags = event.FlagUnlocked
	t.put(p, t.now)
	return p
}

// given is a call of the driver that charges its queue.
func (t *trace) given(life uint8) *event.Packet {
	p := t.lone(life, 0)
	p.Flags, p.NumQueuedBegin, p.NumQueuedEnd = 0, t.dql.NumQueued, t.dql.NumQueued+142
	t.dql.NumQueued += 142
	return p
}

// outlasted is a call that was under way while its packet ended, and those of
// others at its address, of which there is one more later.
func outlasted(life uint8, others int) func(*trace) {
	return alive(func(t *trace) {
		begin := t.now
		t.turns++
		p := &event.Packet{Skb: 0x7000, Len: 142, Segs: 1, Turn: t.turns, Life: event.LifeFollowed | life}
		p.NumQueuedBegin, p.NumQueuedEnd = t.dql.NumQueued, t.dql.NumQueued+142
		t.dql.NumQueued += 142
		t.tick(100)
		t.free(p)
		for range others {
			t.free(t.given(0))
		}
		t.put(p, begin)
		t.free(t.given(0))
		t.second(1)
	})
}

// transmit is a packet of 2304 bytes that TCP sends with 4608 below it, two of
// which it sent since it sent before, and got back what makes that so.
func (t *trace) transmit() *event.Transmit {
	e := &event.Transmit{
		Sock: 0x98, Birth: 6, PacingRate: 100 << 20, PacingShift: 10, Wmem: 4609, Truesize: 2304, LimitSysctl: 1 << 20,
		Before: 2305, Sent: 4608, Freed: 2304, Rtx: event.RtxMore, Sending: event.SendingHead | event.SendingSummed,
	}
	for _, r := range t.recs {
		if was, ok := r.(*event.Transmit); ok && was.Sock == e.Sock && was.Birth == e.Birth {
			e.Before, e.Freed = was.Wmem, was.Wmem+e.Sent-e.Wmem
		}
	}
	t.sock(e)
	return e
}

// alive plays on a device of its own, on which every byte is completed.
func alive(build func(*trace)) func(*trace) {
	return func(t *trace) {
		was := *t
		t.ifindex, t.txq, t.state, t.qlen, t.parked = 9, 0, 0, 0, nil
		t.dql.NumQueued, t.dql.NumCompleted = 90_000, 90_000
		t.dql.AdjLimit = t.dql.NumCompleted + t.dql.Limit
		build(t)
		t.back(was)
	}
}

// lives is what the rules of skbs judge.
func (t *trace) lives() {
	alive(func(t *trace) {
		t.freeAll(t.three("pfifo", 0, unchanged))
		t.skb -= 0x1000 // the addresses are used again
		t.freeAll(t.three("pfifo", 0, unchanged))
		t.freeAll(t.three("pfifo_fast", event.QdiscNoLock, unchanged))
		e := t.enqueue()
		t.put(&event.Free{Skb: e.Skb, Turn: e.Turn}, 0)
		t.life()
		t.lone(0, 16)
		t.lone(event.LifeDirect, 16)
		t.put(&event.Free{Skb: 0x9000, How: event.FreedBurst, Defer: 1001, Burst: 1000}, 0)
		t.transmit()
		t.transmit()
	})(t)
}

func init() {
	spoils["M6"] = []spoiled{{spoil: alive(func(t *trace) {
		t.three("pfifo", 0, unchanged)
		t.skb -= 0x1000
		t.freeAll(t.three("pfifo", 0, unchanged))
		t.second(1)
	})}}
	for _, change := range []func(e *event.Enqueue, p *event.Packet, f *event.Free){
		func(e *event.Enqueue, _ *event.Packet, _ *event.Free) { e.Skb ^= 0x40 },
		func(e *event.Enqueue, _ *event.Packet, _ *event.Free) { e.Order += 7 },
		func(_ *event.Enqueue, p *event.Packet, _ *event.Free) { p.Turn++ },
		func(_ *event.Enqueue, p *event.Packet, _ *event.Free) { p.Turn = 0 },
		func(_ *event.Enqueue, p *event.Packet, _ *event.Free) { p.Order += 100 },
		func(_ *event.Enqueue, _ *event.Packet, f *event.Free) { f.Tries = 4 },
		func(_ *event.Enqueue, _ *event.Packet, f *event.Free) { f.Tries = 1 },
		func(_ *event.Enqueue, p *event.Packet, _ *event.Free) { p.Life |= event.LifeFreed },
	} {
		spoils["M6"] = append(spoils["M6"], spoiled{spoil: alive(func(t *trace) { change(t.life()) })})
	}
	spoils["R2"] = []spoiled{
		{spoil: alive(func(t *trace) { t.lone(event.LifeFreed, 16) })},
		{spoil: alive(func(t *trace) { // taken, and given again
			t.three("pfifo", 0, unchanged)
			t.skb -= 0x1000
			t.turns -= 3
			t.freeAll(t.three("pfifo", 0, func(_ uint32, p *event.Packet) { p.Tries = 1 }))
		})},
	}
	spoils["R3"] = []spoiled{{spoil: alive(func(t *trace) { t.lone(event.LifeDirect|event.LifeFreed, 16) })}}
	spoils["O1"] = []spoiled{
		{spoil: alive(func(t *trace) {
			t.freeAll(t.three("pfifo", 0, func(i uint32, p *event.Packet) { p.Order = 10 - i }))
		})},
		{spoil: alive(func(t *trace) {
			t.freeAll(t.three("pfifo_fast", event.QdiscNoLock, func(i uint32, p *event.Packet) { p.Turn = 10 - i }))
		})},
	}
	spoils["N2"] = []spoiled{
		{spoil: alive(func(t *trace) { t.enqueue(); t.second(6) }), suspect: true},
		{spoil: alive(func(t *trace) {
			e := t.enqueue()
			t.second(6)
			t.put(&event.Free{Skb: e.Skb, Turn: e.Turn}, 0)
		}), suspect: true},
	}
	spoils["T1"] = []spoiled{{spoil: alive(func(t *trace) {
		e := t.transmit()
		e.Wmem, e.Sending = 2<<20, event.SendingHead
	})}}
	spoils["T5"] = []spoiled{
		{spoil: alive(func(t *trace) { // the outer of two calls let the socket go
			p := t.lone(0, 0)
			q := t.lone(event.LifeOrphaned, 0)
			q.Turn, q.Ifindex, q.Dur = p.Turn, 10, uint32(q.Time-p.Begin()+500)
		})},
		{spoil: alive(func(t *trace) { // and the inner one's device was done with it at once
			begin := t.now
			f := &event.Free{Skb: 0x7000, Turn: t.turns + 1, Tries: 1, Life: event.LifeFollowed | event.LifeFreed}
			t.put(f, 0)
			p := t.lone(event.LifeFreed, 0)
			p.Dur = uint32(p.Time - begin - 200)
			q := t.lone(event.LifeOrphaned, 0)
			q.Ifindex, q.Dur = 10, uint32(q.Time-begin-100)
		})},
		{spoil: alive(func(t *trace) { // one that hands on later
			p := t.lone(event.LifeOrphaned, 0)
			p.Ifindex = 10
			t.free(t.lone(0, 0)).TCP = 0
		})},
	}
	spoils["T7"] = []spoiled{{spoil: alive(func(t *trace) { t.transmit(); t.transmit().Freed += 2304 }), suspect: true}}
	spoils["D7"] = []spoiled{{spoil: alive(func(t *trace) {
		t.put(&event.Free{Skb: 0x9000, How: event.FreedBurst, Defer: 3, Burst: 1000}, 0)
	}), suspect: true}}
}

// lifeEdges are what is no instance, and what cannot be decided.
var lifeEdges = []judged{
	{rule: "M6", name: "a skb of others", build: alive(func(t *trace) {
		shared := func(_ uint32, p *event.Packet) { p.Life |= event.LifeShared }
		t.three("pfifo", 0, shared)
		t.skb -= 0x1000
		t.three("pfifo", 0, shared)
	})},
	{rule: "M6", name: "a free that comes late", build: alive(func(t *trace) {
		all := t.three("pfifo", 0, unchanged)
		t.skb -= 0x1000
		t.three("pfifo", 0, unchanged)
		t.freeAll(all)
	}), want: counts{0, 0, 0, 0, 3}, reason: analysis.Race},
	{rule: "M6", name: "a call that outlasts its packet", build: outlasted(0, 0), want: counts{2, 0, 0, 0, 0}},
	{rule: "M6", name: "and the next at its address", build: outlasted(0, 1), want: counts{4, 0, 0, 0, 0}},
	{rule: "M6", name: "and more than are remembered", build: outlasted(0, 4), want: counts{10, 0, 0, 0, 1}, reason: analysis.Race},
	{rule: "M11", name: "a socket's sends on two CPUs whose clocks differ", build: alive(func(t *trace) {
		t.cpu = 1
		p := t.transmit()
		t.second(1)
		b := t.transmit()
		t.tick(20_000)
		t.cpu = 0
		a := t.transmit() // before b
		a.Before, a.Wmem, b.Before = p.Wmem, p.Wmem+2304, p.Wmem+2304
		t.second(1)
	}), want: counts{3, 0, 0, 0, 1}, reason: analysis.Race},
	{rule: "T5", name: "a call that outlasts its packet and the next", build: outlasted(event.LifeOrphaned, 1), want: counts{3, 0, 0, 0, 0}},
	{rule: "M6", name: "a free that is lost", build: alive(func(t *trace) {
		t.freeAll(t.three("pfifo", 0, unchanged)[:1])
		t.skb -= 0x1000
		t.freeAll(t.three("pfifo", 0, unchanged)[:1])
		t.second(1)
	}), lose: func(r event.Any) bool { return r.Head().Kind == event.KindFree }, want: counts{0, 0, 0, 0, 3}, reason: analysis.Lost},
	{rule: "M6", name: "a device that hands it on", build: alive(func(t *trace) {
		on := func(_ uint32, p *event.Packet) { p.NumQueuedEnd = p.NumQueuedBegin }
		t.three("pfifo", 0, on)
		t.skb -= 0x1000
		t.three("pfifo", 0, on)
		t.second(1)
	})},
	{rule: "R2", name: "refused and back again", build: alive(func(t *trace) {
		p := t.lone(0, 16)
		t.lone(0, 0).Tries = 1
		last[event.Packet](t, 0).Turn = p.Turn
	}), want: counts{1, 0, 0, 0, 0}},
	{rule: "R2", name: "taken by another device below", build: alive(func(t *trace) {
		p := t.lone(0, 0)
		p.NumQueuedEnd = 142
		q := t.lone(0, 0)
		q.Turn, q.Tries, q.Ifindex = p.Turn, 1, 10
	})},
	{rule: "R3", name: "taken", build: alive(func(t *trace) { t.lone(event.LifeDirect|event.LifeFreed, 0) })},
	{rule: "O1", name: "a kind of another order", build: alive(func(t *trace) {
		t.freeAll(t.three("fq", 0, func(i uint32, p *event.Packet) { p.Order = 10 - i }))
	})},
	{rule: "O1", name: "what was put back", build: alive(func(t *trace) {
		t.freeAll(t.three("pfifo", 0, func(i uint32, p *event.Packet) { p.Order, p.Tries = 10-i, uint8(i) }))
	})},
	{rule: "O1", name: "another band", build: alive(func(t *trace) {
		t.freeAll(t.three("pfifo_fast", event.QdiscNoLock, func(i uint32, p *event.Packet) { p.Turn, p.Priority = 10-i, i }))
	})},
	{rule: "O1", name: "another sender", build: alive(func(t *trace) {
		t.freeAll(t.three("pfifo_fast", event.QdiscNoLock, func(i uint32, p *event.Packet) { p.Turn, p.Sender = 10-i, uint16(i) }))
	})},
	{rule: "O1", name: "two CPUs", build: alive(func(t *trace) {
		t.three("pfifo", 0, func(_ uint32, p *event.Packet) { p.Order += 10 })
		t.cpu = 1
		t.three("pfifo", 0, unchanged)
		t.cpu = 0
	}), want: counts{2, 0, 0, 0, 3}, reason: analysis.Race},
	{rule: "O1", name: "the count wraps", build: alive(func(t *trace) {
		t.three("pfifo", 0, func(i uint32, p *event.Packet) { p.Order = i - 1 })
	}), want: counts{1, 0, 0, 0, 0}},
	{rule: "N2", name: "taken before its enqueue is told", build: alive(func(t *trace) {
		t.three("pfifo_fast", event.QdiscNoLock, unchanged)
		t.turns--
		t.enqueue()
		t.second(6)
	}), want: counts{1, 0, 0, 0, 0}},
	{rule: "N2", name: "a queue that is stopped", build: alive(func(t *trace) {
		t.enqueue().TxqState = event.DrvXoff
		t.second(6)
	})},
	{rule: "N2", name: "a qdisc with a lock", build: alive(func(t *trace) {
		t.enqueue().QdiscFlags = 0
		t.second(6)
	})},
	{rule: "N2", name: "the queue stops", build: alive(func(t *trace) {
		t.enqueue()
		t.three("pfifo_fast", event.QdiscNoLock, unchanged)
		last[event.Run](t, 0).TxqStateEnd = event.DrvXoff
		t.second(6)
	}), want: counts{0, 0, 0, 0, 1}, reason: "the queue was stopped"},
	{rule: "T1", name: "a probe", build: func(t *trace) { e := t.transmit(); e.Wmem, e.Sending = 2<<20, event.SendingProbes }, want: counts{0, 0, 0, 0, 1}, reason: "it may be a probe of the MTU"},
	{rule: "T1", name: "at the limit", build: func(t *trace) { t.transmit().Wmem = 100 << 10 }, want: counts{1, 0, 0, 0, 0}},
	{rule: "T1", name: "one byte above", build: func(t *trace) { t.transmit().Wmem = 100<<10 + 1 }, want: counts{0, 1, 0, 0, 0}},
	{rule: "T1", name: "one packet on its way", build: func(t *trace) { e := t.transmit(); e.Wmem, e.Rtx = 100<<10+1, event.RtxOne }, want: counts{1, 0, 0, 0, 0}},
	{rule: "T5", name: "the last device lets it go", build: alive(func(t *trace) { t.free(t.lone(event.LifeOrphaned, 0)).TCP = 0 }), want: counts{1, 0, 0, 0, 0}},
	{rule: "T5", name: "a receiver lets it go", build: alive(func(t *trace) { t.free(t.lone(0, 0)).TCP = 0 })},
	{rule: "T7", name: "a free under way", build: func(t *trace) {
		t.transmit().Sending = 0
		e := t.transmit()
		e.Freed, e.Sending = 0, event.SendingSummed|event.SendingRace
	}, want: counts{0, 0, 0, 0, 1}, reason: analysis.Race},
	{rule: "T7", name: "pure ACKs", build: func(t *trace) { t.transmit(); t.transmit().Wmem += pureACKs }, want: counts{1, 0, 0, 0, 0}},
	{rule: "T7", name: "not all is known", build: func(t *trace) { e := t.transmit(); e.Freed, e.Sending = 0, event.SendingHead }},
	{rule: "D7", name: "emptied meanwhile", build: alive(func(t *trace) { t.put(&event.Free{How: event.FreedBurst, Burst: 1000}, 0) }), want: counts{0, 0, 0, 0, 1}, reason: analysis.Race},
	{rule: "D7", name: "not readable", build: alive(func(t *trace) { t.put(&event.Free{How: event.FreedBurst, Defer: event.DeferUnknown}, 0) }), want: counts{0, 0, 0, 0, 1}, reason: "Qdisc.defer_count not readable"},
	{rule: "D7", name: "dropped for something else", build: alive(func(t *trace) { t.put(&event.Free{How: event.FreedDropped}, 0) })},
}
