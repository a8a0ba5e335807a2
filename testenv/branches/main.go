// SPDX-License-Identifier: Apache-2.0

// Branches says how often real kernels took each branch of the model.
//
//	go run ./testenv/branches CAPTURE...
//
// It reads captures and counts, for every decision that the model explains,
// which branch of which of its functions the kernel must have gone through. A
// branch that must be seen and was not makes it exit with 1; the others say
// why they may be missing.
//
// It takes several guests to see all that must be. QEMU's NICs send within the
// doorbell, so everything is always complete and no limit has slack; virtio can
// be told to take its time. make branches boots such guests and counts.
package main

import (
	"fmt"
	"io"
	"os"

	"github.com/txtrace/txtrace/internal/analysis"
	"github.com/txtrace/txtrace/internal/capture"
)

func main() {
	os.Exit(run(os.Args[1:], os.Stdout, os.Stderr))
}

func run(paths []string, stdout, stderr io.Writer) int {
	if len(paths) == 0 {
		fmt.Fprintln(stderr, "usage: branches CAPTURE...")
		return 2
	}
	t := newTable()
	for _, path := range paths {
		if err := count(t, path); err != nil {
			fmt.Fprintf(stderr, "branches: %s: %v\n", path, err)
			return 2
		}
	}
	if t.print(stdout); t.lacks() {
		return 1
	}
	return 0
}

// count adds one capture. It is read as verify reads it, with the counting as
// its only rule.
func count(t *table, path string) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	r, err := capture.Open(f)
	if err != nil {
		return err
	}
	rule := analysis.Rule{ID: "branches", Strength: analysis.Exact, New: func(*analysis.Judge) analysis.Checks { return t.checks() }}
	_, err = analysis.Analyze(r, analysis.Options{Rules: []analysis.Rule{rule}, NoReport: true})
	return err
}
