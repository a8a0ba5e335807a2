// SPDX-License-Identifier: Apache-2.0

package statistics

import (
	"math"
	"math/rand/v2"
	"os"
	"strconv"
	"testing"

	"gonum.org/v1/gonum/stat/distuv"
)

// cases is how many comparisons a simulation makes: 10^4, or TXTRACE_CASES
// when that is more.
func cases(t *testing.T) int {
	t.Helper()
	n, err := strconv.Atoi(os.Getenv("TXTRACE_CASES"))
	if err != nil || n < 10_000 {
		return 10_000
	}
	return n
}

// normal draws runs of a normal distribution.
func normal(r *rand.Rand, n int, mean, sd float64) []float64 {
	x := make([]float64, n)
	for i := range x {
		x[i] = mean + sd*r.NormFloat64()
	}
	return x
}

// held puts runs at a limit.
func held(x []float64, limit float64) []float64 {
	for i := range x {
		x[i] = min(x[i], limit)
	}
	return x
}

// counted says whether a number of hits lies within the 99 % interval of what
// is to be expected.
func counted(t *testing.T, what string, hits int, expected, variance float64) {
	t.Helper()
	if d := math.Abs(float64(hits) - expected); d > 2.576*math.Sqrt(variance)+1 {
		t.Errorf("%s: %d, %.1f expected", what, hits, expected)
	}
}

const level = 0.05

// Two sets of one distribution differ at the stated level as often as it says.
// Small ones do a little less often: Welch's t is cautious there.
func TestWelchOfNothing(t *testing.T) {
	r := rand.New(rand.NewPCG(6, 1))
	all := float64(cases(t))
	for _, alt := range []Alternative{Different, Greater, Less} {
		counted(t, "rejected", rejected(t, r, 20, alt), level*all, level*(1-level)*all)
	}
	if got := float64(rejected(t, r, 5, Different)) / all; got < 0.04 || got > level {
		t.Errorf("sets of five: %v rejected", got)
	}
}

// rejected counts the comparisons of n runs with n that reject.
func rejected(t *testing.T, r *rand.Rand, n int, alt Alternative) (hits int) {
	t.Helper()
	for range cases(t) {
		w, ok := WelchTest(normal(r, n, 100, 3), normal(r, n, 100, 3), alt)
		if !ok {
			t.Fatal("no test")
		}
		if w.P < level {
			hits++
		}
	}
	return hits
}

// attained is the largest probability not above the level that U can have of
// the tails that a test would reject in.
func attained(a, b []float64, alt Alternative) float64 {
	ranks, _ := doubledRanks(a, b)
	ways := rankSums(ranks, len(b))
	var size, all float64
	for _, w := range ways {
		all += w
	}
	for s, w := range ways {
		low, high := tails(ways, s)
		p := map[Alternative]float64{Different: min(1, 2*min(low, high)), Greater: high, Less: low}[alt]
		if w > 0 && p < level {
			size += w / all
		}
	}
	return size
}

// U has few values in small sets, fewer with ties: the level is the largest
// that it can attain below the stated one.
func TestMannWhitneyOfNothing(t *testing.T) {
	r := rand.New(rand.NewPCG(6, 2))
	for _, c := range []struct {
		what  string
		n, m  int
		limit float64
	}{{"small", 5, 5, 1e9}, {"uneven", 4, 7, 1e9}, {"held", 6, 6, 100}} {
		for _, alt := range []Alternative{Different, Greater} {
			hits, expected, variance := 0, 0.0, 0.0
			known := -1.0
			for range cases(t) {
				a, b := held(normal(r, c.n, 100, 3), c.limit), held(normal(r, c.m, 100, 3), c.limit)
				p, _ := MannWhitneyTest(a, b, alt)
				if p.P < level {
					hits++
				}
				size := known
				if size < 0 {
					size = attained(a, b, alt)
				}
				if c.what != "held" {
					known = size // no ties: always the same
				}
				expected += size
				variance += size * (1 - size)
			}
			counted(t, c.what, hits, expected, variance)
		}
	}
	const n = 25
	hits, all, size := 0, float64(cases(t)), attainedByNormal(n, n)
	if size < 0.9*level || size > level {
		t.Errorf("large: the level of %v is one of %v", level, size)
	}
	for range cases(t) {
		w, _ := MannWhitneyTest(normal(r, n, 100, 3), normal(r, n, 100, 3), Different)
		if w.Exact {
			t.Fatal("exact")
		}
		if w.P < level {
			hits++
		}
	}
	counted(t, "large", hits, size*all, size*(1-size)*all)
}

// attainedByNormal is the probability, counted, of the U of sets without ties
// that the normal distribution rejects: U is a whole number in large sets, too.
func attainedByNormal(n, m int) (size float64) {
	ranks := make([]int, n+m)
	for i := range ranks {
		ranks[i] = 2 * (i + 1)
	}
	ways := rankSums(ranks, m)
	var all float64
	for _, w := range ways {
		all += w
	}
	for s, w := range ways {
		low, high := normalTails(ranks, n, m, float64(s-m*(m+1))/2)
		if 2*min(low, high) < level {
			size += w / all
		}
	}
	return size
}

// power of Welch's test of two sets of n runs, of one SD, at the level: the
// non-central t distribution, integrated over what the sum of both variances
// is found to be, and over the share that the first has in it, by which Welch
// chooses the degrees of freedom. Share and sum are independent.
func power(n int, diff float64) float64 {
	df := float64(n - 1)
	shift := diff / math.Sqrt(2/float64(n))
	chi, beta := distuv.ChiSquared{K: 2 * df}, distuv.Beta{Alpha: df / 2, Beta: df / 2}
	var p float64
	const step, part = 0.05, 0.01
	for share := part / 2; share < 1; share += part {
		nu := df / (share*share + (1-share)*(1-share))
		critical := distuv.StudentsT{Sigma: 1, Nu: nu}.Quantile(1 - level/2)
		for x := step / 2; x < 8*df+40; x += step {
			s := math.Sqrt(x / (2 * df))
			p += part * beta.Prob(share) * step * chi.Prob(x) *
				(distuv.UnitNormal.Survival(critical*s-shift) + distuv.UnitNormal.CDF(-critical*s-shift))
		}
	}
	return p
}

// A change of 1 % in runs that spread by 1 % is found as often as theory says,
// and its interval holds it at least 95 times of 100.
func TestPlantedChange(t *testing.T) {
	r := rand.New(rand.NewPCG(6, 3))
	for _, n := range []int{10, 20} {
		found, inside := 0, 0
		for range cases(t) {
			w, _ := WelchTest(normal(r, n, 1000, 10), normal(r, n, 1010, 10), Different)
			if w.P < level {
				found++
			}
			if w.Low <= 10 && 10 <= w.High {
				inside++
			}
		}
		all, p := float64(cases(t)), power(n, 1)
		counted(t, "found", found, p*all, p*(1-p)*all)
		// Welch's t is cautious by a little: theory says by how much.
		in := 1 - power(n, 0)
		if in < Level || in > Level+0.003 {
			t.Errorf("%d runs: the interval of %v is one of %v", n, Level, in)
		}
		counted(t, "inside", inside, in*all, in*(1-in)*all)
	}
}

// Cohen's estimates find mean and SD again when 30 and 60 % are held at the
// limit, with the error that large sets have.
func TestCohenRecovers(t *testing.T) {
	r := rand.New(rand.NewPCG(6, 4))
	const mean, sd, n = 9.4, 0.2, 400
	for _, share := range []float64{0.3, 0.6} {
		xi := distuv.UnitNormal.Quantile(1 - share)
		limit := mean + sd*xi
		const times = 400
		var sum, squares, sds float64
		inside := 0
		for range times {
			c, ok := Estimate(held(normal(r, n, mean, sd), limit), limit)
			if !ok {
				t.Fatal("not estimated")
			}
			sum += c.Mean - mean
			squares += (c.Mean - mean) * (c.Mean - mean)
			sds += c.SD
			o, _ := Estimate(held(normal(r, n, mean, sd), limit), limit)
			if i := Between(c, o); i.Low <= 0 && 0 <= i.High {
				inside++
			}
		}
		variance := sd * sd / n * meanVariance(xi)
		if bias := sum / times; math.Abs(bias) > 3*math.Sqrt(variance/times)+variance/sd {
			t.Errorf("%.0f %% held: the mean is off by %v", 100*share, bias)
		}
		if got := squares / times; math.Abs(got/variance-1) > 0.25 {
			t.Errorf("%.0f %% held: variance of the mean %v, %v by theory", 100*share, got, variance)
		}
		if got := sds / times; math.Abs(got/sd-1) > 0.01 {
			t.Errorf("%.0f %% held: SD %v of %v", 100*share, got, sd)
		}
		counted(t, "inside", inside, Level*times, Level*(1-Level)*times)
	}
}

// In sets as small as those that are measured the interval is a little long.
func TestCohenOfSmallSets(t *testing.T) {
	r := rand.New(rand.NewPCG(6, 5))
	inside, all := 0, 0
	for range 2000 {
		limit := distuv.UnitNormal.Quantile(0.7)
		a, ok := Estimate(held(normal(r, 10, 0, 1), limit), limit)
		b, also := Estimate(held(normal(r, 10, 0, 1), limit), limit)
		if !ok || !also {
			continue
		}
		all++
		if i := Between(a, b); i.Low <= 0 && 0 <= i.High {
			inside++
		}
	}
	if got := float64(inside) / float64(all); all < 1900 || got < Level || got > 0.99 {
		t.Errorf("of %d, %.3f hold the difference", all, got)
	}
}

// What cannot be said is not said.
func TestRefused(t *testing.T) {
	if _, ok := WelchTest([]float64{1}, []float64{1, 2}, Different); ok {
		t.Error("one run")
	}
	if _, ok := WelchTest([]float64{1, 1}, []float64{2, 2}, Different); ok {
		t.Error("no spread")
	}
	if _, ok := WelchTest([]float64{0.1, 0.1, 0.1}, []float64{122.879, 122.879, 122.879, 122.879, 122.879}, Different); ok {
		t.Error("no spread but that of rounding")
	}
	if w, ok := WelchTest([]float64{1, 1}, []float64{2, 4}, Different); !ok || math.IsNaN(w.P) || w.DF != 1 {
		t.Errorf("spread in one of them: %+v", w)
	}
	if _, ok := MannWhitneyTest(nil, []float64{1}, Different); ok {
		t.Error("no run")
	}
	if w, _ := MannWhitneyTest(make([]float64, 30), make([]float64, 30), Different); w.P != 1 || w.U != 450 {
		t.Errorf("all tied: %+v", w)
	}
	if _, ok := Estimate([]float64{5, 5, 5}, 5); ok {
		t.Error("all at the limit")
	}
	if c, ok := Estimate([]float64{4, 4, 5}, 5); ok || c.Held != 1 {
		t.Errorf("one value below it: %+v", c)
	}
	if s := Summarize([]float64{3}); s.Mean != 3 || s.Median != 3 || !math.IsNaN(s.SD) {
		t.Errorf("one run: %+v", s)
	}
}
