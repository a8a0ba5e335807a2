// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"

	"github.com/spf13/pflag"
)

func doctorVerb() verb {
	var o outputFlags
	return verb{
		name:    "doctor",
		summary: "say what can be recorded here, and from which hook",
		example: "txtrace doctor --format json",
		flags: func(fs *pflag.FlagSet) {
			o.add(fs, "`FILE` to write, else stdout")
		},
		run: func(_ context.Context, t *tool, operands []string) error {
			if err := noOperands("doctor", operands); err != nil {
				return err
			}
			return errors.New("facts are not built yet")
		},
	}
}
