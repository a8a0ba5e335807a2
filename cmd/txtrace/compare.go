// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/spf13/pflag"

	"github.com/txtrace/txtrace/internal/analysis"
	"github.com/txtrace/txtrace/internal/comparison"
	"github.com/txtrace/txtrace/internal/report"
	"github.com/txtrace/txtrace/internal/statistics"
)

func compareVerb() verb {
	var o outputFlags
	var f compareFlags
	var args *pflag.FlagSet
	return verb{
		name:     "compare",
		operands: "A... -- B...",
		summary:  "compare captures before a change with those after it",
		example:  "txtrace compare --fail-on 'requeues>5%' A*.txtrace -- B*.txtrace",
		flags: func(fs *pflag.FlagSet) {
			args = fs
			o.add(fs, "`FILE` to write, else stdout", "markdown", "csv")
			f.add(fs)
		},
		run: func(ctx context.Context, t *tool, operands []string) error {
			if f.list {
				return t.emit(&o, func(w io.Writer) error { return report.CompareMetrics(w, comparison.Metrics()) })
			}
			opt, err := f.options()
			if err != nil {
				return err
			}
			before, after, err := sides(operands, args.ArgsLenAtDash())
			if err != nil {
				return err
			}
			for _, path := range operands {
				if err := o.notOnto(path, "a capture that is read"); err != nil {
					return err
				}
			}
			doc, err := t.compare(ctx, before, after, opt)
			if err != nil {
				return err
			}
			err = t.emit(&o, o.document(doc, func(w io.Writer) error {
				switch o.format {
				case "markdown":
					return report.CompareMarkdown(w, doc)
				case "csv":
					return report.CompareCSV(w, doc)
				}
				return report.Compare(w, o.text(t, textFlags{}), doc)
			}))
			if err != nil {
				return err
			}
			return status(doc.Exit)
		},
	}
}

// sides are the captures before and after the dash, which stands at a place of
// the operands, or at none (-1).
func sides(operands []string, dash int) (before, after []string, err error) {
	see := "name captures on both sides of --, as in A1.txtrace -- B1.txtrace"
	switch {
	case len(operands) == 0:
		return nil, nil, usage("compare", "no file", "it reads captures", see)
	case dash < 0:
		return nil, nil, usage("compare", "no --", "it parts set A from set B", see)
	}
	before, after = operands[:dash], operands[dash:]
	for name, set := range map[string][]string{"set A": before, "set B": after} {
		if len(set) == 0 {
			return nil, nil, usage(name, "empty", "there is no capture on its side of --", see)
		}
	}
	for i, path := range operands {
		if path == "-" {
			return nil, nil, usage("-", "refused", "compare reads files, several", "name them")
		}
		for _, other := range operands[:i] {
			if path == other || samePlace(path, other) {
				return nil, nil, usage(path, "named twice", "one run is one value, not two", "name each capture once")
			}
		}
	}
	return before, after, nil
}

// compare reads captures and compares them.
func (t *tool) compare(ctx context.Context, before, after []string, opt comparison.Options) (*comparison.Comparison, error) {
	a, err := t.readSet(ctx, before)
	if err != nil {
		return nil, err
	}
	b, err := t.readSet(ctx, after)
	if err != nil {
		return nil, err
	}
	doc, err := comparison.New(a, b, opt)
	var refused *comparison.Refusal
	if errors.As(err, &refused) {
		return nil, usage(refused.Object, refused.What, refused.Cause, refused.Next)
	}
	return doc, err
}

// readSet analyses captures. Each is read on its own: memory holds one, and
// what each was counted to.
func (t *tool) readSet(ctx context.Context, paths []string) ([]comparison.Capture, error) {
	var set []comparison.Capture
	for _, path := range paths {
		res, err := analyze(ctx, t, path, analysis.Options{})
		if err != nil {
			return nil, err
		}
		set = append(set, comparison.Capture{Path: path, Result: res})
	}
	return set, nil
}

// compareFlags say what is compared and how it is judged.
type compareFlags struct {
	metrics     []string
	ifnames     []string
	failOn      []string
	ceilings    []string
	alternative string
	list        bool
}

func (f *compareFlags) add(fs *pflag.FlagSet) {
	fs.StringSliceVar(&f.metrics, "metrics", nil, "only these, by `NAME`")
	fs.BoolVar(&f.list, "list", false, "list the metrics and how they are taken")
	fs.StringSliceVar(&f.ifnames, "filter-ifname", nil, "only devices of these `NAMES`")
	fs.StringSliceVar(&f.failOn, "fail-on", nil, "exit 1 on a `CHANGE`, as requeues>5%")
	fs.StringSliceVar(&f.ceilings, "ceiling", nil, "line rate, as load=9415: `NAME=VALUE`")
	fs.Var(oneOf(&f.alternative, "different", "greater", "less"), "alternative", "`WAY`: different, greater or less")
}

func (f *compareFlags) options() (comparison.Options, error) {
	o := comparison.Options{Metrics: f.metrics, Ifnames: f.ifnames, Ceilings: map[string]float64{}}
	o.Alternative = map[string]statistics.Alternative{"greater": statistics.Greater, "less": statistics.Less}[f.alternative]
	for _, text := range f.failOn {
		b, err := comparison.ParseBound(text)
		if err != nil {
			return o, usage("--fail-on", fmt.Sprintf("%q is refused", text), err.Error(), "see txtrace compare --list for the metrics")
		}
		o.Bounds = append(o.Bounds, b)
	}
	for _, text := range f.ceilings {
		name, value, ok := strings.Cut(text, "=")
		v, err := strconv.ParseFloat(value, 64)
		if !ok || err != nil {
			return o, usage("--ceiling", fmt.Sprintf("%q is refused", text), "it is a metric and a number", "write it as load=9415")
		}
		o.Ceilings[name] = v
	}
	return o, nil
}
