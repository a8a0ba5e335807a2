// SPDX-License-Identifier: Apache-2.0

package report

import (
	"encoding/csv"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/txtrace/txtrace/internal/comparison"
)

// CompareCSV prints one line per metric, with all digits. The names of the
// columns stay. Metrics that are left out have only a note.
func CompareCSV(w io.Writer, c *comparison.Comparison) error {
	out := csv.NewWriter(w)
	columns := []string{"metric", "unit", "better",
		"a_n", "a_mean", "a_sd", "a_median", "a_held_share", "a_estimate",
		"b_n", "b_mean", "b_sd", "b_median", "b_held_share", "b_estimate",
		"difference", "low", "high", "change_percent",
		"welch_t", "welch_df", "welch_p", "mann_whitney_u", "mann_whitney_p", "p", "p_holm", "significant", "note"}
	if err := out.Write(columns); err != nil {
		return err
	}
	for i := range c.Rows {
		r := &c.Rows[i]
		line := []string{r.Name, r.Unit, string(r.Better)}
		for _, s := range []*comparison.Sample{&r.A, &r.B} {
			line = append(line, strconv.Itoa(s.N), exactly(&s.Mean), exactly(s.SD), exactly(&s.Median))
			if h := s.Held; h != nil {
				line = append(line, exactly(&h.Share), exactly(h.Mean))
			} else {
				line = append(line, "", "")
			}
		}
		line = append(line, exactly(r.Diff), exactly(r.Low), exactly(r.High), exactly(r.Change))
		if t := r.Welch; t != nil {
			line = append(line, exactly(&t.T), exactly(&t.DF), exactly(&t.P))
		} else {
			line = append(line, "", "", "")
		}
		if u := r.MannWhitney; u != nil {
			line = append(line, exactly(&u.U), exactly(&u.P))
		} else {
			line = append(line, "", "")
		}
		significant := ""
		if r.Significant != nil {
			significant = strconv.FormatBool(*r.Significant)
		}
		line = append(line, exactly(r.P), exactly(r.Holm), significant, r.Note)
		if err := out.Write(line); err != nil {
			return err
		}
	}
	for _, m := range c.Missing {
		line := make([]string, len(columns))
		line[0], line[len(line)-1] = m.Name, "not applicable: "+Clean(m.Reason)
		if err := out.Write(line); err != nil {
			return err
		}
	}
	out.Flush()
	return out.Error()
}

// CompareMarkdown prints the table of Compare for where Markdown is read.
func CompareMarkdown(w io.Writer, c *comparison.Comparison) error {
	var b strings.Builder
	if c.Kind != "real" {
		fmt.Fprintf(&b, "The captures are %s.\n\n", c.Kind)
	}
	fmt.Fprintf(&b, "A: %s, %d runs\nB: %s, %d runs\n", escaped(c.A.Kernel), c.A.Runs, escaped(c.B.Kernel), c.B.Runs)
	for _, d := range c.Differences {
		if d.What != "kernel" {
			fmt.Fprintf(&b, "%s: A %s; B %s\n", escaped(d.What), escaped(d.A), escaped(d.B))
		}
	}
	for _, n := range c.Notes {
		fmt.Fprintf(&b, "Note: %s\n", escaped(n))
	}
	b.WriteString("\n| metric | unit | A mean | sd % | A median | B mean | sd % | B median | change % | 95 % interval | p Welch | p Mann-Whitney | p Holm |\n")
	b.WriteString("|---|---|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|\n")
	for _, r := range shown(c) {
		mean, sd := r.A.Best()
		other, otherSD := r.B.Best()
		var welch, ranks *float64
		if r.Welch != nil {
			welch = &r.Welch.P
		}
		if r.MannWhitney != nil {
			ranks = &r.MannWhitney.P
		}
		fmt.Fprintf(&b, "| %s | %s | %s | %s | %s | %s | %s | %s | %s | %s | %s | %s | %s |\n", r.Name, r.Unit,
			figure(mean), deviation(mean, sd), figure(r.A.Median), figure(other), deviation(other, otherSD), figure(r.B.Median),
			percent(r.Change), percents(r), escaped(probability(welch)), escaped(probability(ranks)), escaped(strings.TrimSpace(star(r))))
	}
	fmt.Fprintf(&b, "\n%s\n", escaped(legend(c)))
	for _, r := range shown(c) {
		if h := heldAt(r); h != "" {
			fmt.Fprintf(&b, "\nHeld: %s\n", escaped(h))
		}
	}
	if s := same(c); len(s) > 0 {
		fmt.Fprintf(&b, "\nSame in all: %s\n", strings.Join(s, ", "))
	}
	for _, m := range missing(c) {
		fmt.Fprintf(&b, "\nLeft out: %s\n", escaped(m))
	}
	for _, v := range c.Bounds {
		fmt.Fprintf(&b, "\n%s: %s\n", escaped(v.Text), escaped(strings.TrimSuffix(v.Verdict+", "+v.Reason, ", ")))
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// escaped keeps text from being taken for Markdown or HTML.
func escaped(text string) string {
	var b strings.Builder
	for _, r := range Clean(text) {
		if strings.ContainsRune("\\`*_{}[]<>|#&!~", r) {
			b.WriteByte('\\')
		}
		b.WriteRune(r)
	}
	return b.String()
}
