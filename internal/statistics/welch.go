// SPDX-License-Identifier: Apache-2.0

package statistics

import (
	"math"

	"gonum.org/v1/gonum/stat/distuv"
)

// Interval is a difference and what it may be, with confidence Level.
type Interval struct {
	Diff, Low, High float64
}

// Welch is Welch's t-test of two means.
type Welch struct {
	Interval
	T, DF, P float64
}

// WelchTest needs two runs of each set and some spread in one of them.
func WelchTest(a, b []float64, alt Alternative) (Welch, bool) {
	if len(a) < 2 || len(b) < 2 {
		return Welch{}, false
	}
	x, y := Summarize(a), Summarize(b)
	est := func(s Summary) estimate {
		return estimate{s.Mean, s.SD * s.SD / float64(s.N), float64(s.N - 1)}
	}
	i, t := between(est(x), est(y))
	if !(t.Sigma > 0) {
		return Welch{}, false
	}
	w := Welch{Interval: i, DF: t.Nu}
	w.T = w.Diff / t.Sigma
	t.Mu, t.Sigma = 0, 1
	switch alt {
	case Greater:
		w.P = t.Survival(w.T)
	case Less:
		w.P = t.CDF(w.T)
	default:
		w.P = 2 * t.Survival(math.Abs(w.T))
	}
	return w, true
}

// estimate is a mean, its variance, and the degrees of freedom of that.
type estimate struct{ mean, variance, df float64 }

// between is the interval of the difference of two estimates, and the
// distribution of its error, after Welch and Satterthwaite.
func between(a, b estimate) (Interval, distuv.StudentsT) {
	v := a.variance + b.variance
	t := distuv.StudentsT{Sigma: math.Sqrt(v)}
	t.Nu = v * v / (a.variance*a.variance/a.df + b.variance*b.variance/b.df)
	i := Interval{Diff: b.mean - a.mean}
	if !(v > 0) {
		i.Low, i.High = i.Diff, i.Diff
		return i, t
	}
	half := t.Quantile((1 + Level) / 2)
	i.Low, i.High = i.Diff-half, i.Diff+half
	return i, t
}
