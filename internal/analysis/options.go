// SPDX-License-Identifier: Apache-2.0

package analysis

import (
	"fmt"
	"slices"
	"strings"

	"github.com/txtrace/txtrace/internal/model"
)

// Options of Analyze.
type Options struct {
	Rules   []Rule   // the registry, rules.All()
	Only    []string // rule ids of --rules; empty: all
	Variant Variants
	Strict  bool
	// TimeScale stretches the time limits of rules; 0 is 1.
	TimeScale float64
	// ChildFailed says that the command under run failed.
	ChildFailed bool
	// Watch are given every decision beside the rules.
	Watch []Checks
	// NoReport leaves the metrics out, for verify.
	NoReport bool
}

// Variants is the argument of --variant.
type Variants struct {
	arg    string
	latest bool
	set    map[model.Switch]model.Variant
}

// ParseVariants reads auto, latest or SWITCH=NAME,... Its errors are one line.
func ParseVariants(arg string) (Variants, error) {
	switch arg {
	case "", "auto":
		return Variants{arg: "auto"}, nil
	case "latest":
		return Variants{arg: arg, latest: true}, nil
	}
	if !strings.Contains(arg, "=") {
		return Variants{}, fmt.Errorf("variant %q: want auto, latest or SWITCH=NAME, as in bulk=budget", arg)
	}
	set, err := model.Parse(arg)
	return Variants{arg: arg, set: set}, err
}

func (v Variants) String() string {
	if v.arg == "" {
		return "auto"
	}
	return v.arg
}

// forced is the variant that s is held at.
func (v Variants) forced(s model.SwitchInfo) (model.Variant, bool) {
	if v.latest {
		return s.Latest().Name, true
	}
	name, ok := v.set[s.Name]
	return name, ok
}

// Asked are the rules that Only names, none when it names none.
func (o Options) Asked() []Rule {
	var rs []Rule
	for _, r := range o.Rules {
		if slices.Contains(o.Only, r.ID) {
			rs = append(rs, r)
		}
	}
	return rs
}

// choose picks the rules that are asked for.
func (o Options) choose() ([]Rule, error) {
	if len(o.Only) == 0 {
		return o.Rules, nil
	}
	ids := make([]string, len(o.Rules))
	known := make(map[string]bool)
	for i, r := range o.Rules {
		ids[i] = r.ID
		known[r.ID] = true
	}
	for _, id := range o.Only {
		if !known[id] {
			return nil, fmt.Errorf("rule %q: unknown; the rules are %s", id, strings.Join(ids, " "))
		}
	}
	return o.Asked(), nil
}
