// SPDX-License-Identifier: Apache-2.0

package rules

import (
	"github.com/txtrace/txtrace/internal/analysis"
)

var r5 = analysis.Rule{
	ID:         "R5",
	Sentence:   "qstats.requeues counts what was put into gso_skb, no more and no less.",
	Why:        "Requeues tell how often the ring was asked in vain. People read them in tc -s to see whether bulk dequeue takes more than fits.",
	Documents:  []string{"000_dfeb1c712f3ce5c5"},
	Kernel:     "dev_requeue_skb",
	Needs:      []string{"direct"},
	Strength:   analysis.Exact,
	Antecedent: "a sch_direct_xmit that put something back, or counted so",
	New: func(j *analysis.Judge) analysis.Checks {
		return analysis.Checks{Direct: func(d *analysis.Direct) { judgeR5(j, d) }}
	},
}

// judgeR5 holds for every requeue variant: one that keeps lists counts a list
// as one, in both numbers.
func judgeR5(j *analysis.Judge, d *analysis.Direct) {
	if d.Sent() && d.Requeued() == 0 && d.Put() == 0 {
		return
	}
	switch {
	case !d.Whole:
		j.Undecided(d.Doubt())
	case d.Put() < 0, d.Emptied():
		j.Undecided(analysis.Reset)
	case int64(d.Requeued()) == int64(d.Put()):
		j.Held()
	default:
		j.Broken(func() *analysis.Evidence {
			return analysis.Show(d.Queue, &d.Header, "gso_skb grew by %d and requeues by %d", d.Put(), d.Requeued()).
				With("gso_skb", "packets", int64(d.Put())).With("requeues", "packets", int64(d.Requeued()))
		})
	}
}
