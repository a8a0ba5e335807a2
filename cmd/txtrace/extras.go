// SPDX-License-Identifier: Apache-2.0

package main

import (
	"errors"
	"slices"
	"strings"

	"github.com/txtrace/txtrace/internal/analysis"
	"github.com/txtrace/txtrace/internal/probes"
)

// extras are what is recorded only if it is asked for, by the names that
// internal/probes has for them. Each use of the flag adds some.
type extras []string

// names that may be given.
func (extras) names() string { return strings.Join(probes.Extras(), ", ") + " or all" }

func (e *extras) String() string { return strings.Join(*e, ",") }

func (e *extras) Type() string { return "WHAT" }

func (e *extras) Set(text string) error {
	for name := range strings.SplitSeq(text, ",") {
		switch {
		case name == "all":
			e.add(probes.Extras()...)
		case slices.Contains(probes.Extras(), name):
			e.add(name)
		default:
			return errors.New("it is one of " + e.names())
		}
	}
	return nil
}

func (e *extras) add(names ...string) {
	for _, name := range names {
		if !slices.Contains(*e, name) {
			*e = append(*e, name)
		}
	}
}

// need adds what the rules cannot do without.
func (e *extras) need(rules []analysis.Rule) {
	for _, rule := range rules {
		for _, fact := range rule.Needs {
			if name := probes.ExtraOf(fact); name != "" {
				e.add(name)
			}
		}
	}
}
