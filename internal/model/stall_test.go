// SPDX-License-Identifier: Apache-2.0

package model

import "testing"

func TestStall(t *testing.T) {
	cases := []struct {
		name      string
		threshold uint16
		queued    []uint64 // after a reset at 1000
		done      uint64
		want      uint64
	}{
		{"off", 0, []uint64{1001}, 9000, 0},
		{"prompt", 100, []uint64{1001}, 1099, 0},
		{"stalled", 100, []uint64{1001}, 1100, 99},
		{"queued in the first half", 100, []uint64{1050}, 1100, 50},
		{"queued in the second half", 100, []uint64{1051}, 1100, 0},
		{"nothing queued", 100, nil, 1100, 0},
		{"at the reset", 100, []uint64{1000}, 1100, 0},
		{"the first of several", 100, []uint64{1010, 1020, 1099}, 1110, 100},
		{"long, and out of the history", 100, []uint64{1001, 1300}, 1400, 100},
		{"after a long rest", 100, []uint64{5000}, 5100, 100},
		{"longer than the history", 100, []uint64{1001}, 3000, 1999},
	}
	for _, c := range cases {
		var s Stall
		s.Reset(1000)
		s.Threshold = c.threshold
		for _, now := range c.queued {
			s.Queued(now)
		}
		got := s.Completed(c.done)
		if got != c.want || uint64(s.Max) != c.want || (s.Count == 1) != (c.want > 0) {
			t.Errorf("%s: stalled %d, max %d, %d of them; want %d", c.name, got, s.Max, s.Count, c.want)
		}
		if c.threshold != 0 && s.LastReap != c.done {
			t.Errorf("%s: last completion at %d, want %d", c.name, s.LastReap, c.done)
		}
	}
}

// A completion starts the watch anew; the longest stall stays.
func TestStallTwice(t *testing.T) {
	var s Stall
	s.Threshold = 10
	s.Queued(1)
	if got := s.Completed(41); got != 40 {
		t.Errorf("first: %d, want 40", got)
	}
	s.Queued(42)
	if got := s.Completed(62); got != 20 || s.Max != 40 || s.Count != 2 {
		t.Errorf("second: %d, max %d, %d of them; want 20, 40, 2", got, s.Max, s.Count)
	}
	s.Reset(70)
	if s.Max != 40 || s.Count != 2 || s.History != [stallWords]uint64{} || s.Head != 1 || s.LastReap != 70 {
		t.Errorf("after a reset: %+v", s)
	}
}
