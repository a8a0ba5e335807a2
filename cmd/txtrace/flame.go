// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/pflag"

	"github.com/txtrace/txtrace/internal/capture"
	"github.com/txtrace/txtrace/internal/flame"
)

// moments are those at which stacks are taken. Each use of the flag adds some.
type moments []string

func (moments) names() string {
	var all []string
	for _, m := range capture.Moments() {
		all = append(all, m.Name)
	}
	return strings.Join(all, ", ") + " or all"
}

func (m *moments) String() string { return strings.Join(*m, ",") }

func (m *moments) Type() string { return "MOMENTS" }

func (m *moments) Set(text string) error {
	for name := range strings.SplitSeq(text, ",") {
		found := false
		for _, of := range capture.Moments() {
			if name == of.Name || name == "all" {
				*m, found = append(*m, of.Name), true
			}
		}
		if !found {
			return errors.New("it is one of " + m.names())
		}
	}
	return nil
}

func flameVerb() verb {
	var o outputFlags
	var at, by, base string
	var list bool
	return verb{
		name:     "flame",
		operands: "FILE",
		summary:  "show which calls led to a moment, as a flame graph",
		example:  "txtrace flame --at requeue --format svg -o requeues.svg out.txtrace",
		flags: func(fs *pflag.FlagSet) {
			fs.StringVar(&at, "at", "handover", "`MOMENT` that the recording took")
			fs.BoolVar(&list, "list", false, "list the moments and their weights")
			fs.Var(oneOf(&by, capture.ByCount, capture.ByPackets, capture.ByBytes, capture.ByNS), "by", "`WEIGHT`: count, packets, bytes or ns")
			fs.StringVar(&base, "diff", "", "show what changed since this `FILE`")
			fs.Var(oneOf(&o.format, "folded", "svg", "pprof"), "format", "`FORM`: folded, svg or pprof")
			o.addPlain(fs)
			fs.BoolVarP(&o.quiet, "quiet", "q", false, "say nothing on stderr but errors")
		},
		run: func(ctx context.Context, t *tool, operands []string) error {
			if list {
				return t.emit(&o, listMoments)
			}
			path, err := oneFile("flame", operands)
			if err != nil {
				return err
			}
			if o.format == "pprof" && base != "" {
				return usage("--diff", "refused", "pprof takes two profiles itself", "use go tool pprof -diff_base")
			}
			s, under, err := t.stacks(ctx, &o, path, at, by)
			if err != nil {
				return err
			}
			var before *flame.Stacks
			if base != "" {
				if before, _, err = t.stacks(ctx, &o, base, at, by); err != nil {
					return err
				}
			}
			if s.Lost > 0 && !o.quiet {
				t.say("%s: %d of %d stacks are not known: no room was left", path, s.Lost, s.Seen)
			}
			return t.emit(&o, func(w io.Writer) error {
				switch o.format {
				case "svg":
					return flame.SVG(w, s, before, under)
				case "pprof":
					return flame.Pprof(w, s)
				}
				return flame.Folded(w, s, before)
			})
		},
	}
}

// listMoments prints what stacks can be taken at, and counted by.
func listMoments(w io.Writer) error {
	var err error
	for _, m := range capture.Moments() {
		_, e := fmt.Fprintf(w, "%-9s %s, in %s\n%-9s by %s\n", m.Name, m.Meaning, m.Function, "", strings.Join(m.Weights, ", "))
		err = errors.Join(err, e)
	}
	return err
}

// stacks reads the capture at path to its end, where its stacks are, and says
// what it is of: the kernel and the command.
func (t *tool) stacks(ctx context.Context, o *outputFlags, path, at, by string) (*flame.Stacks, string, error) {
	if err := o.notOnto(path, "a capture that is read"); err != nil {
		return nil, "", err
	}
	r, file, err := openReader(ctx, t, path)
	if err != nil {
		return nil, "", err
	}
	defer file.Close()
	for {
		if _, err := r.Next(); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			return nil, "", notRead(path, err)
		}
	}
	foot, h := r.Footer(), r.Header()
	if foot == nil {
		return nil, "", usage(path, "no stacks", "the capture is cut, and stacks are stored at its end", "record again with --stacks "+at)
	}
	s, err := flame.New(foot.Stacks, at, by, h.Kernel.Emulated)
	var no *flame.Refusal
	if errors.As(err, &no) {
		return nil, "", usage(path+": "+no.Object, no.What, no.Cause, no.Next)
	}
	under := h.Kernel.Release
	if foot.Child != nil {
		under += ": " + strings.Join(foot.Child.Command, " ")
	}
	return s, under, err
}
