// SPDX-License-Identifier: Apache-2.0

package analysis

import (
	"testing"

	"pgregory.net/rapid"
)

func TestGaps(t *testing.T) {
	var g gaps
	g.add(Span{100, 200})
	g.add(Span{10, 20})
	g.add(Span{150, 250})
	for _, c := range []struct {
		s    Span
		want bool
	}{
		{Span{0, 9}, false}, {Span{0, 10}, true}, {Span{21, 99}, false}, {Span{20, 20}, true},
		{Span{250, 250}, true}, {Span{251, 300}, false}, {Span{0, 300}, true},
	} {
		if got := g.within(c.s); got != c.want {
			t.Errorf("%v: %v", c.s, got)
		}
	}
}

// However many holes there are, none is forgotten and memory is bounded.
func TestGapsBounded(t *testing.T) {
	rapid.Check(t, func(d *rapid.T) {
		var g gaps
		n := rapid.IntRange(1, 3000).Draw(d, "n")
		step := rapid.Uint64Range(1, 1<<52).Draw(d, "step")
		for i := range uint64(n) {
			g.add(Span{i * step, i*step + step/3})
		}
		if len(g.windows) > maxGaps {
			d.Fatal(len(g.windows))
		}
		for i := range uint64(n) {
			if !g.within(Span{i * step, i * step}) {
				d.Fatalf("hole %d forgotten", i)
			}
		}
	})
}
