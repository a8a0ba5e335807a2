// SPDX-License-Identifier: Apache-2.0

package model

import "testing"

func TestDoorbellRings(t *testing.T) {
	cases := []struct {
		more               bool
		s                  QueueState
		segments, any, drv bool
	}{
		{false, 0, true, true, true},
		{true, 0, false, false, false},
		{true, QueueDrv, true, true, true},
		{true, QueueStack, true, true, false},
		{true, QueueFrozen, false, false, false},
		{false, QueueStack, true, true, true},
	}
	for _, c := range cases {
		for doorbell, want := range map[Variant]bool{DoorbellSegments: c.segments, DoorbellAnyStop: c.any, DoorbellDrvStop: c.drv} {
			if got := Rings(doorbell, c.more, c.s); got != want {
				t.Errorf("%s: more %t, state %b: rings %t, want %t", doorbell, c.more, c.s, got, want)
			}
		}
	}
}

// Three packets, the second one of three segments: only that list is told of
// more under the oldest variant.
func TestDoorbellMore(t *testing.T) {
	segment := []bool{false, true, true, false, false} // the next is of the same skb
	for doorbell, want := range map[Variant][]bool{
		DoorbellSegments: {false, true, true, false, false},
		DoorbellAnyStop:  {true, true, true, true, false},
		DoorbellDrvStop:  {true, true, true, true, false},
	} {
		for i := range segment {
			if got := More(doorbell, i < len(segment)-1, segment[i]); got != want[i] {
				t.Errorf("%s: packet %d: more %t, want %t", doorbell, i, got, want[i])
			}
		}
	}
}
