// SPDX-License-Identifier: Apache-2.0

package report

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/txtrace/txtrace/internal/comparison"
)

// Compare prints a comparison for a mail: what was compared, then each effect
// with its interval, and p last.
func Compare(w io.Writer, t Text, c *comparison.Comparison) error {
	p := &printer{Text: t, out: w}
	compareHead(p, c)
	rows := shown(c)
	if len(rows) > 0 {
		p.line("")
		p.line("%-15s %8s %5s %8s %5s %6s %11s %7s", "", "A mean", "sd", "B mean", "sd", "change", "95% of it", "p Holm")
	}
	for _, r := range rows {
		compareRow(p, r)
	}
	p.line("")
	if len(rows) > 0 {
		p.field("", "sd in percent of each mean, the change and its 95 % interval in percent of A's")
		p.field("", legend(c))
		units(p, rows)
		for _, r := range rows {
			p.field("held", heldAt(r))
		}
	}
	p.field("same in all", same(c)...)
	for _, m := range missing(c) {
		p.field("left out", m)
	}
	if p.More {
		for _, r := range rows {
			compareDetail(p, c, r)
		}
	}
	bounds(p, c)
	return p.err
}

func compareHead(p *printer, c *comparison.Comparison) {
	switch c.Kind {
	case "emulated":
		p.line("%s", emulated)
	case "simulated":
		p.line("%s", simulated)
	}
	for _, s := range []struct {
		name string
		set  *comparison.Set
	}{{"A", &c.A}, {"B", &c.B}} {
		p.field(s.name, s.set.Kernel, p.counted(uint64(s.set.Runs), "run", "runs"))
		if p.More {
			p.field("", s.set.Paths...)
		}
	}
	if c.A.Load == c.B.Load {
		p.field("load", c.A.Load)
	}
	for i, d := range c.Differences {
		label := ""
		if i == 0 {
			label = "differ"
		}
		if d.What != "kernel" { // which A and B have told
			p.field(label, d.What+": A "+d.A+"; B "+d.B)
		} else {
			p.field(label, d.What)
		}
	}
	if len(c.Differences) == 0 {
		p.field("differ", "in nothing that is recorded of kernel, settings and devices")
	}
	for _, n := range c.Notes {
		p.field("note", n)
	}
}

// shown are the rows that say something: not the same in every run.
func shown(c *comparison.Comparison) (rows []*comparison.Row) {
	for i := range c.Rows {
		if r := &c.Rows[i]; !constant(r) {
			rows = append(rows, r)
		}
	}
	return rows
}

func constant(r *comparison.Row) bool {
	other := func(v float64) bool { return v != r.A.Mean }
	return !slices.ContainsFunc(r.A.Values, other) && !slices.ContainsFunc(r.B.Values, other)
}

// same are the other rows, with what they are.
func same(c *comparison.Comparison) (rows []string) {
	for i := range c.Rows {
		if r := &c.Rows[i]; constant(r) {
			rows = append(rows, r.Name+" "+figure(r.A.Mean))
		}
	}
	return rows
}

func compareRow(p *printer, r *comparison.Row) {
	a, sdA := r.A.Best()
	b, sdB := r.B.Best()
	p.line("%-15s %8s %5s %8s %5s %6s %11s %7s", r.Name, figure(a), deviation(a, sdA), figure(b), deviation(b, sdB),
		percent(r.Change), percents(r), star(r))
}

// percents is the interval in percent of A.
func percents(r *comparison.Row) string {
	a, _ := r.A.Best()
	if r.Low == nil || r.High == nil || a == 0 {
		return "-"
	}
	low, high := 100**r.Low/a, 100**r.High/a
	return percent(&low) + " " + percent(&high)
}

func star(r *comparison.Row) string {
	s := probability(r.Holm)
	if r.Significant != nil && *r.Significant {
		return s + "*"
	}
	return s + " "
}

// legend says what the table does not.
func legend(c *comparison.Comparison) string {
	s := "p is of Welch's t, of both sides"
	if c.Alternative != "different" {
		s = "p is of Welch's t, of B being " + c.Alternative
	}
	s += ", corrected for the number of metrics (Holm)"
	if min(c.A.Runs, c.B.Runs) < comparison.MinRuns {
		return s + fmt.Sprintf("; a set has fewer than %d runs, too few to judge by p", comparison.MinRuns)
	}
	return s + "; * is significant at 5 %"
}

// units tell the unit of each row.
func units(p *printer, rows []*comparison.Row) {
	var order []string
	names := map[string][]string{}
	for _, r := range rows {
		if names[r.Unit] == nil {
			order = append(order, r.Unit)
		}
		names[r.Unit] = append(names[r.Unit], r.Name)
	}
	for i, u := range order {
		label := ""
		if i == 0 {
			label = "units"
		}
		p.field(label, u+": "+strings.Join(names[u], ", "))
	}
}

func better(b comparison.Better) string {
	switch b {
	case comparison.More:
		return "; more is better"
	case comparison.Less:
		return "; less is better"
	}
	return ""
}

// heldAt says how much of a row lay at its ceiling.
func heldAt(r *comparison.Row) string {
	if r.A.Held == nil {
		return ""
	}
	s := fmt.Sprintf("%s: %.0f %% of A and %.0f %% of B at %s", r.Name, 100*r.A.Held.Share, 100*r.B.Held.Share, figure(r.A.Held.Ceiling))
	if r.Note != "" {
		s += "; " + r.Note
	}
	return s
}

// missing are the metrics that are left out, by reason.
func missing(c *comparison.Comparison) (lines []string) {
	var reasons []string
	names := map[string][]string{}
	for _, m := range c.Missing {
		if names[m.Reason] == nil {
			reasons = append(reasons, m.Reason)
		}
		names[m.Reason] = append(names[m.Reason], m.Name)
	}
	for _, r := range reasons {
		lines = append(lines, strings.Join(names[r], ", ")+": "+r)
	}
	return lines
}

// compareDetail prints all that is known of a row.
func compareDetail(p *printer, c *comparison.Comparison, r *comparison.Row) {
	p.heading("%s (%s)", r.Name, r.Unit)
	p.field("taken as", r.How+better(r.Better))
	for _, s := range []struct {
		name string
		of   *comparison.Sample
	}{{"A", &r.A}, {"B", &r.B}} {
		parts := []string{fmt.Sprintf("n %d", s.of.N), "mean " + figure(s.of.Mean)}
		if s.of.SD != nil {
			parts = append(parts, "sd "+figure(*s.of.SD))
		}
		parts = append(parts, "median "+figure(s.of.Median))
		if h := s.of.Held; h != nil && h.Mean != nil && h.Runs > 0 {
			parts = append(parts, "estimated mean "+figure(*h.Mean), "sd "+figure(*h.SD))
		}
		p.field(s.name, parts...)
	}
	if r.Diff != nil {
		s := "difference " + figure(*r.Diff)
		if r.Low != nil && r.High != nil {
			s += fmt.Sprintf(", %.0f %% interval %s to %s", 100*c.Level, figure(*r.Low), figure(*r.High))
		}
		p.field("B less A", s)
	}
	var tests []string
	if w := r.Welch; w != nil {
		tests = append(tests, fmt.Sprintf("Welch t %.3f", w.T), fmt.Sprintf("df %.2f", w.DF), "p "+probability(&w.P))
	}
	if u := r.MannWhitney; u != nil {
		exact := ""
		if u.Exact {
			exact = " exact"
		}
		tests = append(tests, fmt.Sprintf("Mann-Whitney U %g", u.U), "p "+probability(&u.P)+exact)
	}
	p.field("tests", tests...)
	p.field("note", r.Note)
}

// bounds prints what --fail-on asked.
func bounds(p *printer, c *comparison.Comparison) {
	if len(c.Bounds) == 0 {
		return
	}
	p.line("")
	for _, b := range c.Bounds {
		p.field("fail on", b.Text+": "+b.Verdict, b.Reason)
	}
	p.line("verdict: exit %d", c.Exit)
}

// CompareMetrics lists what can be compared.
func CompareMetrics(w io.Writer, all []comparison.Metric) error {
	p := &printer{out: w}
	for _, m := range all {
		if m.How == "" {
			continue // no capture has it
		}
		p.wrapped(fmt.Sprintf("%-16s", m.Name), m.Unit+": "+m.How+better(m.Better))
	}
	return p.err
}
