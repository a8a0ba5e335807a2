// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"

	"github.com/spf13/pflag"
)

func verifyVerb() verb {
	var o outputFlags
	var f verifyFlags
	var text textFlags
	return verb{
		name:     "verify",
		operands: "FILE",
		summary:  "check a capture against the rules of the kernel",
		example:  "txtrace verify out.txtrace",
		flags: func(fs *pflag.FlagSet) {
			o.add(fs, "`FILE` to write, else stdout")
			f.add(fs)
			text.add(fs)
		},
		run: func(ctx context.Context, t *tool, operands []string) error {
			if _, err := oneFile("verify", operands); err != nil {
				return err
			}
			return errors.New("analysis is not built yet")
		},
	}
}
