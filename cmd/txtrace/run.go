// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"

	"github.com/spf13/pflag"
)

func runVerb() verb {
	r := &recording{}
	var v verifyFlags
	var rep reportFlags
	var text textFlags
	return verb{
		name:     "run",
		operands: "-- COMMAND [ARGUMENT...]",
		summary:  "record while a command runs, then report and verify",
		example:  "txtrace run -- netperf -H 192.0.2.2 -t UDP_STREAM -l 10",
		command:  true,
		flags: func(fs *pflag.FlagSet) {
			r.output = captureDefault
			r.outputFlags.add(fs, "capture `FILE`; an old one stays")
			r.recordFlags.add(fs)
			v.add(fs)
			rep.add(fs)
			text.add(fs)
		},
		run: func(ctx context.Context, t *tool, command []string) error {
			if len(command) == 0 {
				return usage("run", "no command", "run records while a command runs", "add -- COMMAND, or use record")
			}
			if r.output == "-" {
				return usage("--output", "- is refused", "stdout is for the report", "name a file, or use record")
			}
			childOut := t.stdout
			if r.format == "json" {
				childOut = t.stderr
			}
			res, err := r.record(ctx, t, command, childOut)
			if err != nil {
				return err
			}
			_ = res
			return errors.New("analysis is not built yet")
		},
	}
}
