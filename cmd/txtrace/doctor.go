// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"io"

	"github.com/spf13/pflag"

	"github.com/txtrace/txtrace/internal/probes"
)

func doctorVerb() verb {
	var o outputFlags
	var p probeFlags
	return verb{
		name:    "doctor",
		summary: "say what can be recorded here, and from which hook",
		example: "txtrace doctor --format json",
		flags: func(fs *pflag.FlagSet) {
			o.add(fs, "`FILE` to write, else stdout")
			p.add(fs)
		},
		run: func(_ context.Context, t *tool, operands []string) error {
			if err := noOperands("doctor", operands); err != nil {
				return err
			}
			if err := p.check(); err != nil {
				return err
			}
			if err := o.notOnto(p.kernelBTF, "what --kernel-btf names"); err != nil {
				return err
			}
			doc, err := t.recorder.doctor(&p)
			// What keeps a recording from working here is doctor's answer;
			// what was typed wrong is not.
			var f *failure
			if err != nil && (!errors.As(err, &f) || f.code != exitSkip) {
				return err
			}
			if f != nil {
				doc.Ready, doc.Problem, doc.Next = false, f.object+": "+f.what+": "+f.cause, f.next
				if f.next == probes.SeeDoctor {
					doc.Next = "use a kernel that has it: README.md, Requirements, has the options that it takes"
				}
			}
			err = t.emit(&o, o.document(doc, func(w io.Writer) error { return doc.Text(w, o.text(t, textFlags{})) }))
			if err != nil {
				return err
			}
			if !doc.Ready {
				return status(exitSkip)
			}
			return nil
		},
	}
}
