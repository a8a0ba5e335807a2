// SPDX-License-Identifier: Apache-2.0

package blind

import (
	"cmp"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/txtrace/txtrace/internal/analysis"
)

// row of the table: what became of the changes at places that a rule is known
// to watch.
type row struct{ tried, own, other, legal, missed int }

// Blind changes of captures. A place that some rule was seen to watch counts
// for that rule, wherever the rule caught a change of it; one that none watches
// counts for none. A change that no rule catches must be legal, with the reason
// (legal_test.go): a right kernel may leave such a trace too.
func TestBlind(t *testing.T) {
	n := amount(t, 10_000)
	tapes := slices.Concat(real(t), simulated(t, 1, 100))
	r := rand.New(rand.NewPCG(4, 4))
	type outcome struct {
		*mutation
		caught map[string]string
		legal  string
	}
	var all []outcome
	watches := make(map[string]map[string]bool) // rules by place
	for len(all) < n {
		tape := tapes[len(all)%len(tapes)]
		m := mutate(tape, r)
		if m == nil {
			continue
		}
		o := outcome{mutation: m, caught: caught(t, m)}
		if len(o.caught) == 0 {
			if a := legal(m); a != nil {
				o.legal = a.reason
			}
		}
		m.recs = nil
		if watches[m.place()] == nil {
			watches[m.place()] = make(map[string]bool)
		}
		for id := range o.caught {
			watches[m.place()][id] = true
		}
		all = append(all, o)
	}
	table := make(map[string]*row)
	reasons := make(map[string]int)
	missed := make(map[string]int)
	count := func(id string, o *outcome) {
		w := table[id]
		if w == nil {
			w = &row{}
			table[id] = w
		}
		w.tried++
		_, own := o.caught[id]
		switch {
		case own:
			w.own++
		case len(o.caught) > 0:
			w.other++
		case o.legal != "":
			w.legal++
		default:
			w.missed++
		}
	}
	for i := range all {
		o := &all[i]
		for id := range watches[o.place()] {
			count(id, o)
		}
		if len(watches[o.place()]) == 0 {
			count("none", o)
		}
		switch {
		case len(o.caught) > 0:
		case o.legal != "":
			reasons[o.legal]++
		default:
			if missed[o.place()]++; missed[o.place()] < 4 {
				t.Errorf("missed: %v", o.mutation)
			}
		}
	}
	t.Logf("%-5s %7s %7s %7s %7s %7s", "rule", "tried", "caught", "other", "legal", "missed")
	for _, id := range slices.Sorted(maps.Keys(table)) {
		w := table[id]
		t.Logf("%-5s %7d %7d %7d %7d %7d", id, w.tried, w.own, w.other, w.legal, w.missed)
	}
	for _, why := range slices.SortedFunc(maps.Keys(reasons), func(a, b string) int { return cmp.Compare(reasons[b], reasons[a]) }) {
		t.Logf("legal %6d: %s", reasons[why], why)
	}
	var places []string
	for _, p := range slices.Sorted(maps.Keys(missed)) {
		places = append(places, fmt.Sprintf("%s %d", p, missed[p]))
	}
	if len(places) > 0 {
		t.Logf("missed: %s", strings.Join(places, ", "))
	}
}

// caught are the rules that a change breaks, and M1 where it says that something
// is missing that the ledger knows of.
func caught(t *testing.T, m *mutation) map[string]string {
	t.Helper()
	verdicts := judge(t, m.mutated().play(nil), variants(t, m.tape.variant))
	ids := fails(t, m.tape.name, verdicts)
	delete(ids, shows[m.tape.name])
	for _, r := range verdicts {
		if r.ID == "M1" && r.Verdict == analysis.VerdictInconclusive {
			ids[r.ID] = r.Reason
		}
	}
	return ids
}
