// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"io"

	"github.com/spf13/pflag"
)

// exitCodes and what they mean.
var exitCodes = []struct {
	code    int
	meaning string
}{
	{exitOK, "nothing is wrong"},
	{exitFail, "a rule failed, or a change is beyond --fail-on"},
	{exitUsage, "what was typed is wrong"},
	{exitInconclusive, "inconclusive: no fail, but not all could be decided"},
	{exitSkip, "cannot run here"},
	{exitInternal, "internal error"},
	{exitChild, "the command failed and no rule did"},
}

func printHelp(w io.Writer, all []verb) error {
	fmt.Fprint(w, `txtrace records what a running Linux kernel does on its transmit path,
rebuilds the decisions it made, and says whether they follow the
kernel's own rules.

Usage: txtrace VERB [FLAGS] [OPERANDS]

Verbs:
`)
	for _, v := range all {
		fmt.Fprintf(w, "  %-10s %s\n", v.name, v.summary)
	}
	fmt.Fprint(w, "\nExit codes:\n")
	for _, c := range exitCodes {
		fmt.Fprintf(w, "  %d  %s\n", c.code, c.meaning)
	}
	fmt.Fprint(w, `
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
	for _, r := range flagTable(fs) {
		short := "   "
		if r.short != "" {
			short = "-" + r.short + ","
		}
		fmt.Fprintf(w, "  %s %-22s %s\n", short, r.spelled(), r.text)
	}
	fmt.Fprintf(w, "\nExample:\n  %s\n", v.example)
	return nil
}
