// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"io"

	"github.com/spf13/pflag"

	"github.com/txtrace/txtrace/internal/analysis"
	"github.com/txtrace/txtrace/internal/report"
)

func reportVerb() verb {
	var o outputFlags
	var f reportFlags
	var text textFlags
	return verb{
		name:     "report",
		operands: "FILE",
		summary:  "print what the capture says of each device and queue",
		example:  "txtrace report --by device out.txtrace",
		flags: func(fs *pflag.FlagSet) {
			o.add(fs, "`FILE` to write, else stdout")
			f.add(fs)
			text.add(fs)
		},
		run: func(ctx context.Context, t *tool, operands []string) error {
			path, err := oneFile("report", operands)
			if err != nil {
				return err
			}
			if err := o.notOnto(path, "the capture that is read"); err != nil {
				return err
			}
			res, err := analyze(ctx, t, path, analysis.Options{})
			if err != nil {
				return err
			}
			t.warnCut(path, o.quiet, res)
			doc := report.New(res, report.By(f.by))
			return t.emit(&o, o.document(doc, func(w io.Writer) error { return doc.Text(w, o.text(t, text)) }))
		},
	}
}
