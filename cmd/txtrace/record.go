// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/spf13/pflag"

	"github.com/txtrace/txtrace/internal/capture"
)

const captureDefault = "out.txtrace"

func recordVerb() verb {
	r := &recording{}
	return verb{
		name:     "record",
		operands: "[-- COMMAND [ARGUMENT...]]",
		summary:  "record into a file, while a command runs or until Ctrl-C",
		example:  "txtrace record --filter-ifname eth0 --duration 10s -o eth0.txtrace",
		command:  true,
		flags: func(fs *pflag.FlagSet) {
			r.output = captureDefault
			r.outputFlags.add(fs, "capture `FILE`, old one kept")
			r.recordFlags.add(fs)
		},
		run: func(ctx context.Context, t *tool, command []string) error {
			childOut := t.stdout
			if r.format == "json" || r.output == "-" {
				childOut = t.stderr
			}
			res, err := r.record(ctx, t, command, childOut)
			if err != nil {
				return err
			}
			if !r.quiet {
				t.say("%s", r.summary(res))
			}
			return childStatus(res)
		},
	}
}

// summary is the line that ends a recording.
func (r *recording) summary(res *result) string {
	return fmt.Sprintf("%s: %d bytes written, %d records lost: %s; txtrace verify %s checks it",
		r.output, res.footer.Self.Written, lost(res.footer), endText(res.end), r.output)
}

func endText(end error) string {
	switch {
	case errors.Is(end, errChild):
		return "the command ended"
	case errors.Is(end, errDuration):
		return "the time is over"
	case errors.Is(end, errTest):
		return "the test said so"
	}
	return "interrupted"
}

// childStatus is the failure of the command, if it failed by itself.
func childStatus(res *result) error {
	if !res.childFailed() {
		return nil
	}
	return &failure{exitChild, res.child.Command[0], complaint(res.child),
		"the command failed, the recording did not", "run it alone to see why", nil}
}

func lost(f *capture.Footer) (n uint64) {
	for _, row := range f.Ledger {
		n += row.Lost
	}
	return n
}
