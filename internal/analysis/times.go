// SPDX-License-Identifier: Apache-2.0

package analysis

import (
	"math"
	"math/bits"
)

// binBits is how finely times are counted: each power of two has 2^binBits
// bins, so that a quantile is off by less than an eighth.
const binBits = 3

// Times is a distribution of times in ns. Of the quantiles, which are those of
// its bins, none is too small.
type Times struct {
	Dist
	P50  U64   `json:"p50"`
	P99  U64   `json:"p99"`
	P999 U64   `json:"p99_9"`
	Bins []Bin `json:"bins"` // those with a count
}

// Bin counts times from NS to the next bin, of which there are eight to each
// power of two.
type Bin struct {
	NS    U64 `json:"ns"`
	Count U64 `json:"count"`
}

// times counts times. Its memory is bounded.
type times struct {
	Dist
	bins []uint64
}

func (t *times) add(ns uint64) {
	t.Dist.add(ns)
	t.count(ns, 1)
}

// count counts in the bin of a time.
func (t *times) count(ns, n uint64) {
	i := binOf(ns)
	for i >= len(t.bins) {
		t.bins = append(t.bins, 0)
	}
	t.bins[i] += n
}

// binOf is the bin that a time is counted in.
func binOf(ns uint64) int {
	over := bits.Len64(ns >> (binBits + 1))
	return over<<binBits + int(ns>>over)
}

// binBegin is the least time of a bin.
func binBegin(i int) uint64 {
	over := max(i>>binBits-1, 0)
	return uint64(i-over<<binBits) << over
}

// report is the distribution with its quantiles.
func (t *times) report() Times {
	r := Times{Dist: t.Dist}
	for i, n := range t.bins {
		if n > 0 {
			r.Bins = append(r.Bins, Bin{U64(binBegin(i)), U64(n)})
		}
	}
	r.P50, r.P99, r.P999 = t.quantile(0.5), t.quantile(0.99), t.quantile(0.999)
	return r
}

// quantile is the end of the bin in which the share is reached.
func (t *times) quantile(share float64) U64 {
	left := U64(math.Ceil(share * float64(t.Count)))
	for i, n := range t.bins {
		if U64(n) >= left && left > 0 {
			return min(t.Max, U64(binBegin(i+1)-1))
		}
		left -= min(left, U64(n))
	}
	return 0
}

// merge adds what was counted elsewhere.
func (t *times) merge(o Times) {
	t.Dist = MergeDists(t.Dist, o.Dist)
	for _, b := range o.Bins {
		t.count(uint64(b.NS), uint64(b.Count))
	}
}

// MergeTimes is the distribution of both.
func MergeTimes(a, b Times) Times {
	var t times
	t.merge(a)
	t.merge(b)
	return t.report()
}
