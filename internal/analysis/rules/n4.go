// SPDX-License-Identifier: Apache-2.0

package rules

import (
	"github.com/txtrace/txtrace/internal/analysis"
)

var n4 = analysis.Rule{
	ID:         "N4",
	Sentence:   "A qdisc that was deactivated is not run for long after.",
	Why:        "dev_deactivate sets the bit, waits for runs under way, and resets the qdisc. A run that comes later sends what should be gone, to a device that may be gone.",
	Fate:       analysis.Suspicion,
	Documents:  []string{"net/sched/sch_generic.c"},
	Kernel:     "dev_deactivate_many",
	Needs:      []string{"run"},
	Strength:   analysis.Heuristic,
	Antecedent: "a run that sent packets of a qdisc whose DEACTIVATED bit was set when it began",
	New: func(j *analysis.Judge) analysis.Checks {
		c := checkN4{j: j, since: make(map[uint64]uint64)}
		return analysis.Checks{Run: c.run}
	},
}

type checkN4 struct {
	j     *analysis.Judge
	since map[uint64]uint64 // when a qdisc was first seen deactivated, ns
}

// run: the bit is set a while before the qdisc is reset, so that early ones are
// right.
func (c *checkN4) run(r *analysis.Run) {
	if r.Partial() {
		return
	}
	if !r.Deactivated() {
		delete(c.since, r.Qdisc)
		return
	}
	since, ok := c.since[r.Qdisc]
	if !ok && len(c.since) < maxQdiscs {
		since, c.since[r.Qdisc] = r.Begin(), r.Begin()
	}
	switch {
	case since == 0:
	case r.Begin()-min(since, r.Begin()) <= c.j.Limit(patience):
		c.j.Held()
	default:
		c.j.SuspectIf(analysis.Claim{Over: analysis.Span{From: since, To: r.Time}}, func() *analysis.Evidence {
			return analysis.Show(r.Queue, &r.Header, "a qdisc sent %d packets %d ms after it was seen deactivated", r.Packets, ms(r.Begin()-since)).
				With("packets", "packets", int64(r.Packets)).With("qdisc_state_begin", "", int64(r.QdiscStateBegin))
		})
	}
}
