// SPDX-License-Identifier: Apache-2.0

package statistics

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/stat"
)

// Summary describes one set.
type Summary struct {
	N      int
	Mean   float64
	SD     float64 // of the sample (n - 1), NaN for one run
	Median float64
}

// Summarize describes a set of one run at least.
func Summarize(x []float64) Summary {
	s := Summary{N: len(x), Median: median(x)}
	s.Mean, s.SD = stat.MeanStdDev(x, nil)
	if slices.Min(x) == slices.Max(x) { // rounding is no spread
		s.Mean, s.SD = x[0], 0
	}
	if s.N < 2 {
		s.SD = math.NaN()
	}
	return s
}

func median(x []float64) float64 {
	s := slices.Sorted(slices.Values(x))
	n := len(s)
	return (s[(n-1)/2] + s[n/2]) / 2
}

// Percent is a difference in percent of what it is a change of. Of zero, no
// change is 0 and any other is infinite.
func Percent(from, diff float64) float64 {
	if diff == 0 {
		return 0
	}
	return 100 * diff / math.Abs(from)
}
