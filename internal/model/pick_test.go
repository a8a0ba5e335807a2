// SPDX-License-Identifier: Apache-2.0

package model

import (
	"testing"

	"pgregory.net/rapid"
)

// connected is a socket that has sent by queue.
func connected(queue int) *PickSocket {
	return &PickSocket{Queue: queue, Stamp: 1000, RxQueue: NoQueue, Full: true, Route: true}
}

// at is 5 s after connected's stamp, with reselection after 1 s, at 250 HZ.
var at = PickTime{Now: 2250, HZ: 250, Reselect: 250}

// outgoing is a skb whose hash means queue 2 of 4, 5 of 8.
var outgoing = PickSkb{Hash: 0xb0000000, RxQueue: NoQueue}

func TestPickVariants(t *testing.T) {
	driver := func() int { return 3 }
	wild := func() int { return 9 }
	ooo := outgoing
	ooo.OOOOkay = true
	type choice struct {
		queue int
		why   PickReason
		keeps int // the socket's queue afterwards
	}
	cases := []struct {
		name                        string
		dev                         TxDevice
		skb                         PickSkb
		sk                          *PickSocket
		unchecked, forever, expires choice
	}{
		{"no socket", TxDevice{Queues: 4}, outgoing, nil,
			choice{2, PickNew, NoQueue}, choice{2, PickNew, NoQueue}, choice{2, PickNew, NoQueue}},
		{"first skb", TxDevice{Queues: 4}, outgoing, connected(NoQueue),
			choice{2, PickNew, 2}, choice{2, PickNew, 2}, choice{2, PickNew, 2}},
		{"cached, old", TxDevice{Queues: 4}, outgoing, connected(1),
			choice{1, PickHit, 1}, choice{1, PickHit, 1}, choice{2, PickExpired, 2}},
		{"nothing on its way", TxDevice{Queues: 4}, ooo, connected(1),
			choice{1, PickHit, 1}, choice{2, PickOOO, 2}, choice{2, PickExpired, 2}},
		{"the device lost the queue", TxDevice{Queues: 4}, outgoing, connected(6),
			choice{6, PickHit, 6}, choice{2, PickShrunk, 2}, choice{2, PickExpired, 2}},
		{"the device lost just that queue", TxDevice{Queues: 4}, outgoing, connected(4),
			choice{4, PickHit, 4}, choice{2, PickShrunk, 2}, choice{2, PickExpired, 2}},
		{"the driver chooses the first that is not there", TxDevice{Queues: 4, Select: func() int { return 4 }}, outgoing, nil,
			choice{4, PickDriver, NoQueue}, choice{0, PickDriver, NoQueue}, choice{0, PickDriver, NoQueue}},
		{"the driver chooses", TxDevice{Queues: 4, Select: driver}, outgoing, connected(NoQueue),
			choice{3, PickDriver, NoQueue}, choice{3, PickDriver, NoQueue}, choice{3, PickDriver, NoQueue}},
		{"the driver would choose", TxDevice{Queues: 4, Select: driver}, outgoing, connected(1),
			choice{1, PickHit, 1}, choice{3, PickDriver, 1}, choice{3, PickDriver, 1}},
		{"the driver chooses what is not there", TxDevice{Queues: 4, Select: wild}, outgoing, nil,
			choice{9, PickDriver, NoQueue}, choice{0, PickDriver, NoQueue}, choice{0, PickDriver, NoQueue}},
		{"one queue", TxDevice{Queues: 1}, outgoing, connected(NoQueue),
			choice{0, PickOnly, 0}, choice{0, PickOnly, NoQueue}, choice{0, PickOnly, NoQueue}},
		{"one queue, other cached", TxDevice{Queues: 1, Select: driver}, outgoing, connected(2),
			choice{2, PickHit, 2}, choice{0, PickOnly, 2}, choice{0, PickOnly, 2}},
		{"not connected", TxDevice{Queues: 4}, outgoing, &PickSocket{Queue: NoQueue, RxQueue: NoQueue, Full: true},
			choice{2, PickNew, NoQueue}, choice{2, PickNew, NoQueue}, choice{2, PickNew, NoQueue}},
		{"TIME_WAIT, cached", TxDevice{Queues: 4}, outgoing, &PickSocket{Queue: 1, RxQueue: NoQueue},
			choice{1, PickHit, 1}, choice{1, PickHit, 1}, choice{1, PickHit, 1}},
		{"request socket", TxDevice{Queues: 4}, outgoing, &PickSocket{Queue: NoQueue, RxQueue: NoQueue, Route: true},
			choice{2, PickNew, 2}, choice{2, PickNew, NoQueue}, choice{2, PickNew, NoQueue}},
	}
	for _, c := range cases {
		for cache, want := range map[Variant]choice{PickCacheUnchecked: c.unchecked, PickCacheForever: c.forever, PickCacheExpires: c.expires} {
			keeps, sk := NoQueue, c.sk
			if sk != nil {
				copied := *sk
				sk = &copied
			}
			queue, why := Pick(cache, c.dev, c.skb, sk, at)
			if sk != nil {
				keeps = sk.Queue
			}
			if got := (choice{queue, why, keeps}); got != want {
				t.Errorf("%s, %s: %+v, want %+v", c.name, cache, got, want)
			}
		}
	}
}

// A queue expires after the sysctl's time, not at it; 0 switches that off. A
// queue that is chosen again has its time renewed after a second.
func TestPickExpires(t *testing.T) {
	dev := TxDevice{Queues: 4}
	for _, c := range []struct {
		at    PickTime
		queue int // cached; the hash gives 2
		why   PickReason
		stamp uint64
	}{
		{PickTime{Now: 1250, HZ: 250, Reselect: 250}, 1, PickHit, 1000},
		{PickTime{Now: 1251, HZ: 250, Reselect: 250}, 1, PickExpired, 1251},
		{PickTime{Now: 9000, HZ: 250}, 1, PickHit, 1000},
		{PickTime{Now: 1101, HZ: 250, Reselect: 100}, 2, PickExpired, 1000},
		{PickTime{Now: 1250, HZ: 250, Reselect: 100}, 2, PickExpired, 1000},
		{PickTime{Now: 1251, HZ: 250, Reselect: 100}, 2, PickExpired, 1251},
	} {
		sk := connected(c.queue)
		if _, why := Pick(PickCacheExpires, dev, outgoing, sk, c.at); why != c.why || sk.Stamp != c.stamp {
			t.Errorf("%+v, cached %d: %s, stamp %d; want %s, %d", c.at, c.queue, why, sk.Stamp, c.why, c.stamp)
		}
	}
}

func TestPickMaps(t *testing.T) {
	cpus := XPSMap{{0}, {3}, {1, 2}, nil, {4}}
	rxqs := XPSMap{{3}, {}}
	low := outgoing
	low.Hash = 0x40000000
	on := func(skb PickSkb, cpu int) PickSkb { skb.CPU = cpu; return skb }
	received := func(queue int) *PickSocket {
		sk := connected(NoQueue)
		sk.RxQueue = queue
		return sk
	}
	cases := []struct {
		name string
		dev  TxDevice
		skb  PickSkb
		sk   *PickSocket
		want int
	}{
		{"CPU 1", TxDevice{Queues: 4, CPUMap: cpus}, on(outgoing, 1), nil, 3},
		{"CPU 2, high hash", TxDevice{Queues: 4, CPUMap: cpus}, on(outgoing, 2), nil, 2},
		{"CPU 2, low hash", TxDevice{Queues: 4, CPUMap: cpus}, on(low, 2), nil, 1},
		{"CPU without queues", TxDevice{Queues: 4, CPUMap: cpus}, on(low, 3), nil, 1},
		{"CPU beyond the map", TxDevice{Queues: 4, CPUMap: cpus}, on(low, 5), nil, 1},
		{"CPU's queue is gone", TxDevice{Queues: 4, CPUMap: cpus}, on(low, 4), nil, 1},
		{"receive queue before CPU", TxDevice{Queues: 4, CPUMap: cpus, RxMap: rxqs}, on(low, 0), received(0), 3},
		{"receive queue without queues", TxDevice{Queues: 4, CPUMap: cpus, RxMap: rxqs}, on(low, 0), received(1), 0},
		{"no receive queue", TxDevice{Queues: 4, CPUMap: cpus, RxMap: rxqs}, on(low, 0), received(NoQueue), 0},
		{"no socket", TxDevice{Queues: 4, RxMap: rxqs}, low, nil, 1},
		{"forwarded", TxDevice{Queues: 4}, PickSkb{Hash: 0xb0000000, RxQueue: 6}, nil, 2},
		{"forwarded, first queue", TxDevice{Queues: 4}, PickSkb{Hash: 0xb0000000, RxQueue: 0}, nil, 0},
		{"a class", TxDevice{Queues: 8, Offset: 4, InClass: 4}, outgoing, nil, 6},
		{"forwarded into its class", TxDevice{Queues: 8, Offset: 4, InClass: 2}, PickSkb{RxQueue: 5}, nil, 5},
		{"forwarded to the class's first", TxDevice{Queues: 8, Offset: 4, InClass: 2}, PickSkb{RxQueue: 4}, nil, 4},
		{"forwarded from below its class", TxDevice{Queues: 8, Offset: 4, InClass: 2}, PickSkb{RxQueue: 3}, nil, 5},
		{"forwarded, odd class", TxDevice{Queues: 8, Offset: 3, InClass: 2}, PickSkb{RxQueue: 4}, nil, 4},
		{"forwarded, odd class's first", TxDevice{Queues: 8, Offset: 3, InClass: 2}, PickSkb{RxQueue: 3}, nil, 3},
		{"a class beyond the queues", TxDevice{Queues: 4, Offset: 4, InClass: 4}, outgoing, nil, 0},
	}
	for _, c := range cases {
		if queue, why := Pick(PickCacheForever, c.dev, c.skb, c.sk, PickTime{}); queue != c.want || why != PickNew {
			t.Errorf("%s: queue %d, %s; want %d, new", c.name, queue, why, c.want)
		}
	}
}

// What today's kernel chooses is there, the hash reaches every queue, and a
// flow stays where it is while it has bytes on the way.
func TestPickProperties(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		dev := TxDevice{Queues: rapid.IntRange(1, 64).Draw(t, "queues")}
		if rapid.Bool().Draw(t, "xps") {
			dev.CPUMap = XPSMap{{0, 1}, {rapid.IntRange(0, 64).Draw(t, "mapped")}}
		}
		sk := connected(NoQueue)
		last := NoQueue
		for i := range 8 {
			skb := PickSkb{Hash: rapid.Uint32().Draw(t, "hash"), RxQueue: NoQueue, CPU: i % 3, OOOOkay: rapid.Bool().Draw(t, "ooo")}
			queue, why := Pick(PickCacheForever, dev, skb, sk, PickTime{})
			if queue < 0 || queue >= dev.Queues {
				t.Fatalf("queue %d of %d", queue, dev.Queues)
			}
			if last != NoQueue && !skb.OOOOkay && queue != last {
				t.Fatalf("%s: moved from %d to %d with bytes on the way", why, last, queue)
			}
			last = queue
		}
		n := uint32(dev.Queues)
		for q := range n {
			first := uint32((uint64(q)<<32 + uint64(n) - 1) / uint64(n)) // least hash of queue q
			if ReciprocalScale(first, n) != q || q > 0 && ReciprocalScale(first-1, n) != q-1 {
				t.Fatalf("queue %d of %d does not begin at hash %d", q, n, first)
			}
		}
	})
}
