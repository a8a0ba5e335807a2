// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"io"
	"path/filepath"
	"strings"
	"time"

	"github.com/txtrace/txtrace/internal/analysis"
	"github.com/txtrace/txtrace/internal/report"
)

// printCell prints a cell in a line, and below it what should be looked at.
func printCell(w io.Writer, c *cell) {
	fmt.Fprintf(w, "%-4s %s %s; %s\n", c.State, c.Kernel, c.NIC, strings.Join(facts(c), "; "))
	for _, d := range details(c) {
		fmt.Fprintf(w, "     %s\n", d)
	}
}

// facts are what a cell showed, in words.
func facts(c *cell) []string {
	var words []string
	add := func(format string, args ...any) { words = append(words, fmt.Sprintf(format, args...)) }
	if c.Release != "" {
		add("%s", report.Clean(c.Release))
	}
	if c.tookOver {
		add("taken over")
	}
	if c.As != "" {
		add("booted as %s", c.As)
	}
	if len(c.Played)+len(c.Skipped) > 0 {
		add("scenarios %d, skipped %d", len(c.Played), len(c.Skipped))
	}
	if len(c.Played) > 0 {
		v := c.Verdicts
		add("pass %d, expected %d, suspect %d, inconclusive %d, fail %d", v[analysis.VerdictPass], v[analysis.VerdictExpected],
			v[analysis.VerdictSuspect], v[analysis.VerdictInconclusive], v[analysis.VerdictFail])
		add("undecided %s", share(c.Undecided, c.Instances))
		add("B13 decided %s", share(c.Decided, c.Advanced))
		add("found %s", found(c.Variants, variant.proven))
	}
	add("%.0f s", c.Seconds)
	return words
}

// details are why a cell ended as it did, what is suspect, and the kernel's own
// complaints.
func details(c *cell) []string {
	lines := append([]string{}, c.Reasons...)
	lines = append(lines, c.Suspects...)
	for _, w := range c.Warnings {
		lines = append(lines, "the kernel says: "+report.Clean(w))
	}
	return lines
}

// found spells the variants that are wanted.
func found(variants []variant, wanted func(variant) bool) string {
	var words []string
	for _, v := range variants {
		if wanted(v) {
			words = append(words, v.Switch+"="+strings.Join(v.Left, "|"))
		}
	}
	if len(words) == 0 {
		return "-"
	}
	return strings.Join(words, " ")
}

// share is n of all in percent, cut so that only all of it is 100, or a dash
// where there is nothing.
func share(n, all uint64) string {
	if all == 0 {
		return "-"
	}
	hundredths := n * 10000 / all
	return fmt.Sprintf("%d.%02d %%", hundredths/100, hundredths%100)
}

// width of the summary, in columns.
const width = 96

// wrapped prints words behind a label, on as many lines as they need.
func wrapped(w io.Writer, label, text string) {
	line := label
	for word := range strings.FieldsSeq(text) {
		switch {
		case len(line) == len(label):
			line += word
		case len(line)+1+len(word) <= width:
			line += " " + word
		default:
			fmt.Fprintln(w, line)
			line = strings.Repeat(" ", len(label)) + word
		}
	}
	fmt.Fprintln(w, line)
}

// short is a kernel's name in a table: of a path the end.
func short(kernel string) string {
	const most = 16
	name := report.Clean(filepath.Base(kernel))
	return name[max(0, len(name)-most):]
}

// printSummary prints a table of all cells, one of the kernels with what all
// their captures leave of the switches, and how many cells ended how.
func printSummary(w io.Writer, cells []*cell, rows []*row, took time.Duration) {
	first := 10
	for _, c := range cells {
		first = max(first, len(short(c.Kernel))+1)
	}
	const form = "%-*s%-9s%-5s%6s%5s%7s%6s%8s%7s%5s%10s%9s%6s\n"
	fmt.Fprintf(w, "\n"+form, first, "kernel", "nic", "", "played", "skip",
		"pass", "pass*", "suspect", "inconc", "fail", "undecided", "B13", "s")
	count := make(map[state]int)
	taken := 0
	for _, c := range cells {
		count[c.State]++
		if c.tookOver {
			taken++
		}
		n := func(v analysis.Verdict) string { return fmt.Sprint(c.Verdicts[v]) }
		fmt.Fprintf(w, form, first, short(c.Kernel), c.NIC, c.State, fmt.Sprint(len(c.Played)), fmt.Sprint(len(c.Skipped)),
			n(analysis.VerdictPass), n(analysis.VerdictExpected), n(analysis.VerdictSuspect), n(analysis.VerdictInconclusive),
			n(analysis.VerdictFail), share(c.Undecided, c.Instances), share(c.Decided, c.Advanced), fmt.Sprintf("%.0f", c.Seconds))
	}
	for _, r := range rows {
		fmt.Fprintf(w, "\n%-*s%s\n", first, short(r.kernel), report.Clean(r.release))
		wrapped(w, "  proven   ", found(r.variants, variant.proven))
		for _, l := range r.contradictions {
			wrapped(w, "  against  ", l)
		}
		for _, l := range r.open {
			wrapped(w, "  open     ", l)
		}
	}
	fmt.Fprintf(w, "\n%d cells: %d ok, %d failed, %d skipped", len(cells), count[ok], count[failed], count[skipped])
	if taken > 0 {
		fmt.Fprintf(w, "; %d of them taken over", taken)
	}
	fmt.Fprintf(w, "; %v\n", took.Round(time.Second))
}
