// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"

	"github.com/txtrace/txtrace/internal/capture"
)

// line is one load: a line of runs.
type line struct {
	round    string // a number, or stats
	tool     string
	messages int64
	cpuMS    int64 // processor time of the tool's own processes
	events   int64 // what the tool has in its file; -1: not known
	lost     int64 // what it says that it lost; -1: not known
}

func parseRuns(text string) (release string, lines []line, err error) {
	first, rest, _ := strings.Cut(text, "\n")
	release, ok := strings.CutPrefix(first, "# ")
	if !ok {
		return "", nil, fmt.Errorf("runs: %q: want the kernel's release", first)
	}
	for text := range strings.Lines(rest) {
		var l line
		text = strings.ReplaceAll(text, " -", " -1")
		if _, err := fmt.Sscan(text, &l.round, &l.tool, &l.messages, &l.cpuMS, &l.events, &l.lost); err != nil {
			return "", nil, fmt.Errorf("runs: %q: %w", text, err)
		}
		if l.messages <= 0 {
			return "", nil, fmt.Errorf("runs: %q: no messages", text)
		}
		lines = append(lines, l)
	}
	return release, lines, nil
}

// inside is what a capture says of its own recording.
type inside struct {
	records, lost int64
	programs      []program
}

func look(path string) (*inside, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	r, err := capture.Open(f)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	for err == nil {
		_, err = r.Next()
	}
	if !errors.Is(err, io.EOF) {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	footer := r.Footer()
	if footer == nil {
		return nil, fmt.Errorf("%s: cut: %s", path, r.Cut().Reason)
	}
	var in inside
	for _, n := range footer.Records {
		in.records += n
	}
	for _, row := range footer.Ledger {
		in.lost += int64(row.Lost + row.Missed)
	}
	named := r.Header().Programs
	for _, p := range footer.Self.BPF {
		if p.Program < 0 || p.Program >= len(named) {
			return nil, fmt.Errorf("%s: no program %d", path, p.Program)
		}
		in.programs = append(in.programs, program{
			Name: named[p.Program].Name, Hook: named[p.Program].Hook,
			Runs: int64(p.Runs), NS: int64(p.NS),
		})
	}
	return &in, nil
}

// perfStats asks perf how many samples it has, and how many times it lost
// some.
func perfStats(ctx context.Context, path string) (events, lost int64, err error) {
	cmd := exec.CommandContext(ctx, "perf", "report", "--stats", "-i", path)
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	if err != nil {
		return 0, 0, fmt.Errorf("perf report: %w", err)
	}
	return parseStats(string(out))
}

func parseStats(text string) (events, lost int64, err error) {
	// A block for all events comes first, then one for each.
	_, whole, ok := strings.Cut(text, "Aggregated stats:")
	if !ok {
		return 0, 0, errors.New("perf report: no statistics")
	}
	whole, _, _ = strings.Cut(whole, " stats:")
	for l := range strings.Lines(whole) {
		name, value, ok := strings.Cut(l, " events:")
		if !ok {
			continue
		}
		var n int64
		if _, err := fmt.Sscan(value, &n); err != nil {
			return 0, 0, fmt.Errorf("perf report: %q: %w", l, err)
		}
		switch strings.TrimSpace(name) {
		case "SAMPLE":
			events = n
		case "LOST", "LOST_SAMPLES":
			lost += n
		}
	}
	if events == 0 {
		return 0, 0, errors.New("perf report: no samples")
	}
	return events, lost, nil
}
