// SPDX-License-Identifier: Apache-2.0

package main

import (
	"io"
	"strings"

	"github.com/spf13/pflag"
)

// flagRow is a flag as help, completion and the manual page show it.
type flagRow struct {
	name, short string
	operand     string   // what it takes, empty: nothing
	text        string   // with its default
	values      []string // that it may have, nil: any
}

// flagTable lists a verb's flags in their order.
func flagTable(fs *pflag.FlagSet) []flagRow {
	var rows []flagRow
	fs.VisitAll(func(f *pflag.Flag) {
		r := flagRow{name: f.Name, short: f.Shorthand}
		r.operand, r.text = pflag.UnquoteUsage(f)
		if f.Value.Type() == "bool" {
			r.operand = ""
		}
		switch def := f.DefValue; def {
		case "", "[]", "false", "0", "0s":
		default:
			r.text += " (" + def + ")"
		}
		if g, ok := f.Value.(given); ok {
			if c, ok := g.Value.(choice); ok {
				r.values = c.names
			}
		}
		rows = append(rows, r)
	})
	return rows
}

// flagSet is the flags of a verb, ready to be parsed.
func flagSet(v verb) *pflag.FlagSet {
	fs := pflag.NewFlagSet(v.name, pflag.ContinueOnError)
	fs.SetOutput(io.Discard)
	fs.Usage = func() {}
	fs.SortFlags = false
	fs.SetInterspersed(!v.command)
	v.flags(fs)
	fs.VisitAll(func(f *pflag.Flag) { f.Value = given{f.Value} })
	return fs
}

// spelled as help has it: --output FILE.
func (r *flagRow) spelled() string { return strings.TrimSpace("--" + r.name + " " + r.operand) }
