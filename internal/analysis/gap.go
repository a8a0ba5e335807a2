// SPDX-License-Identifier: Apache-2.0

package analysis

import "math"

// gaps remembers the times at which records are missing. Memory is bounded:
// when there are too many holes, neighbours are joined, which only makes more
// time unknown.
type gaps struct {
	windows []Span // by From, not overlapping
	slack   uint64 // neighbours this close were joined to make room
}

const maxGaps = 1024

// add notes that records of a time are missing.
func (g *gaps) add(s Span) {
	i := len(g.windows)
	for i > 0 && g.windows[i-1].From > s.From {
		i--
	}
	g.windows = append(g.windows, Span{})
	copy(g.windows[i+1:], g.windows[i:])
	g.windows[i] = s
	g.join(0)
	if len(g.windows) <= maxGaps {
		return
	}
	for g.slack = max(g.slack, 1<<18); len(g.windows) > maxGaps/2; {
		g.join(g.slack)
		if g.slack > math.MaxUint64/4 {
			g.slack = math.MaxUint64
		} else {
			g.slack *= 4
		}
	}
}

// join merges windows that are no further apart than slack.
func (g *gaps) join(slack uint64) {
	out := g.windows[:1]
	for _, w := range g.windows[1:] {
		last := &out[len(out)-1]
		if w.From <= last.To || w.From-last.To <= slack {
			last.To = max(last.To, w.To)
			continue
		}
		out = append(out, w)
	}
	g.windows = out
}

// within says whether records of some moment in s are missing.
func (g *gaps) within(s Span) bool {
	lo, hi := 0, len(g.windows)
	for lo < hi { // first window that ends at or after s.From
		if m := (lo + hi) / 2; g.windows[m].To < s.From {
			lo = m + 1
		} else {
			hi = m
		}
	}
	return lo < len(g.windows) && g.windows[lo].From <= s.To
}
