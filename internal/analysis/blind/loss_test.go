// SPDX-License-Identifier: Apache-2.0

package blind

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/txtrace/txtrace/internal/analysis"
	"github.com/txtrace/txtrace/internal/event"
)

// whole is a tape with the rules that it breaks under each variant that it is
// judged under: of a right kernel none. A rule that a gate's fail silences is
// one of them.
type whole struct {
	*tape
	broken []map[string]bool
}

// judged are the variants of the loss tests.
var judged = []string{"auto", "latest", "bulk=bytes,requeue=tail,xmit-stop=any"}

// wholes are the tapes as they are, and as blind changes left them that some
// rule caught: with records missing a fail may go, and no other may come.
func wholes(t *testing.T, tapes []*tape, spoiled int, r *rand.Rand) (list []whole) {
	t.Helper()
	var vs []analysis.Variants
	for _, v := range judged {
		vs = append(vs, variants(t, v))
	}
	add := func(tape *tape) int {
		w := whole{tape: tape}
		n := 0
		for _, v := range vs {
			broken := make(map[string]bool)
			for _, r := range judge(t, tape.play(nil), v) {
				if r.Fails+r.Suspects > 0 {
					broken[r.ID] = true
				}
			}
			n += len(broken)
			w.broken = append(w.broken, broken)
		}
		list = append(list, w)
		return n
	}
	for _, tape := range tapes {
		add(tape)
	}
	for spoils := 0; spoils < spoiled; {
		m := mutate(tapes[r.IntN(len(tapes))], r)
		if m == nil || m.what == "swap" || m.what == "Time" || m.what == "Dur" {
			continue // no recorder writes such a file, whose order then is another with records missing
		}
		if add(m.mutated()) == 0 {
			list = list[:len(list)-1]
			continue
		}
		spoils++
	}
	return list
}

// window draws a part of a long tape, all around which is lost, for three cases of
// four: what goes wrong does so within few records, which are drawn more often so.
func window(t *tape, r *rand.Rand, lost func(int) bool) func(int) bool {
	const long = 100
	if len(t.recs) < 2*long || r.IntN(4) == 0 {
		return lost
	}
	from := r.IntN(len(t.recs) - long)
	return func(i int) bool { return i < from || i >= from+long || lost(i) }
}

// losing draws which records are lost: some here and there, all of a time, all
// of a CPU for a time, or all of a kind.
func losing(t *tape, r *rand.Rand) func(int) bool {
	from := r.IntN(len(t.recs))
	to := from + 1 + r.IntN(len(t.recs)-from)
	switch like := t.recs[from].Head(); r.IntN(4) {
	case 0:
		lost := make([]bool, len(t.recs))
		for percent, i := 1+r.IntN(60), 0; i < len(lost); i++ {
			lost[i] = r.IntN(100) < percent
		}
		return func(i int) bool { return lost[i] }
	case 1:
		return func(i int) bool { return i >= from && i < to }
	case 2:
		return func(i int) bool { return i >= from && i < to && t.recs[i].Head().CPU == like.CPU }
	default:
		return func(i int) bool { return i >= from && i < to && t.recs[i].Head().Kind == like.Kind }
	}
}

func loseAll(t *testing.T, name string, list []whole, n int, r *rand.Rand) {
	var vs []analysis.Variants
	for _, v := range judged {
		vs = append(vs, variants(t, v))
	}
	records, lost, fails, gone := 0, 0, 0, 0
	for i := range n {
		w := &list[r.IntN(len(list))]
		lose := window(w.tape, r, losing(w.tape, r))
		for k := range w.recs {
			records++
			if lose(k) {
				lost++
			}
		}
		v := i % len(vs)
		now := failed(t, w.play(lose), vs[v])
		for id, says := range now {
			if !w.broken[v][id] {
				t.Errorf("%s, case %d: %s fails under %s only because records are missing: %s", w.name, i, id, judged[v], says)
			}
		}
		fails += len(w.broken[v])
		gone += len(w.broken[v]) - len(now)
	}
	t.Logf("%s: %d cases over %d tapes, %d of %d records lost; of %d rules that the whole tapes break %d are no more seen to be",
		name, n, len(list), lost, records, fails, gone)
}

// Loss never makes a fail: whatever records are missing of a right kernel's
// trace, or of one that breaks a rule, no rule fails that the whole one does
// not fail.
func TestLoss(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 3))
	n := amount(t, 5_000)
	loseAll(t, "simulated", wholes(t, append(simulated(t, 1, 12), simulated(t, 100, 20)...), 200, r), n, r)
	loseAll(t, "real", wholes(t, real(t), 100, r), n, r)
}

// The tapes that are lost from have something to judge: each kind of record.
func TestLossHasAll(t *testing.T) {
	kinds := make(map[event.Kind]int)
	for _, tape := range slices.Concat(simulated(t, 1, 100), real(t)) {
		for _, r := range tape.recs {
			kinds[r.Head().Kind]++
		}
	}
	for k := event.KindRun; k.Valid(); k++ {
		if kinds[k] == 0 && k != event.KindSteer { // younger than those
			t.Errorf("no %s", k)
		}
	}
}
