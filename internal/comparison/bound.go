// SPDX-License-Identifier: Apache-2.0

package comparison

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/txtrace/txtrace/internal/statistics"
)

// Bound is what a change may not be, as in requeues>5%.
type Bound struct {
	Text    string  `json:"text"`
	Metric  string  `json:"metric"`
	Above   bool    `json:"above"` // a change above is a regression, else one below
	Percent float64 `json:"percent"`
	Verdict string  `json:"verdict"` // fail, pass or inconclusive
	Reason  string  `json:"reason,omitempty"`
}

// Verdicts of a bound.
const (
	Fail         = "fail"
	Pass         = "pass"
	Inconclusive = "inconclusive"
)

// ParseBound reads NAME>5% or NAME<-5%.
func ParseBound(text string) (Bound, error) {
	b := Bound{Text: text}
	i := strings.IndexAny(text, "<>")
	number, ok := strings.CutSuffix(strings.TrimSpace(text), "%")
	if i < 1 || !ok {
		return b, errors.New("a bound is a metric, > or <, and a change in percent, as in requeues>5%")
	}
	b.Metric, b.Above = strings.TrimSpace(text[:i]), text[i] == '>'
	if _, err := byName(b.Metric); err != nil {
		return b, fmt.Errorf("%s: %w", b.Metric, err)
	}
	var err error
	b.Percent, err = strconv.ParseFloat(strings.TrimSpace(strings.TrimSpace(number)[i+1:]), 64)
	if err != nil || math.IsNaN(b.Percent) || math.IsInf(b.Percent, 0) || b.Percent <= -100 {
		return b, errors.New("the change is a number of percent above -100, as in requeues>5%")
	}
	return b, nil
}

// asks says whether a metric is asked for.
func (o *Options) asks(name string) bool {
	return len(o.Metrics) == 0 || slices.Contains(o.Metrics, name)
}

// check refuses names that are not those of a metric.
func (o *Options) check() error {
	names := slices.Clone(o.Metrics)
	for name, v := range o.Ceilings {
		names = append(names, name)
		if !(v > 0) || math.IsInf(v, 0) {
			return &Refusal{"--ceiling", "refused", name + " cannot be held at that", "a ceiling is a number above 0"}
		}
	}
	for _, name := range names {
		if m, err := byName(name); err != nil && m.never == "" {
			return &Refusal{name, "unknown metric", err.Error(), "see txtrace compare --list"}
		}
	}
	for _, b := range o.Bounds {
		if !o.asks(b.Metric) {
			return &Refusal{"--fail-on", b.Text + " is refused", "--metrics leaves that metric out", "add it there"}
		}
	}
	return nil
}

// judge decides the bounds, and the exit code.
func (c *Comparison) judge(bounds []Bound, lost bool) {
	for _, b := range bounds {
		i := slices.IndexFunc(c.Rows, func(r Row) bool { return r.Name == b.Metric })
		switch {
		case i < 0:
			b.Verdict = Inconclusive
			b.Reason = "not applicable"
			for _, m := range c.Missing {
				if m.Name == b.Metric {
					b.Reason += ": " + m.Reason
				}
			}
		case lost && c.Rows[i].counted:
			b.Verdict, b.Reason = Inconclusive, "records are lost, and it is counted from them"
		default:
			b.decide(&c.Rows[i])
		}
		c.Bounds = append(c.Bounds, b)
		switch {
		case b.Verdict == Fail:
			c.Exit = 1
		case b.Verdict == Inconclusive && c.Exit == 0:
			c.Exit = 3
		}
	}
}

// decide asks where B lies of what A would be with the change, which has an
// error, too.
func (b *Bound) decide(r *Row) {
	i, why := b.beyond(r)
	over, under := i.Low > 0, i.High <= 0
	if !b.Above {
		over, under = i.High < 0, i.Low >= 0
	}
	switch {
	case why != "":
		b.Verdict, b.Reason = Inconclusive, why
	case over:
		b.Verdict = Fail
	case under:
		b.Verdict = Pass
	default:
		b.Verdict, b.Reason = Inconclusive, "the interval of the change holds the bound"
	}
}

// beyond is by how much B is above A with the change, and why that is not
// known.
func (b *Bound) beyond(r *Row) (statistics.Interval, string) {
	factor := 1 + b.Percent/100
	if r.A.held() || r.B.held() {
		if r.A.estimate == nil || r.B.estimate == nil {
			return statistics.Interval{}, "too few results below the ceiling"
		}
		return statistics.Between(r.A.estimate.Times(factor), *r.B.estimate), ""
	}
	var scaled []float64
	for _, v := range r.A.Values {
		scaled = append(scaled, factor*v)
	}
	if r.A.N < 2 || r.B.N < 2 {
		return statistics.Interval{}, "one run has no interval"
	}
	if w, ok := statistics.WelchTest(scaled, r.B.Values, statistics.Different); ok {
		return w.Interval, ""
	}
	d := r.B.Mean - factor*r.A.Mean
	return statistics.Interval{Diff: d, Low: d, High: d}, ""
}
