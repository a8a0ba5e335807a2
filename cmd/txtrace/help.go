// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"io"
	"strings"

	"github.com/spf13/pflag"
)

func printHelp(w io.Writer, all []verb) error {
	fmt.Fprint(w, `txtrace records what a running Linux kernel does on its transmit path,
rebuilds the decisions it made, and says whether they follow the
kernel's own rules.

Usage: txtrace VERB [FLAGS] [OPERANDS]

Verbs:
`)
	for _, v := range all {
		fmt.Fprintf(w, "  %-8s %s\n", v.name, v.summary)
	}
	fmt.Fprint(w, `
Exit codes:
  0  nothing is wrong
  1  a rule failed, or a change is beyond --fail-on
  2  what was typed is wrong
  3  inconclusive: no fail, but not all could be decided
  4  cannot run here
  5  internal error
  6  the command failed and no rule did

Example:
  txtrace run -- netperf -H 192.0.2.2 -t UDP_STREAM -l 10

txtrace VERB --help prints the flags of a verb.
`)
	return nil
}

func printVerbHelp(w io.Writer, v verb, fs *pflag.FlagSet) error {
	line := "txtrace " + v.name + " [FLAGS]"
	if v.operands != "" {
		line += " " + v.operands
	}
	fmt.Fprintf(w, "%s\n\nUsage: %s\n\nFlags:\n", v.summary, line)
	fs.VisitAll(func(f *pflag.Flag) { printFlag(w, f) })
	fmt.Fprintf(w, "\nExample:\n  %s\n", v.example)
	return nil
}

// printFlag prints one flag on one line.
func printFlag(w io.Writer, f *pflag.Flag) {
	short := "   "
	if f.Shorthand != "" {
		short = "-" + f.Shorthand + ","
	}
	operand, text := pflag.UnquoteUsage(f)
	if f.Value.Type() == "bool" {
		operand = ""
	}
	switch def := f.DefValue; def {
	case "", "[]", "false", "0", "0s":
	default:
		text += " (" + def + ")"
	}
	fmt.Fprintf(w, "  %s %-22s %s\n", short, strings.TrimSpace("--"+f.Name+" "+operand), text)
}
