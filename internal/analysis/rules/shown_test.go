// SPDX-License-Identifier: Apache-2.0

package rules

import (
	"encoding/json"
	"os"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/txtrace/txtrace/internal/analysis"
)

// TestShown holds shown.json to what the rules say of the tests' traces. With
// UPDATE set it writes the file.
func TestShown(t *testing.T) {
	want := make(map[string]analysis.Shown)
	for _, r := range All() {
		want[r.ID] = analysis.Shown{Fail: firstFail(t, r.ID), Undecided: []string{}}
	}
	for _, r := range undecided(t) {
		s := want[r.ID]
		for _, u := range r.Undecided {
			if !slices.Contains(s.Undecided, u.Reason) {
				s.Undecided = append(s.Undecided, u.Reason)
			}
		}
		slices.Sort(s.Undecided)
		want[r.ID] = s
	}
	b, err := json.MarshalIndent(want, "", "\t")
	if err != nil {
		t.Fatal(err)
	}
	b = append(b, '\n')
	if os.Getenv("UPDATE") != "" {
		if err := os.WriteFile("shown.json", b, 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if d := cmp.Diff(string(shownJSON), string(b)); d != "" {
		t.Errorf("run this test with UPDATE=1; -file +rules\n%s", d)
	}
	for id, s := range want {
		if s.Fail == nil || Shown(id).Fail == nil || Shown(id).Fail.Says != s.Fail.Says {
			t.Errorf("%s shows no fail", id)
		}
	}
}

// firstFail is what the rule says of the first trace that breaks it.
func firstFail(t *testing.T, id string) *analysis.Evidence {
	tr := legal()
	spoils[id][0].on(tr)
	r := ruling(t, tr.analyze(t, "latest", nil), id)
	if len(r.Evidence) == 0 {
		return nil
	}
	return &r.Evidence[0]
}

// undecided is what the rules say of the traces in which something is not
// known: those of TestJudged, and the legal one with records lost.
func undecided(t *testing.T) (all []analysis.RuleVerdict) {
	for _, c := range slices.Concat(cases, edges, bqlEdges, lateEdges, lifeEdges, freedUnreported) {
		tr := newTrace()
		c.build(tr)
		variant := c.variant
		if variant == "" {
			variant = "latest"
		}
		var lose func(int) bool
		if c.lose != nil {
			lose = func(i int) bool { return c.lose(tr.recs[i]) }
		}
		all = append(all, ruling(t, tr.analyze(t, variant, lose), c.rule))
	}
	for every := 3; every < 9; every++ {
		all = append(all, legal().analyze(t, "latest", func(i int) bool { return i%every == 0 }).Verify.Rules...)
	}
	return all
}
