// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"io"

	"github.com/spf13/pflag"

	"github.com/txtrace/txtrace/internal/analysis"
	"github.com/txtrace/txtrace/internal/capture"
	"github.com/txtrace/txtrace/internal/report"
)

func verifyVerb() verb {
	var o outputFlags
	var f verifyFlags
	var text textFlags
	var evidence string
	return verb{
		name:     "verify",
		operands: "FILE",
		summary:  "check a capture against the rules of the kernel",
		example:  "txtrace verify out.txtrace",
		flags: func(fs *pflag.FlagSet) {
			o.add(fs, "`FILE` to write, else stdout", "tap", "junit")
			f.add(fs)
			text.add(fs)
			fs.StringVar(&evidence, "evidence", "", "a small capture of each fail, in a `FOLDER`")
		},
		run: func(ctx context.Context, t *tool, operands []string) error {
			if len(operands) == 0 && evidence != "" {
				return usage("verify", "no file", "--evidence took "+evidence+" for its folder", "name both, as in txtrace verify --evidence fails "+captureDefault)
			}
			path, err := oneFile("verify", operands)
			if err != nil {
				return err
			}
			opt, err := f.options()
			if err != nil {
				return err
			}
			opt.NoReport = true
			if err := o.notOnto(path, "the capture that is read"); err != nil {
				return err
			}
			if evidence != "" {
				if err := t.evidenceFolder(evidence, path); err != nil {
					return err
				}
			}
			res, err := analyze(ctx, t, path, opt)
			if err != nil {
				return err
			}
			t.warnCut(path, o.quiet, res)
			doc := report.NewVerify(res)
			err = t.emit(&o, o.document(doc, func(w io.Writer) error {
				form := map[string]func(io.Writer, report.Text, *analysis.Verify, capture.Clock, bool) error{
					"tap": report.TAP, "junit": report.JUnit,
				}[o.format]
				if form != nil {
					return form(w, o.text(t, text), doc, res.Header.Clock, f.strict)
				}
				return report.Verdict(w, o.text(t, text), doc, res.Header.Clock)
			}))
			if err != nil {
				return err
			}
			if evidence != "" {
				if err := t.writeEvidence(ctx, path, evidence, o.quiet, res, opt); err != nil {
					return err
				}
			}
			if o.format == "tap" {
				return status(report.TAPExit(res.Verify.Exit))
			}
			return status(res.Verify.Exit)
		},
	}
}
