// SPDX-License-Identifier: Apache-2.0

package rules

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/txtrace/txtrace/internal/analysis"
	"github.com/txtrace/txtrace/internal/event"
	"github.com/txtrace/txtrace/internal/model"
)

// pick adds one of a new socket on a device of four queues: the hash gives the
// third.
func (t *trace) pick(change func(*event.Pick)) *event.Pick {
	p := &event.Pick{
		Sock: 0x99, Birth: t.now, Since: t.now, JiffiesBegin: t.jiffies, JiffiesEnd: t.jiffies,
		Index: 2, Len: 1514, Wmem: 2305, Truesize: 2304, Hash: 0x9000_0000, SenderCPU: 1, QueuesBegin: 4, QueuesEnd: 4,
		Before: event.NoQueue, After: 2, Mapping: 2, SkRx: event.NoQueue, XpsRx: event.NoQueue, XpsCPU: event.NoQueue, Last: event.NoQueue,
		Full: 1, Route: 1, Exact: 1, State: 1,
	}
	if change != nil {
		change(p)
	}
	was := t.txq
	t.txq = uint16(p.Index)
	t.put(p, 0)
	t.txq = was
	return p
}

// choose makes a pick one to a queue.
func choose(p *event.Pick, queue uint16) {
	p.Index, p.Txq, p.After, p.Mapping = uint32(queue), queue, queue, queue
}

// by makes it one by XPS.
func byXPS(p *event.Pick, queue uint16) {
	p.Maps, p.XpsCPU = event.MapsCPUs, queue
	choose(p, queue)
}

// forwarded has no socket, and comes from a receive queue.
func forwarded(p *event.Pick, rx uint16) {
	p.Sock, p.Birth, p.Since, p.Full, p.Route, p.State, p.Wmem = 0, 0, 0, 0, 0, 0, 0
	p.After, p.RxMapping = event.NoQueue, rx+1
}

// picking is what a right kernel of 6.19 and later does: a choice by hash, one
// by XPS that moves a socket, one that grew old, a driver's, a forwarded one,
// and many that are counted.
func (t *trace) picking() {
	t.pick(nil)
	t.pick(func(p *event.Pick) { byXPS(p, 1); p.Before, p.OOO = 2, 1 })
	t.pick(func(p *event.Pick) { byXPS(p, 1); p.XpsCPU = 9; choose(p, 2) })
	t.pick(func(p *event.Pick) { aged(p, 251, 250) })
	t.pick(func(p *event.Pick) { p.Select = 1; choose(p, 3) })
	t.pick(func(p *event.Pick) { forwarded(p, 6) })
	t.own(&event.Picks{PickCounts: event.PickCounts{Bytes: 130 * 1514, Kept: 100, Again: 20, Unkept: 3, Driver: 7, Hashed: 13, Mapped: 10}})
	picks := last[event.Picks](t, 0)
	picks.Ifindex, picks.Netns, picks.Txq = t.ifindex, 7, 2
}

// aged has a queue that was kept for some jiffies, where so many are allowed,
// and that is given the socket anew.
func aged(p *event.Pick, jiffies, allowed uint64) {
	p.Before, p.Stamped, p.Reselect = 2, 1, uint32(allowed)
	p.StampBegin, p.StampEnd = p.JiffiesEnd-jiffies, p.JiffiesEnd
}

// picked is a trace of one pick.
func picked(change func(*event.Pick)) func(*trace) {
	return func(t *trace) { t.pick(change) }
}

// held is a trace of one pick for a socket whose queue is that old.
func held(ns uint64, change func(*event.Pick)) func(*trace) {
	return func(t *trace) {
		t.tick(3 * ns)
		t.pick(func(p *event.Pick) {
			p.Before, p.Since = 2, p.Since-ns
			if change != nil {
				change(p)
			}
		})
	}
}

// picks chooses a queue for one of two sockets as a kernel of today does. The
// number of queues, XPS and what is on its way change from one to the next, and
// every choice has a record, those that would be counted too.
func (g *random) picks() {
	g.tick(uint64(g.below(1000, "ms")) * 1_000_000)
	sk := &g.socks[g.below(len(g.socks)-1, "socket")]
	queues := 2 + g.below(6, "queues")
	dev := model.TxDevice{Queues: queues}
	skb := model.PickSkb{Hash: uint32(g.below(1<<32-1, "hash")), RxQueue: model.NoQueue, OOOOkay: g.chance(40)}
	at := model.PickTime{Now: g.jiffies, HZ: 250, Reselect: 250}
	before := *sk
	g.pick(func(p *event.Pick) {
		p.Hash, p.QueuesBegin, p.QueuesEnd = skb.Hash, uint32(queues), uint32(queues)
		p.Stamped, p.Reselect = 1, uint32(at.Reselect)
		if g.chance(30) {
			p.Maps, p.XpsCPU = event.MapsCPUs, uint16(g.below(8, "xps"))
			dev.CPUMap = model.XPSMap{{int(p.XpsCPU)}}
		}
		if skb.OOOOkay {
			p.OOO = 1
			p.Wmem += uint32(g.below(5000, "in flight"))
		}
		if !before.Route {
			p.Route = 0
		}
		queue, _ := model.Pick(model.PickCacheExpires, dev, skb, sk, at)
		p.Index, p.Mapping, p.Before, p.After = uint32(queue), uint16(queue), uint16(before.Queue), uint16(sk.Queue)
		p.StampBegin, p.StampEnd = before.Stamp, sk.Stamp
	})
}

// receives adds packets to the list of a NAPI, and lets it go up.
func (g *random) receives() {
	if !g.wrote && g.chance(20) {
		g.batch, g.wrote = 1+g.below(15, "batch"), true
	}
	var segs []uint32
	for range 1 + g.below(20, "packets") {
		n := 1
		if g.chance(20) {
			n = 1 + g.below(44, "merged")
		}
		segs = append(segs, uint32(n))
		if _, up := g.rx.Add(model.GROBatchSegs, g.batch, model.RxSkb{Segments: n}); up {
			g.up(segs)
			segs = nil
		}
	}
	if _, up := g.rx.Complete(false); up {
		g.up(segs)
	}
}

func (g *random) up(segs []uint32) {
	g.goUp(segs...).Batch = uint32(g.batch)
	g.wrote = false
}

// The report adds up what was recorded and what was counted.
func TestPickReport(t *testing.T) {
	tr := newTrace()
	birth := tr.pick(nil).Birth
	tr.pick(func(p *event.Pick) {
		byXPS(p, 1)
		p.Birth, p.Before, p.OOO, p.Wmem = birth, 2, 1, p.Truesize+1+5000
	})
	tr.pick(func(p *event.Pick) { p.Sock = 0x9a })
	tr.pick(func(p *event.Pick) { forwarded(p, 6) })
	tr.own(&event.Picks{PickCounts: event.PickCounts{Bytes: 5000, Kept: 10, Again: 5, Hashed: 5, Hinted: 2}})
	counted := last[event.Picks](tr, 0)
	counted.Ifindex, counted.Netns, counted.Txq = tr.ifindex, 7, 2
	want := []analysis.PickReport{{
		DeviceRef: analysis.DeviceRef{Netns: 7, Ifindex: 2, Ifname: "eth0"}, Picks: 19, Bytes: 4*1514 + 5000,
		Why:   map[string]analysis.U64{"new": 3, "ooo": 6, "hit": 10},
		By:    map[string]analysis.U64{"hash": 5, "xps": 1, "hint": 3},
		Moves: 1, MovesInFlight: 1, InFlight: analysis.Dist{Count: 1, Sum: 5000, Min: 5000, Max: 5000, Mean: 5000},
		Flows:      analysis.Spread{Sum: 2, Max: 1, Mean: 0.5},
		QueueBytes: analysis.Spread{Sum: 4*1514 + 5000, Max: 3*1514 + 5000, Mean: (4*1514 + 5000) / 4},
		Queues:     []analysis.PickQueue{{Txq: 1, Picks: 1, Bytes: 1514, Flows: 1}, {Txq: 2, Picks: 18, Bytes: 3*1514 + 5000, Flows: 1}},
	}}
	if d := cmp.Diff(want, tr.analyze(t, "auto", nil).Picks); d != "" {
		t.Errorf("-want +got\n%s", d)
	}
}

// What went wrong with queues, and what only looks so.
func TestPickCases(t *testing.T) {
	for _, c := range []struct {
		name, rule string
		build      func(*trace)
		want       analysis.Verdict
	}{
		{"C-S1 closing a socket clears its queue while it sends", "Q3", func(t *trace) {
			t.pick(nil)
			p := t.pick(func(p *event.Pick) { byXPS(p, 1) })
			p.Before, p.Last, p.Wmem = 2, 2, 5*2304+1
		}, analysis.VerdictFail},
		{"C-S6 sender_cpu is a NAPI's number", "Q8", func(t *trace) {
			t.header.Kernel.PossibleCPUs = 12
			t.pick(func(p *event.Pick) {
				byXPS(p, 2)
				forwarded(p, 0)
				p.SenderCPU, p.RxMapping, p.XpsCPU = 72, 0, event.NoQueue
			})
		}, analysis.VerdictFail},
		{"C-S9 a socket keeps what tc chose", "Q3", func(t *trace) {
			for range 3 {
				t.pick(func(p *event.Pick) { choose(p, 1); p.Before = 1 })
			}
		}, analysis.VerdictPass},
	} {
		tr := newTrace()
		c.build(tr)
		if r := ruling(t, tr.analyze(t, "auto", nil), c.rule); r.Verdict != c.want {
			t.Errorf("%s: %s is %s, want %s: %+v", c.name, c.rule, r.Verdict, c.want, r)
		}
	}
}

func init() {
	cases = append(cases, pickCases...)
}

var pickCases = []judged{
	{rule: "Q1", name: "the core chooses", build: picked(nil)},
	{rule: "Q1", name: "the last queue", build: picked(func(p *event.Pick) { p.Select = 1; choose(p, 3) }), want: counts{1, 0, 0, 0, 0}},
	{rule: "Q1", name: "a queue too many", build: picked(func(p *event.Pick) { p.Select = 1; choose(p, 4) }), want: counts{0, 1, 0, 0, 0}},
	{rule: "Q1", name: "a queue too many, while queues went", build: picked(func(p *event.Pick) { p.Select, p.QueuesBegin = 1, 5; choose(p, 4) }), want: counts{0, 0, 0, 0, 1}, reason: analysis.Changed},
	{rule: "Q1", name: "one queue", build: picked(func(p *event.Pick) { p.Select, p.QueuesBegin, p.QueuesEnd = 1, 1, 1 })},
	{rule: "Q2", name: "the last queue", build: picked(func(p *event.Pick) { choose(p, 3) }), want: counts{1, 0, 0, 0, 0}},
	{rule: "Q2", name: "a queue too many", build: picked(func(p *event.Pick) { choose(p, 4) }), want: counts{0, 1, 0, 0, 0}},
	{rule: "Q2", name: "a queue too many, while queues came", build: picked(func(p *event.Pick) { p.QueuesEnd = 8; choose(p, 4) }), want: counts{0, 0, 0, 0, 1}, reason: analysis.Changed},
	{rule: "Q2", name: "no queue's begin", build: picked(func(p *event.Pick) { p.Exact = 0 }), want: counts{0, 1, 0, 0, 0}},
	{rule: "Q3", name: "no socket", build: picked(func(p *event.Pick) { forwarded(p, 6) })},
	{rule: "Q3", name: "the driver chooses", build: picked(func(p *event.Pick) { p.Select = 1; p.Before = 0 })},
	{rule: "Q3", name: "new and kept", build: picked(nil), want: counts{1, 0, 0, 0, 0}},
	{rule: "Q3", name: "new and not kept", build: picked(func(p *event.Pick) { p.After = event.NoQueue }), want: counts{0, 1, 0, 0, 0}},
	{rule: "Q3", name: "kept without a route", build: picked(func(p *event.Pick) { p.Route = 0 }), want: counts{0, 1, 0, 0, 0}},
	{rule: "Q3", name: "not kept without a route", build: picked(func(p *event.Pick) { p.Route, p.After = 0, event.NoQueue }), want: counts{1, 0, 0, 0, 0}},
	{rule: "Q3", name: "a request keeps nothing", build: picked(func(p *event.Pick) { p.Full, p.State, p.After = 0, 12, event.NoQueue }), want: counts{1, 0, 0, 0, 0}},
	{rule: "Q3", name: "a request keeps a queue", build: picked(func(p *event.Pick) { p.Full, p.State = 0, 12 }), want: counts{0, 1, 0, 0, 0}},
	{rule: "Q3", name: "moved for no reason", build: picked(func(p *event.Pick) { p.Before = 1 }), want: counts{0, 1, 0, 0, 0}},
	{rule: "Q3", name: "moved, nothing on its way", build: picked(func(p *event.Pick) { p.Before, p.OOO = 1, 1 }), want: counts{1, 0, 0, 0, 0}},
	{rule: "Q3", name: "moved, ACKs on their way", build: picked(func(p *event.Pick) { p.Before, p.OOO, p.Wmem = 1, 1, p.Truesize+1+576 }), want: counts{1, 0, 0, 0, 0}},
	{rule: "Q3", name: "moved, bytes on their way", build: picked(func(p *event.Pick) { p.Before, p.OOO, p.Wmem = 1, 1, p.Truesize+1+577 }), want: counts{0, 0, 0, 1, 0}},
	{rule: "Q3", name: "moved to where the device has queues", build: picked(func(p *event.Pick) { p.Before = 4 }), want: counts{1, 0, 0, 0, 0}},
	{rule: "Q3", name: "the last queue was kept", build: picked(func(p *event.Pick) { choose(p, 3); p.Before = 3 }), want: counts{1, 0, 0, 0, 0}},
	{rule: "Q3", name: "given a queue, and keeps another", build: picked(func(p *event.Pick) { p.Before = 2; p.After = 1 }), want: counts{0, 1, 0, 0, 0}},
	{rule: "Q3", name: "old", build: picked(func(p *event.Pick) { aged(p, 251, 250) }), want: counts{1, 0, 0, 0, 0}},
	{rule: "Q3", name: "not old", build: picked(func(p *event.Pick) { aged(p, 250, 250) }), want: counts{0, 1, 0, 0, 0}},
	{rule: "Q3", name: "old in the middle of it", build: picked(func(p *event.Pick) { aged(p, 251, 250); p.JiffiesBegin-- }), want: counts{0, 0, 0, 0, 1}, reason: analysis.Race},
	{rule: "Q3", name: "old, and yet kept", build: picked(func(p *event.Pick) {
		aged(p, 251, 250)
		p.StampEnd = p.StampBegin
		p.Before, p.After, p.Index, p.Mapping = 1, 1, 2, 2
	}), want: counts{0, 1, 0, 0, 0}},
	{rule: "Q3", name: "as old as it likes", build: picked(func(p *event.Pick) { aged(p, 9000, 0); p.StampEnd = p.StampBegin }), want: counts{1, 0, 0, 0, 0}},
	{rule: "Q3", name: "sockets without a time", variant: "pick-cache=forever", build: held(2_000_000_000, nil), want: counts{1, 0, 0, 0, 0}},
	{rule: "Q3", name: "sockets without a time, held to one", build: held(2_000_000_000, nil), want: counts{0, 1, 0, 0, 0}},
	{rule: "Q3", name: "sockets without a time, and one that has ended", build: held(2_000_000_000, func(p *event.Pick) { p.OOO = 1 }), want: counts{1, 0, 0, 0, 0}},
	{rule: "Q3", name: "sockets without a time, and it is not over", build: held(1_000_000_000, nil), want: counts{1, 0, 0, 0, 0}},
	{rule: "Q3", name: "given anew by a kernel that never does", variant: "pick-cache=forever", build: picked(func(p *event.Pick) { aged(p, 251, 250) }), want: counts{0, 1, 0, 0, 0}},
	{rule: "Q3", name: "renewed by a kernel that holds no time", variant: "pick-cache=forever", build: picked(func(p *event.Pick) { aged(p, 251, 250); p.OOO = 1 }), want: counts{0, 1, 0, 0, 0}},
	{rule: "Q3", name: "renewed, nothing on its way", build: picked(func(p *event.Pick) { aged(p, 251, 1000); p.OOO = 1 }), want: counts{1, 0, 0, 0, 0}},
	{rule: "Q3", name: "nothing on its way, in 001", variant: "pick-cache=unchecked", build: picked(func(p *event.Pick) { p.Before, p.OOO = 1, 1 }), want: counts{0, 1, 0, 0, 0}},
	{rule: "Q3", name: "another pick of it", build: picked(func(p *event.Pick) { p.Before, p.Overlap = 1, 1 }), want: counts{0, 0, 0, 0, 1}, reason: analysis.Race},
	{rule: "Q3", name: "another route", build: picked(func(p *event.Pick) { p.Before, p.Rerouted = 1, 1 }), want: counts{0, 0, 0, 0, 1}, reason: analysis.Race},
	{rule: "Q3", name: "queues came", build: picked(func(p *event.Pick) { p.Before, p.QueuesBegin = 1, 2 }), want: counts{0, 0, 0, 0, 1}, reason: analysis.Changed},
	{rule: "Q4", name: "another queue than the hash's", build: picked(func(p *event.Pick) { choose(p, 1) }), want: counts{0, 1, 0, 0, 0}},
	{rule: "Q4", name: "forwarded", build: picked(func(p *event.Pick) { forwarded(p, 6) }), want: counts{1, 0, 0, 0, 0}},
	{rule: "Q4", name: "forwarded to another", build: picked(func(p *event.Pick) { forwarded(p, 5) }), want: counts{0, 1, 0, 0, 0}},
	{rule: "Q4", name: "traffic classes", build: picked(func(p *event.Pick) { p.Classes = 1; choose(p, 1) })},
	{rule: "Q4", name: "for another device", build: picked(func(p *event.Pick) { p.Sub = 1; choose(p, 1) })},
	{rule: "Q4", name: "not chosen", build: picked(func(p *event.Pick) { choose(p, 1); p.Before = 1 })},
	{rule: "Q4", name: "XPS", build: picked(func(p *event.Pick) { byXPS(p, 1) })},
	{rule: "Q6", name: "another number", build: picked(func(p *event.Pick) { p.Mapping = 1 }), want: counts{0, 1, 0, 0, 0}},
	{rule: "Q6", name: "its number", build: picked(nil), want: counts{1, 0, 0, 0, 0}},
	{rule: "Q8", name: "without XPS", build: picked(func(p *event.Pick) { p.SenderCPU = 0 })},
	{rule: "Q8", name: "the last CPU", build: picked(func(p *event.Pick) { byXPS(p, 1); p.SenderCPU = 2 }), want: counts{1, 0, 0, 0, 0}},
	{rule: "Q8", name: "no such CPU", build: picked(func(p *event.Pick) { byXPS(p, 1); p.SenderCPU = 3 }), want: counts{0, 1, 0, 0, 0}},
	{rule: "Q8", name: "no CPU", build: picked(func(p *event.Pick) { byXPS(p, 1); p.SenderCPU = 0 }), want: counts{0, 1, 0, 0, 0}},
	{rule: "Q8", name: "CPUs are not known", build: func(t *trace) {
		t.header.Kernel.PossibleCPUs = 0
		t.pick(func(p *event.Pick) { byXPS(p, 1) })
	}, want: counts{0, 0, 0, 0, 1}, reason: "the number of CPUs is not known"},
	{rule: "Q9", name: "without XPS", build: picked(nil)},
	{rule: "Q9", name: "the map's queue", build: picked(func(p *event.Pick) { byXPS(p, 3) }), want: counts{1, 0, 0, 0, 0}},
	{rule: "Q9", name: "another than the map's", build: picked(func(p *event.Pick) { byXPS(p, 3); choose(p, 2) }), want: counts{0, 1, 0, 0, 0}},
	{rule: "Q9", name: "the map's is not there", build: picked(func(p *event.Pick) { byXPS(p, 4); choose(p, 2) }), want: counts{1, 0, 0, 0, 0}},
	{rule: "Q9", name: "capped instead of ignored", build: picked(func(p *event.Pick) { byXPS(p, 4); choose(p, 0) }), want: counts{0, 1, 0, 0, 0}},
	{rule: "Q9", name: "by receive queue first", build: picked(func(p *event.Pick) {
		byXPS(p, 3)
		p.Maps, p.SkRx, p.XpsRx = p.Maps|event.MapsRxQueue, 1, 0
		choose(p, 0)
	}), want: counts{1, 0, 0, 0, 0}},
	{rule: "Q9", name: "the map was written", build: picked(func(p *event.Pick) { byXPS(p, 3); choose(p, 2); p.Maps |= event.MapsChanged }), want: counts{0, 0, 0, 0, 1}, reason: analysis.Changed},
}
