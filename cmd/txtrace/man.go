// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"fmt"
	"io"
	"strings"
)

func manVerb() verb {
	var o outputFlags
	return verb{
		name:    "man",
		summary: "print the manual page",
		example: "txtrace man -o txtrace.1",
		flags:   o.addPlain,
		run: func(_ context.Context, t *tool, operands []string) error {
			if err := noOperands("man", operands); err != nil {
				return err
			}
			return t.emit(&o, func(w io.Writer) error { return printMan(w, verbs()) })
		},
	}
}

// printMan prints roff of the verbs and their flags.
func printMan(w io.Writer, all []verb) error {
	var b strings.Builder
	fmt.Fprintf(&b, ".TH TXTRACE 1 \"\" \"%s\"\n.SH NAME\ntxtrace \\- record the kernel's transmit path and check it against its rules\n", roff("txtrace "+version()))
	b.WriteString(".SH SYNOPSIS\n.B txtrace\nVERB [FLAGS] [OPERANDS]\n.SH DESCRIPTION\ntxtrace records what a running Linux kernel does on its transmit path, rebuilds the decisions it made, and says whether they follow the kernel's own rules.\n.SH VERBS\n")
	for _, v := range all {
		fmt.Fprintf(&b, ".SS %s\n%s.\n.PP\n.B txtrace %s\n[FLAGS] %s\n", roff(strings.TrimSpace(v.name+" "+v.operands)), roff(v.summary), roff(v.name), roff(v.operands))
		for _, r := range flagTable(flagSet(v)) {
			short := ""
			if r.short != "" {
				short = "-" + r.short + ", "
			}
			fmt.Fprintf(&b, ".TP\n.B %s\n%s\n", roff(short+r.spelled()), roff(r.text))
		}
		fmt.Fprintf(&b, ".PP\nFor example:\n.PP\n.nf\n%s\n.fi\n", roff(v.example))
	}
	b.WriteString(".SH EXIT STATUS\n")
	for _, c := range exitCodes {
		fmt.Fprintf(&b, ".TP\n.B %d\n%s\n", c.code, roff(c.meaning))
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// roff makes text of a line, whatever it holds: no request, no escape, and
// minus signs that can be copied.
func roff(text string) string {
	text = strings.NewReplacer(`\`, `\e`, "-", `\-`).Replace(text)
	if strings.HasPrefix(text, ".") || strings.HasPrefix(text, "'") {
		text = `\&` + text
	}
	return text
}
