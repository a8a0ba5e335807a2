// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"io"

	"github.com/spf13/pflag"

	"github.com/txtrace/txtrace/internal/report"
)

func runVerb() verb {
	r := &recording{}
	var v verifyFlags
	var rep reportFlags
	var text textFlags
	var again repeatFlags
	return verb{
		name:     "run",
		operands: "-- COMMAND [ARGUMENT...]",
		summary:  "record while a command runs, then report and verify",
		example:  "txtrace run -- netperf -H 192.0.2.2 -t UDP_STREAM -l 10",
		command:  true,
		flags: func(fs *pflag.FlagSet) {
			r.output = captureDefault
			r.outputFlags.add(fs, "capture `FILE`, old one kept")
			r.recordFlags.add(fs)
			v.add(fs)
			rep.add(fs)
			text.add(fs)
			again.add(fs)
		},
		run: func(ctx context.Context, t *tool, command []string) error {
			if len(command) == 0 {
				return usage("run", "no command", "run records while a command runs", "add -- COMMAND, or use record")
			}
			if r.output == "-" {
				return usage("--output", "- is refused", "stdout is for the report", "name a file, or use record")
			}
			opt, err := v.options()
			if err != nil {
				return err
			}
			r.with.need(opt.Asked())
			switch {
			case again.runs > 0:
				return t.repeat(ctx, r, &again, text, command)
			case len(again.setups) > 0:
				return usage("--setup", "refused", "one run has no sets", "add --repeat NUMBER")
			}
			childOut := t.stdout
			if r.format == "json" {
				childOut = t.stderr
			}
			rec, err := r.record(ctx, t, command, childOut)
			if err != nil {
				return err
			}
			// An interrupted recording is still reported: only a second
			// signal, which ends the process, is a wish to see nothing.
			opt.ChildFailed = rec.childFailed()
			res, err := analyze(context.WithoutCancel(ctx), t, r.output, opt)
			if err != nil {
				return err
			}
			doc := report.NewRun(res, report.By(rep.by))
			stdout := outputFlags{color: r.color, format: r.format, verbose: r.verbose}
			err = t.emit(&stdout, stdout.document(doc, func(w io.Writer) error { return doc.Text(w, stdout.text(t, text)) }))
			if err != nil {
				return err
			}
			if !r.quiet {
				t.say("%s", r.summary(rec))
			}
			if failed := childStatus(rec); failed != nil {
				t.complain(asFailure(failed))
			}
			return status(res.Verify.Exit)
		},
	}
}
