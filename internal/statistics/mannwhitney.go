// SPDX-License-Identifier: Apache-2.0

package statistics

import (
	"cmp"
	"math"
	"slices"

	"gonum.org/v1/gonum/stat/distuv"
)

// exactRuns is up to how many runs of both sets together the distribution of U
// is counted. Beyond, the normal one is closer than anybody reads.
const exactRuns = 40

// MannWhitney is the test of Mann, Whitney and Wilcoxon: whether a run of one
// set tends to be above one of the other.
type MannWhitney struct {
	U     float64 // pairs in which B's is greater, ties half
	P     float64
	Exact bool // counted, not by the normal distribution
}

// MannWhitneyTest needs one run of each set.
//
// Decision: small sets are counted with their ties, given which runs are tied;
// without ties that is the distribution found in tables. Large sets go by the
// normal distribution, corrected for ties and for U being a whole number.
func MannWhitneyTest(a, b []float64, alt Alternative) (MannWhitney, bool) {
	if len(a) == 0 || len(b) == 0 {
		return MannWhitney{}, false
	}
	ranks, sum := doubledRanks(a, b)
	n, m := len(a), len(b)
	least := m * (m + 1) // the doubled ranks of B when it is below all of A
	t := MannWhitney{U: float64(sum-least) / 2, Exact: n+m <= exactRuns}
	low, high := normalTails(ranks, n, m, t.U)
	if t.Exact {
		low, high = tails(rankSums(ranks, m), sum)
	}
	switch alt {
	case Greater:
		t.P = high
	case Less:
		t.P = low
	default:
		t.P = min(1, 2*min(low, high))
	}
	return t, true
}

// doubledRanks are the ranks of all runs times two, which makes those of ties
// whole numbers, in order, and their sum over b.
func doubledRanks(a, b []float64) (ranks []int, sum int) {
	type run struct {
		x   float64
		ofB bool
	}
	var all []run
	for _, x := range a {
		all = append(all, run{x, false})
	}
	for _, x := range b {
		all = append(all, run{x, true})
	}
	slices.SortFunc(all, func(p, q run) int { return cmp.Compare(p.x, q.x) })
	for i := 0; i < len(all); {
		j := i
		for j < len(all) && all[j].x == all[i].x {
			j++
		}
		for _, r := range all[i:j] {
			ranks = append(ranks, i+1+j)
			if r.ofB {
				sum += i + 1 + j
			}
		}
		i = j
	}
	return ranks, sum
}

// rankSums counts the ways to choose m of the ranks by their sum.
func rankSums(ranks []int, m int) []float64 {
	total := 0
	for _, r := range ranks {
		total += r
	}
	ways := make([][]float64, m+1)
	for k := range ways {
		ways[k] = make([]float64, total+1)
	}
	ways[0][0] = 1
	seen := 0
	for i, r := range ranks {
		seen += r
		for k := min(i+1, m); k > 0; k-- {
			for s := seen; s >= r; s-- {
				ways[k][s] += ways[k-1][s-r]
			}
		}
	}
	return ways[m]
}

// tails are the shares of the ways up to a sum and from it on.
func tails(ways []float64, sum int) (low, high float64) {
	var all float64
	for s, w := range ways {
		all += w
		if s <= sum {
			low += w
		}
		if s >= sum {
			high += w
		}
	}
	return low / all, high / all
}

func normalTails(ranks []int, n, m int, u float64) (low, high float64) {
	a, b := float64(n), float64(m)
	all := a + b
	var ties float64
	for i := 0; i < len(ranks); {
		j := i
		for j < len(ranks) && ranks[j] == ranks[i] {
			j++
		}
		t := float64(j - i)
		ties += t*t*t - t
		i = j
	}
	sd := math.Sqrt(a * b / 12 * (all + 1 - ties/(all*(all-1))))
	if !(sd > 0) {
		return 1, 1 // all are tied
	}
	d := u - a*b/2
	return distuv.UnitNormal.CDF((d + 0.5) / sd), distuv.UnitNormal.Survival((d - 0.5) / sd)
}
