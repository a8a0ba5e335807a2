// SPDX-License-Identifier: Apache-2.0

package rules

import "github.com/txtrace/txtrace/internal/analysis"

// finished is a look at a queue whose completions had run to their end. What
// starts a queue asks first whether there is room, and may do so before a charge
// and start it after that one stopped it. So STACK says nothing of a charge
// unless that is over.
type finished struct {
	numCompleted uint32
	since, time  uint64 // since when nothing may be missing for this, and when it was seen
	cpu          uint16 // that looked
}

// finishes are the last looks of that kind: a run's hand-overs are told at its
// end, when there may be later ones.
type finishes struct {
	last [16]finished
	n    int
}

func (f *finishes) add(s *analysis.Completion) {
	if s.Finished {
		f.last[f.n%len(f.last)] = finished{s.NumCompleted, min(s.Alone, s.Time), s.Time, s.CPU}
		f.n++
	}
}

// before says whether no completion was under way when the hand-over began, since
// when nothing may be missing for that, and which CPU saw it, -1 where nothing was
// ever completed.
func (f *finishes) before(h *analysis.Handover) (since uint64, cpu int, ok bool) {
	if h.NumComplBegin == 0 {
		return h.Begin(), -1, true
	}
	for i := max(0, f.n-len(f.last)); i < f.n; i++ {
		if l := &f.last[i%len(f.last)]; l.numCompleted == h.NumComplBegin && l.time < h.Begin() {
			return l.since, int(l.cpu), true
		}
	}
	return 0, 0, false
}
