// SPDX-License-Identifier: Apache-2.0

package model

import (
	"testing"

	"pgregory.net/rapid"
)

func TestEnqueueVariants(t *testing.T) {
	want := map[Variant][]Fate{
		EnqueueBusylock:  {FateOwner, FateOwner, FateOwner, FateOwner, FateOwner, FateOwner},
		EnqueueDeferList: {FateOwner, FateDeferred, FateDeferred, FateDeferred, FateDropped, FateDropped},
	}
	burst := map[Variant]int{EnqueueBusylock: 1, EnqueueDeferList: 4}
	for enqueue, want := range want {
		e := Enqueue{Max: 3}
		for i, want := range want {
			if got := e.Add(enqueue); got != want {
				t.Errorf("%s: packet %d: %s, want %s", enqueue, i, got, want)
			}
			if soon := e.RunsSoon(); soon != (enqueue == EnqueueDeferList) {
				t.Errorf("%s: packet %d: a sender is known to wait: %t", enqueue, i, soon)
			}
		}
		if got := e.Take(enqueue); got != burst[enqueue] || e.RunsSoon() || e.Count != 0 {
			t.Errorf("%s: took %d, left %+v; want %d", enqueue, got, e, burst[enqueue])
		}
		if e.Add(enqueue) != FateOwner {
			t.Errorf("%s: nobody takes the lock after the burst", enqueue)
		}
	}
	for _, running := range []bool{false, true} {
		if !running == BusylockFirst(EnqueueBusylock, running) || BusylockFirst(EnqueueDeferList, running) {
			t.Errorf("running %t: the second lock is taken by the wrong ones", running)
		}
	}
}

func TestBypasses(t *testing.T) {
	for _, c := range []struct {
		burst, queued int
		running, want bool
	}{{1, 0, false, true}, {2, 0, false, false}, {1, 1, false, false}, {1, 0, true, false}} {
		if got := Bypasses(c.burst, c.queued, c.running); got != c.want {
			t.Errorf("%+v: %t", c, got)
		}
	}
}

// Every packet is enqueued once or dropped by its sender, each list has one
// owner, and none is longer than that owner and qdisc_max_burst more.
func TestEnqueueConserves(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		e := Enqueue{Max: rapid.IntRange(0, 10).Draw(t, "max")}
		owners, came, enqueued, dropped := 0, 0, 0, 0
		for range rapid.IntRange(1, 60).Draw(t, "steps") {
			if owners > 0 && rapid.IntRange(0, 4).Draw(t, "lock") == 0 {
				burst := e.Take(EnqueueDeferList)
				if burst < 1 || burst > 1+e.Max {
					t.Fatalf("a burst of %d with %d allowed", burst, e.Max)
				}
				enqueued += burst
				owners--
				continue
			}
			came++
			switch e.Add(EnqueueDeferList) {
			case FateOwner:
				owners++
			case FateDropped:
				dropped++
			}
			if owners != 1 {
				t.Fatalf("%d senders wait for the lock with a list of %d", owners, e.Skbs)
			}
		}
		if came != enqueued+dropped+e.Skbs {
			t.Fatalf("%d came; %d enqueued, %d dropped, %d wait", came, enqueued, dropped, e.Skbs)
		}
	})
}
