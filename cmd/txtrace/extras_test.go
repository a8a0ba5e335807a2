// SPDX-License-Identifier: Apache-2.0

package main

import (
	"slices"
	"testing"

	"github.com/txtrace/txtrace/internal/probes"
)

func TestExtras(t *testing.T) {
	for text, want := range map[string][]string{
		"pick": {"pick"}, "gro,pick,gro": {"gro", "pick"}, "all": probes.Extras(), "gro,all": {"gro", "pick", "rx", "sojourn", "sched"},
		"": nil, "pick,": nil, "gor": nil,
	} {
		var e extras
		if err := e.Set(text); (err == nil) != (want != nil) || err == nil && !slices.Equal(e, want) {
			t.Errorf("%q: %q, %v", text, e, err)
		}
	}
}

// The rules that run is asked for bring what they cannot do without.
func TestRulesBringExtras(t *testing.T) {
	for id, want := range map[string]extras{"Q3": {"pick"}, "G2": {"gro"}, "D1": nil, "": nil} {
		v := verifyFlags{variant: "auto", timeScale: 1}
		if id != "" {
			v.rules = []string{id}
		}
		opt, err := v.options()
		if err != nil {
			t.Fatal(err)
		}
		var e extras
		if e.need(opt.Asked()); !slices.Equal(e, want) {
			t.Errorf("--rules %s: %q, want %q", id, e, want)
		}
	}
}
