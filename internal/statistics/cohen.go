// SPDX-License-Identifier: Apache-2.0

package statistics

import (
	"math"

	"gonum.org/v1/gonum/stat/distuv"
)

// Censored is what a set is estimated to be whose runs could not show more
// than a limit: a normal distribution, by A. C. Cohen, Simplified Estimators
// for the Normal Distribution When Samples Are Singly Censored or Truncated,
// Technometrics 1 (1959), doi 10.1080/00401706.1959.10489859. That is what
// maximum likelihood gives.
type Censored struct {
	N    int
	Held int // runs at the limit or above
	Mean float64
	SD   float64

	variance float64 // of Mean, for large sets
}

// Share of the runs that were held at the limit.
func (c *Censored) Share() float64 { return float64(c.Held) / float64(c.N) }

// Estimate needs two different runs below the limit.
func Estimate(x []float64, limit float64) (Censored, bool) {
	var below []float64
	for _, v := range x {
		if v < limit {
			below = append(below, v)
		}
	}
	c := Censored{N: len(x), Held: len(x) - len(below)}
	if len(below) < 2 {
		return c, false
	}
	s := Summarize(below)
	n := float64(s.N)
	square := s.SD * s.SD * (n - 1) / n
	if square == 0 {
		return c, false
	}
	if c.Held == 0 {
		c.Mean, c.SD, c.variance = s.Mean, s.SD, s.SD*s.SD/n
		return c, true
	}
	room := limit - s.Mean
	xi := standardLimit(c.Share(), square/(room*room))
	lambda := lambdaOf(c.Share(), xi)
	c.Mean = s.Mean + lambda*room
	c.SD = math.Sqrt(square + lambda*room*room)
	c.variance = c.SD * c.SD / float64(c.N) * meanVariance(xi)
	return c, true
}

// Between is the interval of the difference of two such means. It is right for
// large sets; for small ones, with the degrees of freedom of the runs below
// the limit, it is a little long.
func Between(a, b Censored) Interval {
	est := func(c Censored) estimate { return estimate{c.Mean, c.variance, float64(c.N - c.Held - 1)} }
	i, _ := between(est(a), est(b))
	return i
}

// standardLimit is (limit - mean) / SD of the normal distribution, given the
// share of runs at the limit and gamma, the variance of the others over the
// square of how far the limit is from their mean. gamma falls as it grows.
func standardLimit(share, gamma float64) float64 {
	low, high := -40.0, 40.0
	for range 200 {
		xi := (low + high) / 2
		y := odds(share) * hazard(xi)
		if d := xi + y; d <= 0 || (1-y*d)/(d*d) > gamma {
			low = xi
		} else {
			high = xi
		}
	}
	return (low + high) / 2
}

// lambdaOf is Cohen's auxiliary function, tabulated in his paper of 1961 by
// the share and gamma.
func lambdaOf(share, xi float64) float64 {
	y := odds(share) * hazard(xi)
	return y / (y + xi)
}

func odds(share float64) float64 { return share / (1 - share) }

// hazard is the normal density over what of the distribution is above.
func hazard(x float64) float64 {
	if x > 20 {
		return x + 1/x - 2/(x*x*x) // both underflow
	}
	return distuv.UnitNormal.Prob(x) / distuv.UnitNormal.Survival(x)
}

// meanVariance is N times the variance of the mean's estimate, of SD 1: from
// the inverse of Fisher's information.
func meanVariance(xi float64) float64 {
	below, density, q := distuv.UnitNormal.CDF(xi), distuv.UnitNormal.Prob(xi), hazard(xi)
	mm := below + density*(q-xi)
	ms := density * (xi*q - xi*xi - 1)
	ss := 2*below + density*xi*(xi*q-xi*xi-1)
	return ss / (mm*ss - ms*ms)
}

// Times is the estimate of a set whose runs are all multiplied.
func (c Censored) Times(factor float64) Censored {
	c.Mean, c.SD, c.variance = c.Mean*factor, c.SD*factor, c.variance*factor*factor
	return c
}
