// SPDX-License-Identifier: Apache-2.0

package model

import (
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// path is the mechanisms put together: one qdisc, one queue, one driver. Its
// packets are numbered by Queue; each segment carries its packet's number.
type path struct {
	*rapid.T
	kernel map[Switch]Variant
	tso    bool

	qdisc    []Packet
	parked   [][]Packet // gso_skb
	dql      DQL
	state    QueueState
	ring     []uint32 // bytes charged, in the order they were
	now      uint64
	sent     []Packet
	bellOwed bool
}

// variants draws a kernel from any time.
func variants(t *rapid.T) map[Switch]Variant {
	kernel := make(map[Switch]Variant)
	for _, s := range Switches {
		kernel[s.Name] = rapid.SampledFrom(s.Variants).Draw(t, string(s.Name)).Name
	}
	return kernel
}

// run is one __qdisc_run.
func (p *path) run() Run {
	return Quota{Charge: p.kernel[SwitchQuota], Weight: 64}.Run(func(left int) Restart {
		if !Startable(p.state) {
			return Restart{}
		}
		list, n, requeued := []Packet(nil), 0, len(p.parked) > 0
		if requeued {
			list, p.parked = p.parked[0], p.parked[1:]
			if n = len(list); !LegalFromGSOSkb(p.kernel[SwitchRequeue], n) {
				p.Fatalf("%d packets from gso_skb", n)
			}
		} else if list, n = p.dequeue(left); n == 0 {
			return Restart{}
		}
		return Restart{Packets: n, FromGSOSkb: requeued, Again: p.handOver(list)}
	})
}

// dequeue takes a batch and validates it.
func (p *path) dequeue(left int) (list []Packet, n int) {
	pull := func() (Packet, bool) {
		if len(p.qdisc) == 0 {
			return Packet{}, false
		}
		head := p.qdisc[0]
		p.qdisc = p.qdisc[1:]
		list = append(list, head)
		return head, true
	}
	head, ok := pull()
	if !ok {
		return nil, 0
	}
	b, _, stray := Dequeue{
		Bulk: p.kernel[SwitchBulk], GSO: p.kernel[SwitchBulkGSO], Validate: p.kernel[SwitchValidate],
		Quota: p.kernel[SwitchQuota], OneTxQueue: true, BQL: true, Avail: p.dql.Avail(), Left: left,
	}.Take(head, pull)
	if stray != nil {
		p.Fatal("a qdisc of one queue has a stray packet")
	}
	return ValidateList(nil, list[:b.N], p.tso), b.N
}

// handOver gives a list to the driver, which may refuse a packet or stop, and
// says whether it took all.
func (p *path) handOver(list []Packet) bool {
	doorbell := p.kernel[SwitchDoorbell]
	h := HandOver(p.kernel[SwitchXmitStop], len(list), func(i int, follows bool) (bool, QueueState) {
		if rapid.IntRange(0, 20).Draw(p.T, "busy") == 0 {
			return false, p.state
		}
		p.sent = append(p.sent, list[i])
		p.ring = append(p.ring, list[i].Len)
		p.state |= rapid.SampledFrom([]QueueState{0, 0, 0, 0, 0, 0, QueueDrv}).Draw(p.T, "drv")
		segment := follows && list[i].Queue == list[i+1].Queue
		var ring bool
		var err error
		p.state, ring, err = p.dql.Charge(doorbell, p.kernel[SwitchDQLObject], list[i].Len, More(doorbell, follows, segment), p.state)
		if err != nil {
			p.Fatal(err)
		}
		p.bellOwed = !ring
		return true, p.state
	})
	if p.bellOwed && !h.Busy {
		p.Fatalf("a hand-over of %d, %+v, ends without a doorbell", len(list), h)
	}
	p.parked = Requeue(p.kernel[SwitchRequeue], p.parked, list[h.Sent:])
	return h.Sent == len(list)
}

// complete is the driver's clean-up of the n oldest packets; then it wakes.
func (p *path) complete(n int) {
	var bytes uint32
	for _, b := range p.ring[:n] {
		bytes += b
	}
	p.ring = p.ring[n:]
	p.now++
	var err error
	if p.state, _, err = p.dql.Complete(bytes, p.now, p.state&^QueueDrv); err != nil {
		p.Fatal(err)
	}
	var left uint32
	for _, b := range p.ring {
		left += b
	}
	if p.dql.InFlight() != left {
		p.Fatalf("%d bytes in flight, %d in the ring", p.dql.InFlight(), left)
	}
}

// Through any kernel of any time every packet goes once, or is dropped once, in
// order but where a requeue turned it, and nothing waits for ever: with an empty
// ring the queue runs, and each run moves a packet or meets a refusal.
func TestPathConserves(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := &path{T: t, kernel: variants(t), tso: rapid.Bool().Draw(t, "tso")}
		p.dql = NewDQL(rapid.SampledFrom([]uint32{1, 250}).Draw(t, "hold"), 0)
		p.dql.MinLimit = rapid.SampledFrom([]uint32{0, 0, 20000}).Draw(t, "min")
		p.dql.MaxLimit = rapid.SampledFrom([]uint32{0, 20000, DQLMaxLimit}).Draw(t, "max")
		base := rapid.SampledFrom([]uint32{0, 1<<32 - 40000}).Draw(t, "base")
		p.dql.NumQueued, p.dql.NumCompleted, p.dql.PrevNumQueued, p.dql.AdjLimit = base, base, base, base
		var want []Packet
		for i := range rapid.IntRange(1, 150).Draw(t, "packets") {
			packet := Packet{Len: 60, Queue: uint16(i)}
			switch rapid.IntRange(0, 9).Draw(t, "kind") {
			case 0:
				packet.Drop = true
			case 1:
				packet = gso(rapid.IntRange(2, 6).Draw(t, "segments"))
				packet.Queue = uint16(i)
			case 2:
				packet.Len = 1514
			}
			p.qdisc = append(p.qdisc, packet)
			want = Validate(want, packet, p.tso)
		}
		turns := 0
		for len(p.sent) < len(want) || len(p.qdisc) > 0 {
			if turns++; turns > 10000 {
				t.Fatalf("after %d runs %d of %d frames are sent, state %b, avail %d", turns, len(p.sent), len(want), p.state, p.dql.Avail())
			}
			p.run()
			if len(p.ring) > 0 {
				p.complete(rapid.IntRange(1, len(p.ring)).Draw(t, "done"))
			}
			p.state &^= QueueDrv // a driver that stopped wakes up even with nothing to clean
			if len(p.ring) == 0 && p.state != 0 {
				t.Fatalf("the ring is empty, and the queue is stopped: %b, avail %d", p.state, p.dql.Avail())
			}
		}
		if p.kernel[SwitchRequeue] == RequeueTail {
			byNumber := func(a, b Packet) int { return int(a.Queue) - int(b.Queue) }
			slices.SortStableFunc(p.sent, byNumber)
			// Segments of one packet may have overtaken each other.
			byLen := func(a, b Packet) int { return int(b.Len) - int(a.Len) }
			slices.SortStableFunc(p.sent, byLen)
			slices.SortStableFunc(want, byLen)
		}
		if !slices.Equal(p.sent, want) {
			t.Fatalf("sent %+v, want %+v", p.sent, want)
		}
	})
}

// More bytes, or more of a quota, never give a smaller batch.
func TestBulkMonotonic(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		kernel := variants(t)
		list := rapid.SliceOfN(rapid.SampledFrom([]Packet{{Len: 60}, {Len: 1514}, gso(4), {Len: 60, Drop: true}}), 1, 100).Draw(t, "list")
		take := func(avail int32, left int) int {
			rest := list[1:]
			b, _, _ := Dequeue{
				Bulk: kernel[SwitchBulk], GSO: kernel[SwitchBulkGSO], Validate: kernel[SwitchValidate],
				Quota: kernel[SwitchQuota], OneTxQueue: true, BQL: true, Avail: avail, Left: left,
			}.Take(list[0], func() (p Packet, ok bool) {
				if len(rest) == 0 {
					return Packet{}, false
				}
				p, rest = rest[0], rest[1:]
				return p, true
			})
			return b.N
		}
		avail, left := rapid.Int32Range(-2000, 90000).Draw(t, "avail"), rapid.IntRange(1, 64).Draw(t, "left")
		n := take(avail, left)
		if more := take(avail+rapid.Int32Range(0, 3000).Draw(t, "bytes"), left+rapid.IntRange(0, 9).Draw(t, "packets")); more < n {
			t.Fatalf("%d packets, with more to spend %d", n, more)
		}
	})
}

// Qdiscs that share a CPU take turns, the one whose quota is spent behind the
// others (net_tx_action). None waits longer than one full turn of each other
// one, which today is 64 packets and 8 more.
func TestQuotaStarvesNone(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		backlog := rapid.SliceOfN(rapid.IntRange(1, 500), 2, 5).Draw(t, "backlog")
		d := Dequeue{Bulk: BulkBudget, Quota: QuotaAfter, OneTxQueue: rapid.Bool().Draw(t, "onetxqueue"), BQL: true}
		waited := make([]int, len(backlog))
		turns := make([]int, 0, len(backlog))
		for i := range backlog {
			turns = append(turns, i)
		}
		for len(turns) > 0 {
			at := turns[0]
			turns = turns[1:]
			if most := (len(backlog) - 1) * (64 + 8); waited[at] > most {
				t.Fatalf("qdisc %d waited for %d packets of others, want %d at most", at, waited[at], most)
			}
			waited[at] = 0
			r := Quota{Charge: d.Quota, Weight: 64}.Run(func(left int) Restart {
				if backlog[at] == 0 {
					return Restart{}
				}
				d.Left, d.Avail = left, rapid.Int32Range(-10, 90000).Draw(t, "avail")
				b, _ := one(d, backlog[at], 60)
				backlog[at] -= b.N
				return Restart{Packets: b.N, Again: true}
			})
			for _, other := range turns {
				waited[other] += r.Packets
			}
			if r.Spent {
				turns = append(turns, at)
			}
		}
		for at, left := range backlog {
			if left > 0 {
				t.Fatalf("qdisc %d is left with %d", at, left)
			}
		}
	})
}

// A socket that is held back has something below TCP whose completion calls
// back, if the sysctl is no smaller than an idle socket's own account.
func TestTSQStarvesNone(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		kernel := variants(t)
		s := Socket{
			Truesize:    rapid.Uint32Range(768, 90000).Draw(t, "truesize"),
			PacingRate:  rapid.Uint64Range(0, 1<<33).Draw(t, "rate"),
			PacingShift: uint8(rapid.IntRange(5, 12).Draw(t, "shift")),
			Paced:       rapid.Bool().Draw(t, "paced"),
			LimitOutput: rapid.Int32Range(2, 1<<22).Draw(t, "sysctl"),
			Unacked:     rapid.IntRange(0, 3).Draw(t, "unacked"),
			Wmem:        WmemBase,
		}
		limit, exempt := kernel[SwitchTSQLimit], kernel[SwitchTSQExempt]
		if s.Throttled(limit, exempt) {
			t.Fatalf("%s, %s: %+v is held back with nothing below TCP", limit, exempt, s)
		}
		s.Wmem += s.Truesize * uint32(rapid.IntRange(1, 9).Draw(t, "skbs"))
		if s.Throttled(limit, exempt) && !s.CallsBack(limit) {
			t.Fatalf("%s: %+v is held back and nothing calls back", limit, s)
		}
	})
}
