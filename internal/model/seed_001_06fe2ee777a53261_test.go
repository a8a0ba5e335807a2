// SPDX-License-Identifier: Apache-2.0

package model

import (
	"math"
	"testing"
)

// The four patches and the table of the thread on queue selection.

// "the first run of dev_pick_tx saves the calculated txq ... Next iterations
// use the cached value": a connected socket computes once, whatever changes.
func TestSeed001_CachedPick(t *testing.T) {
	dev := TxDevice{Queues: 8}
	sk := connected(NoQueue)
	count := make(map[PickReason]int)
	for i := range 1000 {
		skb := PickSkb{Hash: uint32(i) << 22, RxQueue: NoQueue, OOOOkay: i%7 == 0}
		queue, why := Pick(PickCacheUnchecked, dev, skb, sk, PickTime{})
		count[why]++
		if queue != 0 {
			t.Fatalf("skb %d: queue %d, want the first one's, 0", i, queue)
		}
	}
	t.Logf("1000 skbs: %d computed, %d cached", count[PickNew], count[PickHit])
	if count[PickNew] != 1 || count[PickHit] != 999 {
		t.Errorf("%v, want 1 computed", count)
	}
}

// "This is not saved if either the device has a queue select or the socket is
// not connected."
func TestSeed001_NotSaved(t *testing.T) {
	sk := connected(NoQueue)
	Pick(PickCacheUnchecked, TxDevice{Queues: 8, Select: func() int { return 5 }}, outgoing, sk, PickTime{})
	if sk.Queue != NoQueue {
		t.Errorf("the driver's choice, %d, is saved", sk.Queue)
	}
	sk.Route = false
	Pick(PickCacheUnchecked, TxDevice{Queues: 8}, outgoing, sk, PickTime{})
	if sk.Queue != NoQueue {
		t.Errorf("the choice for a socket without route, %d, is saved", sk.Queue)
	}
	if queue, why := Pick(PickCacheUnchecked, TxDevice{Queues: 8}, outgoing, nil, PickTime{}); queue != 5 || why != PickNew {
		t.Errorf("no socket: queue %d, %s; want the hash's, 5", queue, why)
	}
}

// "Reset sk_tx_queue_mapping to -1 whenever the dst cache is set/reset, and in
// socket alloc" (1/4, and for IPv6 2/4), and with negative advice (3/4).
func TestSeed001_Cleared(t *testing.T) {
	cases := []struct {
		name  string
		event func(*PickSocket)
		queue int
		route bool
	}{
		{"1/4: a socket is set", (*PickSocket).SetOwner, NoQueue, true},
		{"1/4: a route is set", func(s *PickSocket) { s.SetRoute(true) }, NoQueue, true},
		{"1/4, 2/4: the route is reset", func(s *PickSocket) { s.SetRoute(false) }, NoQueue, false},
		{"1/4: the route is obsolete", func(s *PickSocket) { s.CheckRoute(true) }, NoQueue, false},
		{"the route is good", func(s *PickSocket) { s.CheckRoute(false) }, 3, true},
		{"3/4: negative advice is taken", func(s *PickSocket) { s.NegativeAdvice(true) }, NoQueue, false},
		{"negative advice is not taken", func(s *PickSocket) { s.NegativeAdvice(false) }, 3, true},
	}
	for _, c := range cases {
		sk := connected(3)
		c.event(sk)
		t.Logf("%s: queue %d", c.name, sk.Queue)
		if sk.Queue != c.queue || sk.Route != c.route {
			t.Errorf("%s: queue %d, route %t; want %d, %t", c.name, sk.Queue, sk.Route, c.queue, c.route)
		}
		want := map[int]PickReason{NoQueue: PickNew, 3: PickHit}[c.queue]
		if _, why := Pick(PickCacheUnchecked, TxDevice{Queues: 8}, outgoing, sk, PickTime{}); why != want {
			t.Errorf("%s: then %s, want %s", c.name, why, want)
		}
	}
	// There is no route to be obsolete.
	sk := &PickSocket{Queue: 3}
	if sk.CheckRoute(true); sk.Queue != 3 {
		t.Error("a route that is not there was given up")
	}
}

// "Cycles/Iter": 320 to 152 and 300 to 98. What the model knows of it is which
// part of the path a hit leaves out; the ratios are the table's.
func TestSeed001_Cycles(t *testing.T) {
	for _, c := range []struct {
		org, now           float64 // cycles an iteration, as printed
		orgAll, orgIters   float64 // billions and millions
		nowAll, nowIters   float64
		ratio              float64
		roughOrg, roughNow float64 // of the printed totals
	}{
		{320, 152, 3.98, 12.47, 1.95, 12.92, 0.475, 319, 151},
		{300, 98, 8.92, 29.66, 3.82, 38.88, 0.327, 301, 98},
	} {
		ratio := c.now / c.org
		t.Logf("%.0f to %.0f cycles: %.3f", c.org, c.now, ratio)
		if math.Round(1000*ratio) != 1000*c.ratio {
			t.Errorf("%.0f to %.0f: %.4f, want %.3f", c.org, c.now, ratio, c.ratio)
		}
		// The table's own totals give a cycle more or less: it divided first.
		org, now := math.Round(c.orgAll*1e3/c.orgIters), math.Round(c.nowAll*1e3/c.nowIters)
		if org != c.roughOrg || now != c.roughNow {
			t.Errorf("the totals give %.0f and %.0f, want %.0f and %.0f", org, now, c.roughOrg, c.roughNow)
		}
	}
}
