// SPDX-License-Identifier: Apache-2.0

package comparison

import (
	"math"

	"github.com/txtrace/txtrace/internal/statistics"
)

// Options of New.
type Options struct {
	Metrics     []string           // by name; empty: all
	Ifnames     []string           // devices to look at; empty: all
	Ceilings    map[string]float64 // by metric: the value that results are held at
	Alternative statistics.Alternative
	Bounds      []Bound
}

// MinRuns is how many runs a set needs before the word significant is used.
const MinRuns = 5

// Alpha is the level of significance.
const Alpha = 0.05

// Comparison is what compare prints: text, Markdown, CSV and JSON are fed from
// it.
type Comparison struct {
	V           int          `json:"v"`
	Type        string       `json:"type"`
	Kind        string       `json:"kind"` // of the captures: real, emulated or simulated
	A           Set          `json:"a"`
	B           Set          `json:"b"`
	Differences []Difference `json:"differences"`
	Notes       []string     `json:"notes"`
	Alternative string       `json:"alternative"` // different, greater or less: B
	Level       float64      `json:"interval_level"`
	Rows        []Row        `json:"metrics"`
	Missing     []Missing    `json:"not_applicable"`
	Bounds      []Bound      `json:"bounds"`
	Exit        int          `json:"exit"`
}

// Set is one side.
type Set struct {
	Runs   int      `json:"runs"`
	Paths  []string `json:"paths"`
	Kernel string   `json:"kernel"`
	Load   string   `json:"load"`
}

// Row is one metric. What cannot be said is left out.
type Row struct {
	Metric
	A           Sample       `json:"a"`
	B           Sample       `json:"b"`
	Diff        *float64     `json:"difference,omitempty"` // B less A
	Low         *float64     `json:"low,omitempty"`        // the interval of the difference
	High        *float64     `json:"high,omitempty"`
	Change      *float64     `json:"change_percent,omitempty"` // of A's mean
	Welch       *Welch       `json:"welch,omitempty"`
	MannWhitney *MannWhitney `json:"mann_whitney,omitempty"`
	P           *float64     `json:"p,omitempty"`      // the one of the two that counts
	Holm        *float64     `json:"p_holm,omitempty"` // the same, corrected
	Significant *bool        `json:"significant,omitempty"`
	Note        string       `json:"note,omitempty"`

	counted bool // from records, of which some may be lost
}

// Sample is a set's values of one metric.
type Sample struct {
	Values []float64 `json:"values"` // in the order of the paths
	N      int       `json:"n"`
	Mean   float64   `json:"mean"`
	SD     *float64  `json:"sd,omitempty"` // left out for one run
	Median float64   `json:"median"`
	Held   *Held     `json:"held,omitempty"` // with a ceiling

	estimate *statistics.Censored
}

// Held is a set whose runs could not show more than a ceiling.
type Held struct {
	Ceiling float64  `json:"ceiling"`
	Runs    int      `json:"runs"` // at the ceiling or above
	Share   float64  `json:"share"`
	Mean    *float64 `json:"mean,omitempty"` // estimated, if it can be
	SD      *float64 `json:"sd,omitempty"`
}

// Welch is statistics.Welch.
type Welch struct {
	T  float64 `json:"t"`
	DF float64 `json:"df"`
	P  float64 `json:"p"`
}

// MannWhitney is statistics.MannWhitney.
type MannWhitney struct {
	U     float64 `json:"u"`
	P     float64 `json:"p"`
	Exact bool    `json:"exact"`
}

// Missing is a metric that could not be compared.
type Missing struct {
	Name   string `json:"name"`
	Reason string `json:"reason"`
}

// New compares. Its errors are a *Refusal.
func New(a, b []Capture, o Options) (*Comparison, error) {
	before, after := newSet("A", a, o.Ifnames), newSet("B", b, o.Ifnames)
	if err := check(&before, &after); err != nil {
		return nil, err
	}
	if err := o.check(); err != nil {
		return nil, err
	}
	c := &Comparison{
		V: 1, Type: "compare", Kind: before.runs[0].kind().is,
		A: before.describe(), B: after.describe(),
		Differences: differences(&before.runs[0], &after.runs[0]),
		Notes:       append(before.notes(), after.notes()...),
		Alternative: map[statistics.Alternative]string{statistics.Greater: "greater", statistics.Less: "less"}[o.Alternative],
		Level:       statistics.Level,
		Rows:        []Row{}, Missing: []Missing{}, Bounds: []Bound{},
	}
	if c.Alternative == "" {
		c.Alternative = "different"
	}
	if c.Differences == nil {
		c.Differences = []Difference{}
	}
	if c.Notes == nil {
		c.Notes = []string{}
	}
	for _, m := range metrics {
		if !o.asks(m.Name) {
			continue
		}
		x, why := before.values(m)
		y, whyNot := after.values(m)
		if why+whyNot != "" {
			c.Missing = append(c.Missing, Missing{m.Name, string(why)})
			if why == "" {
				c.Missing[len(c.Missing)-1].Reason = string(whyNot)
			}
			continue
		}
		ceiling, has := o.Ceilings[m.Name]
		if !has {
			ceiling = math.Inf(1)
		}
		c.Rows = append(c.Rows, newRow(m, x, y, ceiling, o.Alternative))
	}
	c.correct()
	c.judge(o.Bounds, before.lost() || after.lost())
	return c, nil
}

func (s *set) describe() Set {
	d := Set{Runs: len(s.runs), Kernel: s.runs[0].kernel().is, Load: s.runs[0].command().is}
	for _, r := range s.runs {
		d.Paths = append(d.Paths, r.path)
	}
	return d
}

func (s *set) lost() bool {
	for i := range s.runs {
		if s.runs[i].lost() {
			return true
		}
	}
	return false
}

// values of a metric, run by run.
func (s *set) values(m Metric) ([]float64, absence) {
	if m.never != "" {
		return nil, m.never
	}
	var values []float64
	for i := range s.runs {
		r := &s.runs[i]
		if m.timed && r.emulated() {
			return nil, noClock
		}
		v, why := m.value(r)
		if why == "" && (math.IsNaN(v) || math.IsInf(v, 0)) {
			why = "its value is no number"
		}
		if why != "" {
			return nil, absence(r.path) + ": " + why
		}
		values = append(values, v)
	}
	return values, ""
}

func newRow(m Metric, a, b []float64, ceiling float64, alt statistics.Alternative) Row {
	r := Row{Metric: m, A: newSample(a, ceiling), B: newSample(b, ceiling), counted: m.Name != "load" && m.Name != "load.rate"}
	if u, ok := statistics.MannWhitneyTest(clamped(a, ceiling), clamped(b, ceiling), alt); ok {
		r.MannWhitney = &MannWhitney{u.U, u.P, u.Exact}
	}
	if r.A.held() || r.B.held() {
		r.ofHeld()
		return r
	}
	r.difference(statistics.Interval{Diff: r.B.Mean - r.A.Mean}, r.A.Mean)
	w, ok := statistics.WelchTest(a, b, alt)
	switch {
	case ok:
		r.Low, r.High = &w.Low, &w.High
		r.Welch = &Welch{w.T, w.DF, w.P}
		r.P = &r.Welch.P
	case len(a) < 2 || len(b) < 2:
		r.Note = "one run has no spread"
	default:
		r.Note = "no spread in either set"
	}
	return r
}

// ofHeld is for results at a ceiling.
func (r *Row) ofHeld() {
	a, b := r.A.estimate, r.B.estimate
	if r.MannWhitney != nil {
		r.P = &r.MannWhitney.P
	}
	if a == nil || b == nil {
		r.Note = "too few results below the ceiling to say what they would be: compare what they cost"
		return
	}
	i := statistics.Between(*a, *b)
	r.difference(i, a.Mean)
	r.Low, r.High = &i.Low, &i.High
	r.Note = "held at the ceiling: means are estimated (Cohen 1959), p is of ranks"
}

func (r *Row) difference(i statistics.Interval, from float64) {
	r.Diff = &i.Diff
	if c := statistics.Percent(from, i.Diff); !math.IsInf(c, 0) {
		r.Change = &c
	}
}

func newSample(x []float64, ceiling float64) Sample {
	d := statistics.Summarize(x)
	s := Sample{Values: x, N: d.N, Mean: d.Mean, Median: d.Median}
	if d.N > 1 {
		s.SD = &d.SD
	}
	if math.IsInf(ceiling, 1) {
		return s
	}
	e, ok := statistics.Estimate(x, ceiling)
	s.Held = &Held{Ceiling: ceiling, Runs: e.Held, Share: e.Share()}
	if ok {
		s.estimate = &e
		s.Held.Mean, s.Held.SD = &e.Mean, &e.SD
	}
	return s
}

func (s *Sample) held() bool { return s.Held != nil && s.Held.Runs > 0 }

// Best is the mean to compare: the estimated one where runs were held.
func (s *Sample) Best() (mean float64, sd *float64) {
	if s.held() && s.Held.Mean != nil {
		return *s.Held.Mean, s.Held.SD
	}
	return s.Mean, s.SD
}

func clamped(x []float64, ceiling float64) []float64 {
	c := make([]float64, len(x))
	for i, v := range x {
		c[i] = min(v, ceiling)
	}
	return c
}

// correct corrects the p values, and says what is significant where the sets
// are large enough.
func (c *Comparison) correct() {
	var rows []*Row
	var ps []float64
	for i := range c.Rows {
		if r := &c.Rows[i]; r.P != nil {
			rows, ps = append(rows, r), append(ps, *r.P)
		}
	}
	for i, p := range statistics.Holm(ps) {
		rows[i].Holm = &p
		if min(c.A.Runs, c.B.Runs) >= MinRuns {
			s := p < Alpha
			rows[i].Significant = &s
		}
	}
}
