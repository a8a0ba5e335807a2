// SPDX-License-Identifier: Apache-2.0

package rules

import (
	"fmt"
	"slices"
	"testing"

	"github.com/txtrace/txtrace/internal/analysis"
)

// Each id of the kernel's invariants has one fate: a rule of its own, or a line
// of Others that says why there is none.
func TestIDs(t *testing.T) {
	var want []string
	for _, f := range []struct {
		family string
		n      int
	}{{"M", 11}, {"B", 17}, {"D", 10}, {"X", 7}, {"R", 6}, {"W", 3}, {"S", 2}, {"L", 4}, {"N", 7}, {"O", 3}, {"Q", 9}, {"T", 7}, {"G", 4}, {"V", 1}} {
		for i := range f.n {
			want = append(want, fmt.Sprint(f.family, i+1))
		}
	}
	seen := make(map[string]analysis.Fate)
	note := func(id string, f analysis.Fate) {
		if _, twice := seen[id]; twice {
			t.Errorf("%s twice", id)
		}
		if !slices.Contains(want, id) {
			t.Errorf("%s is no id", id)
		}
		seen[id] = f
	}
	for _, r := range All() {
		note(r.ID, r.IsFate())
		if f := r.IsFate(); f == analysis.NotObservable {
			t.Errorf("%s is a rule, and %s", r.ID, f)
		}
	}
	for _, o := range Others() {
		note(o.ID, o.Fate)
		if o.Sentence == "" || o.Reason == "" || (o.Fate == analysis.Checked) != (len(o.By) > 0) {
			t.Errorf("something is missing: %+v", o)
		}
		for _, id := range o.By {
			if !slices.ContainsFunc(All(), func(r analysis.Rule) bool { return r.ID == id }) {
				t.Errorf("%s by %s, which is no rule", o.ID, id)
			}
		}
	}
	checked := 0
	for _, id := range want {
		switch seen[id] {
		case "":
			t.Errorf("%s has no fate", id)
		case analysis.Checked, analysis.Packet, analysis.Suspicion:
			checked++
		}
	}
	if checked < 60 {
		t.Errorf("%d of %d checked", checked, len(want))
	}
}

// A rule that can only be suspect says so, and no other.
func TestSuspicion(t *testing.T) {
	for _, r := range All() {
		only := !slices.ContainsFunc(spoils[r.ID], func(s spoiled) bool { return !s.suspect })
		if only != (r.IsFate() == analysis.Suspicion) {
			t.Errorf("%s: %s, but its traces say %v", r.ID, r.IsFate(), only)
		}
		if r.Why == "" {
			t.Errorf("%s: why?", r.ID)
		}
	}
}
