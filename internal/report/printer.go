// SPDX-License-Identifier: Apache-2.0

package report

import (
	"fmt"
	"io"
	"strings"
)

// Width of all text, in columns.
const Width = 72

// Text says how text is spelled.
type Text struct {
	Color bool
	Human bool   // large numbers as K and M
	More  bool   // what is of use only to who looks for it
	Time  string // relative, boot or wall
}

// printer writes text within Width. The first error of the output stays, and
// nothing is written after it.
type printer struct {
	Text
	out io.Writer
	err error
}

// line prints one line that the caller keeps within Width.
func (p *printer) line(format string, args ...any) {
	if p.err == nil {
		_, p.err = fmt.Fprintln(p.out, strings.TrimRight(fmt.Sprintf(format, args...), " "))
	}
}

// wrapped prints text of any length: lead before its first line, as many
// blanks before the others.
func (p *printer) wrapped(lead, text string) {
	indent := strings.Repeat(" ", len(lead))
	for i, l := range wrap(Clean(text), Width-len(lead)) {
		if i > 0 {
			lead = indent
		}
		p.line("%s%s", lead, l)
	}
}

// field prints a label and what belongs to it, which may be long. Nothing is
// printed when there is nothing to say.
func (p *printer) field(label string, parts ...string) {
	var said []string
	for _, s := range parts {
		if s != "" {
			said = append(said, s)
		}
	}
	if len(said) > 0 {
		p.wrapped(fmt.Sprintf("%-13s", label), strings.Join(said, ", "))
	}
}

// heading prints an empty line and a title.
func (p *printer) heading(format string, args ...any) {
	p.line("")
	p.line("%s", cut(Clean(fmt.Sprintf(format, args...)), Width))
}

// wrap breaks text at blanks into lines of at most width; a word that is
// longer is broken where it must be.
func wrap(text string, width int) []string {
	lines := []string{""}
	for _, word := range strings.Fields(text) {
		last := &lines[len(lines)-1]
		switch {
		case *last == "":
			*last = word
		case len(*last)+1+len(word) <= width:
			*last += " " + word
		default:
			lines = append(lines, word)
		}
		for last := lines[len(lines)-1]; len(last) > width; last = lines[len(lines)-1] {
			lines[len(lines)-1] = last[:width]
			lines = append(lines, last[width:])
		}
	}
	return lines
}

// cut shortens s to n columns, and shows that it did.
func cut(s string, n int) string {
	if len(s) <= n {
		return s
	}
	return s[:n-1] + "~"
}
