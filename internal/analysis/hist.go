// SPDX-License-Identifier: Apache-2.0

package analysis

import "math/bits"

// exactSizes is up to which size a histogram counts each one by itself; larger
// ones are counted under the power of two below them.
const exactSizes = 4096

// hist counts sizes. Its memory is bounded.
type hist struct {
	exact []uint64
	large [33]uint64 // by bits
}

func (h *hist) add(n uint32) { h.addTimes(n, 1) }

func (h *hist) addTimes(n uint32, times uint64) {
	if n > exactSizes {
		h.large[bits.Len32(n)] += times
		return
	}
	for int(n) >= len(h.exact) {
		h.exact = append(h.exact, 0)
	}
	h.exact[n] += times
}

// counts lists the sizes that occurred.
func (h *hist) counts() []Count {
	var cs []Count
	for n, c := range h.exact {
		if c > 0 {
			cs = append(cs, Count{uint32(n), U64(c)})
		}
	}
	for b, c := range h.large {
		if c > 0 {
			cs = append(cs, Count{1 << (b - 1), U64(c)})
		}
	}
	return cs
}

func (d *Dist) add(v uint64) {
	if d.Count == 0 || U64(v) < d.Min {
		d.Min = U64(v)
	}
	d.Max = max(d.Max, U64(v))
	d.Count++
	d.Sum += U64(v)
	d.Mean = float64(d.Sum) / float64(d.Count)
}

// MergeDists is the distribution of both.
func MergeDists(a, b Dist) Dist {
	switch {
	case a.Count == 0:
		return b
	case b.Count == 0:
		return a
	}
	d := Dist{Count: a.Count + b.Count, Sum: a.Sum + b.Sum, Min: min(a.Min, b.Min), Max: max(a.Max, b.Max)}
	d.Mean = float64(d.Sum) / float64(d.Count)
	return d
}

// tallyBy counts by a small number, to be named at the end.
type tallyBy [8]uint64

// named makes the map of a report: what occurred, by name.
func named[S ~string](t tallyBy, names ...S) map[string]U64 {
	m := make(map[string]U64)
	for i, name := range names {
		if t[i] > 0 {
			m[string(name)] = U64(t[i])
		}
	}
	return m
}
