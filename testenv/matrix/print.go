// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/txtrace/txtrace/internal/analysis"
)

// printCell prints a cell in a line, and below it what it should be looked at for.
func printCell(w io.Writer, c *cell) {
	fmt.Fprintf(w, "%s\n", line(c))
	for _, d := range details(c) {
		fmt.Fprintf(w, "    %s\n", d)
	}
}

func line(c *cell) string {
	words := []string{fmt.Sprintf("%-4s %s %s", c.State, c.Kernel, c.NIC)}
	add := func(format string, args ...any) { words = append(words, fmt.Sprintf(format, args...)) }
	if c.Release != "" {
		add("%s", c.Release)
	}
	if c.tookOver {
		add("taken over")
	}
	if len(c.Played)+len(c.Skipped) > 0 {
		add("%d scenarios, %d skipped", len(c.Played), len(c.Skipped))
	}
	if len(c.Played) > 0 {
		add("pass %d, expected %d, suspect %d, inconclusive %d, fail %d",
			c.Verdicts[analysis.VerdictPass], c.Verdicts[analysis.VerdictExpected], c.Verdicts[analysis.VerdictSuspect],
			c.Verdicts[analysis.VerdictInconclusive], c.Verdicts[analysis.VerdictFail])
		add("undecided %s", share(c.Undecided, c.Instances))
		add("B13 %s", share(c.Decided, c.Advanced))
		add("%s", found(c))
	}
	add("%.0f s", c.Seconds)
	return strings.Join(words, "; ")
}

// details are why a cell ended as it did, what is suspect, and the kernel's own
// complaints.
func details(c *cell) []string {
	lines := append([]string{}, c.Reasons...)
	lines = append(lines, c.Suspects...)
	for _, w := range c.Warnings {
		lines = append(lines, "the kernel says: "+w)
	}
	return lines
}

// found are the variants that the captures prove.
func found(c *cell) string {
	var words []string
	for _, v := range c.Variants {
		if v.proven() {
			words = append(words, v.Switch+"="+v.Left[0])
		}
	}
	return strings.Join(words, " ")
}

// share is n of all in percent, or a dash where there is nothing.
func share(n, all uint64) string {
	if all == 0 {
		return "-"
	}
	return fmt.Sprintf("%.2f %%", 100*float64(n)/float64(all))
}

// printSummary prints a table of all cells and their number by how they ended.
func printSummary(w io.Writer, cells []*cell, took time.Duration) {
	fmt.Fprintf(w, "\n%-9s %-8s %-4s %6s %4s %5s %5s %4s %6s %4s %9s %8s %5s\n", "kernel", "nic", "", "played", "skip",
		"pass", "pass*", "susp", "inconc", "fail", "undecided", "B13", "s")
	count := make(map[state]int)
	for _, c := range cells {
		count[c.State]++
		v := c.Verdicts
		fmt.Fprintf(w, "%-9s %-8s %-4s %6d %4d %5d %5d %4d %6d %4d %9s %8s %5.0f\n", c.Kernel, c.NIC, c.State,
			len(c.Played), len(c.Skipped), v[analysis.VerdictPass], v[analysis.VerdictExpected], v[analysis.VerdictSuspect],
			v[analysis.VerdictInconclusive], v[analysis.VerdictFail], share(c.Undecided, c.Instances), share(c.Decided, c.Advanced), c.Seconds)
	}
	fmt.Fprintf(w, "\n%d cells: %d ok, %d failed, %d skipped; %v\n", len(cells), count[ok], count[failed], count[skipped], took.Round(time.Second))
}
