// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"

	"github.com/spf13/pflag"
)

func rulesVerb() verb {
	var o outputFlags
	return verb{
		name:     "rules",
		operands: "[ID]",
		summary:  "list the rules, or tell all about one",
		example:  "txtrace rules D2",
		flags: func(fs *pflag.FlagSet) {
			o.add(fs, "`FILE` to write, else stdout")
		},
		run: func(_ context.Context, t *tool, operands []string) error {
			if len(operands) > 1 {
				return usage(operands[1], "one rule too many", "rules tells of one", "see txtrace rules --help")
			}
			return errors.New("rules are not built yet")
		},
	}
}
