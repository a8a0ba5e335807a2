// SPDX-License-Identifier: Apache-2.0

package model

import (
	"errors"
	"testing"

	"pgregory.net/rapid"
)

// BQL stops the queue at the third of ten packets.
func TestXmitStopVariants(t *testing.T) {
	for stop, sent := range map[Variant]int{XmitStopAny: 3, XmitStopDrv: 10} {
		h := HandOver(stop, 10, func(i int, more bool) (bool, QueueState) {
			if i >= 2 {
				return true, QueueStack
			}
			return true, 0
		})
		if want := (Handover{Sent: sent, More: sent < 10}); h != want {
			t.Errorf("%s: %+v, want %+v", stop, h, want)
		}
		if got := LegalRemainder(stop, false, QueueStack); got != (stop == XmitStopAny) {
			t.Errorf("%s: a remainder with STACK only is legal: %t", stop, got)
		}
	}
}

func TestStartable(t *testing.T) {
	for s, want := range map[QueueState]bool{0: true, QueueDrv: false, QueueStack: false, QueueFrozen: false, 1 << 3: true} {
		if Startable(s) != want {
			t.Errorf("state %b: startable %t, want %t", s, !want, want)
		}
	}
}

// A burst of five that goes over the limit with its second packet.
func TestDoorbellVariants(t *testing.T) {
	want := map[Variant]struct {
		rings  []bool
		states []QueueState
	}{
		// 004: not more, or the queue is stopped; so each packet after STACK.
		DoorbellSegments: {[]bool{false, true, true, true, true}, []QueueState{0, QueueStack, QueueStack, QueueStack, QueueStack}},
		DoorbellAnyStop:  {[]bool{false, true, true, true, true}, []QueueState{0, QueueStack, QueueStack, QueueStack, QueueStack}},
		DoorbellDrvStop:  {[]bool{false, false, false, false, true}, []QueueState{0, 0, 0, 0, QueueStack}},
	}
	for doorbell, want := range want {
		d := NewDQL(1000, 0)
		d.Limit, d.AdjLimit = 2000, 2000
		var s QueueState
		for i := range 5 {
			var ring bool
			var err error
			s, ring, err = d.Charge(doorbell, DQLObjectWarn, 1514, i < 4, s)
			if err != nil || ring != want.rings[i] || s != want.states[i] {
				t.Errorf("%s: packet %d: ring %t, state %b, %v; want %t, %b", doorbell, i, ring, s, err, want.rings[i], want.states[i])
			}
		}
		if d.NumQueued != 5*1514 {
			t.Errorf("%s: %d bytes charged", doorbell, d.NumQueued)
		}
	}
	for doorbell := range want {
		if !Rings(doorbell, true, QueueDrv) {
			t.Errorf("%s: no doorbell although the driver stopped its queue mid-burst", doorbell)
		}
	}
}

func TestCompleteClears(t *testing.T) {
	cases := []struct {
		name            string
		limit, queued   uint32
		bytes           uint32
		s, want         QueueState
		scheduled, fail bool
	}{
		{"room again", 2000, 2500, 1000, QueueStack, 0, true, false},
		{"still over", 2000, 9000, 1000, QueueStack, QueueStack, false, false},
		{"was not stopped", 2000, 1000, 1000, QueueDrv, QueueDrv, false, false},
		{"the driver's own stop stays", 2000, 2500, 1000, QueueStack | QueueDrv, QueueDrv, true, false},
		{"nothing sent", 2000, 1000, 0, QueueStack, QueueStack, false, false},
		{"more than in flight", 2000, 1000, 1001, QueueStack, QueueStack, false, true},
	}
	for _, c := range cases {
		d := NewDQL(1000, 0)
		d.Limit, d.AdjLimit, d.NumQueued = c.limit, c.limit, c.queued
		s, scheduled, err := d.Complete(c.bytes, 1, c.s)
		if s != c.want || scheduled != c.scheduled || (err != nil) != c.fail {
			t.Errorf("%s: state %b, scheduled %t, %v; want %b, %t", c.name, s, scheduled, err, c.want, c.scheduled)
		}
	}
}

// Whatever the driver does: packets are sent in order and once, what the
// driver is told agrees with ExpectedMore, a remainder is legal, and a burst
// never ends without a doorbell.
func TestHandOver(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		stop := rapid.SampledFrom([]Variant{XmitStopAny, XmitStopDrv}).Draw(t, "stop")
		doorbell := map[Variant]Variant{XmitStopAny: DoorbellAnyStop, XmitStopDrv: DoorbellDrvStop}[stop]
		n := rapid.IntRange(1, 20).Draw(t, "n")
		d := NewDQL(1000, 0)
		d.Limit, d.AdjLimit = 8000, 8000
		next, owed, state := 0, false, QueueState(0)
		h := HandOver(stop, n, func(i int, more bool) (bool, QueueState) {
			if i != next {
				t.Fatalf("packet %d after %d packets", i, next)
			}
			if rapid.IntRange(0, 15).Draw(t, "busy") == 0 {
				return false, state
			}
			next++
			state |= rapid.SampledFrom([]QueueState{0, 0, 0, 0, 0, QueueDrv}).Draw(t, "drv")
			var ring bool
			var err error
			state, ring, err = d.Charge(doorbell, DQLObjectWarn, 1514, more, state)
			if err != nil {
				t.Fatal(err)
			}
			owed = !ring
			return true, state
		})
		if h.Sent != next {
			t.Fatalf("%+v, %d packets were taken", h, next)
		}
		if want := ExpectedMore(n-h.Sent, h.Busy); h.More != want {
			t.Fatalf("%+v of %d: more at the end, want %t", h, n, want)
		}
		if h.Sent < n && !LegalRemainder(stop, h.Busy, state) {
			t.Fatalf("%+v of %d: remainder in state %b is not legal", h, n, state)
		}
		// 000: "we are screwed", the frame before a refused one waits.
		if owed && !h.Busy {
			t.Fatalf("%+v of %d: a doorbell is owed in state %b", h, n, state)
		}
	})
}

func TestExpectedMore(t *testing.T) {
	cases := []struct {
		remainder  int
		busy, want bool
	}{
		{0, false, false},
		{1, false, true},
		{4, false, true},
		{4, true, true},
		{1, true, false}, // the last one of the list was refused
	}
	for _, c := range cases {
		if got := ExpectedMore(c.remainder, c.busy); got != c.want {
			t.Errorf("%+v: got %t", c, got)
		}
	}
}

// BQL stops a queue that is over its limit, not one that is at it.
func TestChargeAtTheLimit(t *testing.T) {
	d := NewDQL(1000, 0)
	d.Limit, d.AdjLimit = 2000, 2000
	for _, want := range []QueueState{0, QueueStack} {
		s, _, err := d.Charge(DoorbellDrvStop, DQLObjectWarn, 2000, false, 0)
		if s != want || err != nil {
			t.Errorf("%d of 2000 bytes: state %b, %v; want %b", d.NumQueued, s, err, want)
		}
	}
	s, ring, err := d.Charge(DoorbellDrvStop, DQLObjectBug, DQLMaxObject+1, true, QueueDrv)
	if s != QueueDrv || ring || !errors.Is(err, ErrBug) {
		t.Errorf("a giant object: state %b, ring %t, %v; want ErrBug and nothing changed", s, ring, err)
	}
	d.NumQueued = d.NumCompleted + 3000
	d.Limit = 2000
	if s, _, err := d.Complete(1000, 1, QueueStack); d.Avail() != 0 || s != 0 || err != nil {
		t.Errorf("a completion that leaves avail at %d: state %b, %v; want 0, started", d.Avail(), s, err)
	}
}

// What HandOver plays is conserved; one packet more or less, or a refused one
// that is not left, is not.
func TestConserved(t *testing.T) {
	for n := 1; n <= 5; n++ {
		for refuse := 0; refuse <= n; refuse++ {
			h := HandOver(XmitStopDrv, n, func(i int, _ bool) (bool, QueueState) { return i != refuse, 0 })
			attempts, busy := h.Sent, 0
			if h.Busy {
				attempts, busy = attempts+1, 1
			}
			rest := n - h.Sent
			if !Conserved(n, attempts, busy, rest) {
				t.Errorf("%d, %d refused: %d attempts, %d left: not conserved", n, refuse, attempts, rest)
			}
			for _, wrong := range [][4]int{
				{n + 1, attempts, busy, rest}, {n, attempts + 1, busy, rest}, {n, attempts, busy, rest + 1},
				{n, attempts, 1 - busy, rest}, {n, attempts, 2, rest + 2 - busy}, {n, 0, 1, n + 1},
				{n, n + 1, 1, 0},
			} {
				if Conserved(wrong[0], wrong[1], wrong[2], wrong[3]) {
					t.Errorf("%v: conserved", wrong)
				}
			}
		}
	}
}
