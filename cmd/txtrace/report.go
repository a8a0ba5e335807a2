// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"

	"github.com/spf13/pflag"
)

func reportVerb() verb {
	var o outputFlags
	var f reportFlags
	var text textFlags
	return verb{
		name:     "report",
		operands: "FILE",
		summary:  "print what the capture says of each device and queue",
		example:  "txtrace report out.txtrace",
		flags: func(fs *pflag.FlagSet) {
			o.add(fs, "`FILE` to write, else stdout")
			f.add(fs)
			text.add(fs)
		},
		run: func(ctx context.Context, t *tool, operands []string) error {
			if _, err := oneFile("report", operands); err != nil {
				return err
			}
			return errors.New("analysis is not built yet")
		},
	}
}
