// SPDX-License-Identifier: Apache-2.0

package rules

import (
	"github.com/txtrace/txtrace/internal/analysis"
)

var q2 = analysis.Rule{
	ID:         "Q2",
	Sentence:   "The queue chosen is one of the queues that the device has.",
	Why:        "After the number of queues shrank a kept number may be beyond the last. A packet for such a queue is in one that nobody completes.",
	Documents:  []string{"001_06fe2ee777a53261"},
	Kernel:     "netdev_core_pick_tx",
	Needs:      []string{"pick"},
	Strength:   analysis.Exact,
	Antecedent: "a pick",
	Floor:      0.5,
	New: func(j *analysis.Judge) analysis.Checks {
		return analysis.Checks{
			Pick:  func(p *analysis.Pick) { judgeQ2(j, p) },
			Picks: func(p *analysis.Picks) { j.HeldBy(p.All()) },
		}
	},
}

func judgeQ2(j *analysis.Judge, p *analysis.Pick) {
	if p.Exact == 0 {
		j.Broken(func() *analysis.Evidence {
			return showPick(p, "the queue given lies inside of element %d of the device's array, not at its begin", p.Index)
		})
		return
	}
	judgeIndex(j, p, "queue %d was chosen, the device has %d")
}

// judgeIndex holds the number of a queue against how many the device has. says
// formats both.
func judgeIndex(j *analysis.Judge, p *analysis.Pick, says string) {
	switch {
	case p.Index < min(p.QueuesBegin, p.QueuesEnd):
		j.Held()
	case p.Resized():
		j.Undecided(analysis.Changed)
	default:
		j.Broken(func() *analysis.Evidence {
			return showPick(p, says, p.Index, p.QueuesEnd)
		})
	}
}
