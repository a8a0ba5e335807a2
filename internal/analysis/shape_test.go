// SPDX-License-Identifier: Apache-2.0

package analysis

import (
	"math"
	"slices"
	"testing"
)

func sampleOf(values ...uint32) *Sample {
	s := &Sample{}
	for _, v := range values {
		s.add(v)
	}
	return s
}

func TestSample(t *testing.T) {
	s := sampleOf(5, 1, 1, 1, 2, 3, 4, 65, 65, 65)
	for p, want := range map[int]uint32{0: 1, 10: 1, 30: 1, 40: 2, 50: 3, 70: 5, 71: 65, 99: 65, 100: 65} {
		if got := s.Percentile(p); got != want {
			t.Errorf("p%d is %d, want %d", p, got, want)
		}
	}
	if s.Mean() != 21.2 || s.Max() != 65 || s.Count() != 10 {
		t.Errorf("mean %v, max %d, count %d", s.Mean(), s.Max(), s.Count())
	}
	if got, want := sampleOf(3, 1, 3).Counts(), []Count{{1, 1}, {3, 2}}; !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
	none := sampleOf()
	if none.Mean() != 0 || none.Max() != 0 || none.Percentile(50) != 0 {
		t.Errorf("of none: mean %v, max %d", none.Mean(), none.Max())
	}
}

func TestDistances(t *testing.T) {
	for _, c := range []struct {
		a, b                 *Sample
		variation, transport float64
	}{
		{sampleOf(1, 2, 3), sampleOf(3, 2, 1), 0, 0},
		{sampleOf(1, 1), sampleOf(2, 2, 2), 1, 1},
		{sampleOf(1, 1, 1, 65), sampleOf(1, 1, 65, 65), 0.25, 16},
		{sampleOf(1, 3), sampleOf(2, 4), 1, 1}, // neighbours: nothing in common, and yet near
		{sampleOf(25146, 25146), sampleOf(25418), 1, 272},
		{sampleOf(), sampleOf(), 0, 0},
	} {
		for _, pair := range [][2]*Sample{{c.a, c.b}, {c.b, c.a}} {
			if d := pair[0].Variation(pair[1]); math.Abs(d-c.variation) > 1e-9 {
				t.Errorf("%v %v: variation %v, want %v", pair[0].values, pair[1].values, d, c.variation)
			}
			if d := pair[0].Transport(pair[1]); math.Abs(d-c.transport) > 1e-9 {
				t.Errorf("%v %v: transport %v, want %v", pair[0].values, pair[1].values, d, c.transport)
			}
		}
	}
}
