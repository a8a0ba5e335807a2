// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"io"
	"math"
	"os"
	"strings"

	"github.com/txtrace/txtrace/internal/analysis"
	"github.com/txtrace/txtrace/internal/analysis/rules"
	"github.com/txtrace/txtrace/internal/report"
)

// options checks the flags of verify and makes them the analysis's.
func (v *verifyFlags) options() (analysis.Options, error) {
	o := analysis.Options{Rules: rules.All(), Strict: v.strict, TimeScale: v.timeScale}
	if !(v.timeScale > 0) || math.IsInf(v.timeScale, 0) {
		return o, usage("--time-scale", "no number above 0", "it stretches time limits", "use 1, or more on a slow kernel")
	}
	for _, id := range v.rules {
		r, err := findRule(o.Rules, id)
		if err != nil {
			return o, err
		}
		o.Only = append(o.Only, r.ID)
	}
	var err error
	if o.Variant, err = analysis.ParseVariants(v.variant); err != nil {
		return o, variantFailure(err)
	}
	return o, nil
}

// findRule by its id, in any case.
func findRule(all []analysis.Rule, id string) (analysis.Rule, error) {
	id = strings.TrimSpace(id)
	for _, r := range all {
		if strings.EqualFold(r.ID, id) {
			return r, nil
		}
	}
	for _, o := range rules.Others() {
		if strings.EqualFold(o.ID, id) {
			return analysis.Rule{}, usage(o.ID, "checked by no rule of its own", o.Reason, "see txtrace rules "+o.ID)
		}
	}
	return analysis.Rule{}, unknownRule(id)
}

func unknownRule(id string) error {
	return usage(id, "unknown rule", "not a rule of this version", "see txtrace rules")
}

// variantFailure words an error of analysis.ParseVariants.
func variantFailure(err error) error {
	text, next, ok := strings.Cut(err.Error(), "; ")
	if !ok {
		next = "see txtrace rules, and rules ID for the variants of a rule"
	}
	what, cause, ok := strings.Cut(strings.TrimPrefix(text, "variant "), ": ")
	if !ok {
		what, cause = "refused", text
	}
	return usage("--variant", what, cause, next)
}

// analyze reads the capture at path to its end.
func analyze(ctx context.Context, t *tool, path string, o analysis.Options) (*analysis.Result, error) {
	r, file, err := openReader(ctx, t, path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	res, err := analysis.Analyze(r, o)
	if err != nil {
		return nil, notRead(path, err)
	}
	return res, nil
}

// text is how the flags want text spelled.
func (o *outputFlags) text(t *tool, f textFlags) report.Text {
	return report.Text{Color: t.coloured(o), Human: f.human, More: o.verbose, Time: f.time}
}

// coloured says whether text is coloured: never in a file, by default only on
// a terminal and where NO_COLOR is not set.
func (t *tool) coloured(o *outputFlags) bool {
	switch o.color {
	case "always":
		return true
	case "never":
		return false
	}
	f, ok := t.stdout.(*os.File)
	if !ok || o.output != "" && o.output != "-" || t.getenv("NO_COLOR") != "" || t.getenv("TERM") == "dumb" {
		return false
	}
	info, err := f.Stat()
	return err == nil && info.Mode()&os.ModeCharDevice != 0
}

// document prints as JSON or as text.
func (o *outputFlags) document(doc any, text func(io.Writer) error) func(io.Writer) error {
	if o.format == "json" {
		return func(w io.Writer) error { return report.JSON(w, doc) }
	}
	return text
}

// warnCut says on stderr that a file is not whole: its readable part counts.
func (t *tool) warnCut(path string, quiet bool, res *analysis.Result) {
	if res.Cut != nil && !quiet {
		t.say("%s: cut after %d good bytes: %s; what is there was read", path, res.Cut.Offset, res.Cut.Reason)
	}
}
