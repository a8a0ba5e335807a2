// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"io"

	"github.com/spf13/pflag"

	"github.com/txtrace/txtrace/internal/export"
)

func exportVerb() verb {
	var o outputFlags
	var schema bool
	return verb{
		name:     "export",
		operands: "FILE",
		summary:  "write the records of a capture for other tools",
		example:  "txtrace export --format jsonl -o out.jsonl out.txtrace",
		flags: func(fs *pflag.FlagSet) {
			fs.Var(oneOf(&o.format, "jsonl", "parquet"), "format", "`FORM`: jsonl or parquet")
			fs.BoolVar(&schema, "schema", false, "print the JSON Schema of a line")
			o.addPlain(fs)
			fs.BoolVarP(&o.quiet, "quiet", "q", false, "say nothing on stderr but errors")
		},
		run: func(ctx context.Context, t *tool, operands []string) error {
			if schema {
				if err := noOperands("export", operands); err != nil {
					return err
				}
				return t.emit(&o, export.Schema)
			}
			path, err := oneFile("export", operands)
			if err != nil {
				return err
			}
			if err := o.notOnto(path, "the capture that is read"); err != nil {
				return err
			}
			r, file, err := openReader(ctx, t, path)
			if err != nil {
				return err
			}
			defer file.Close()
			if o.format == "parquet" {
				err = t.folder(&o, func(dir string) error { return unread(path, export.Tables(dir, r)) })
			} else {
				err = t.stream(&o, func(w io.Writer) error { return unread(path, export.Lines(w, r)) })
			}
			if cut := r.Cut(); err == nil && cut != nil && !o.quiet {
				t.say("%s: cut after %d bytes: %s; what is before it was exported", path, cut.Offset, cut.Reason)
			}
			return err
		},
	}
}

// unread words an error of what was read; others are of what was written.
func unread(path string, err error) error {
	if errors.Is(err, export.ErrRead) {
		return notRead(path, err)
	}
	return err
}
