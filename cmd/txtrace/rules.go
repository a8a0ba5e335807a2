// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"io"
	"slices"
	"strings"

	"github.com/spf13/pflag"

	"github.com/txtrace/txtrace/internal/analysis/rules"
	"github.com/txtrace/txtrace/internal/model"
	"github.com/txtrace/txtrace/internal/report"
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
			spelled := o.text(t, textFlags{})
			doc := report.NewRules(registry())
			switch len(operands) {
			case 0:
				return t.emit(&o, o.document(doc, func(w io.Writer) error { return doc.Text(w, spelled) }))
			case 1:
				id := strings.TrimSpace(operands[0])
				i := slices.IndexFunc(doc.Rules, func(r report.Rule) bool { return strings.EqualFold(r.ID, id) })
				if i < 0 {
					return unknownRule(id)
				}
				doc.Rules = doc.Rules[i : i+1]
				return t.emit(&o, o.document(doc, func(w io.Writer) error { return doc.Rules[0].Text(w, spelled) }))
			}
			return usage(operands[1], "one rule too many", "rules tells of one", "see txtrace rules --help")
		},
	}
}

// registry is all that can be told of the rules.
func registry() report.Registry {
	return report.Registry{Rules: rules.All(), Others: rules.Others(), Switch: describeSwitch, Shown: rules.Shown}
}

// describeSwitch tells what the model knows of a switch.
func describeSwitch(name string) report.Switch {
	s := report.Switch{Name: name, Variants: []report.Variant{}}
	info, err := model.Lookup(model.Switch(name))
	if err != nil {
		return s
	}
	s.Says = info.Says
	for _, v := range info.Variants {
		s.Variants = append(s.Variants, report.Variant{Name: string(v.Name), Says: v.Says, Source: v.Source, MendedBy: v.MendedBy})
	}
	return s
}
