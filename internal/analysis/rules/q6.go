// SPDX-License-Identifier: Apache-2.0

package rules

import (
	"github.com/txtrace/txtrace/internal/analysis"
)

var q6 = analysis.Rule{
	ID:         "Q6",
	Sentence:   "A packet carries the number of the queue that was chosen for it.",
	Why:        "The driver takes the queue from the packet and the core locks the one it chose. Where they differ, two CPUs are in one ring.",
	Documents:  []string{"001_06fe2ee777a53261"},
	Kernel:     "skb_set_queue_mapping",
	Needs:      []string{"pick"},
	Strength:   analysis.Exact,
	Antecedent: "a pick",
	New: func(j *analysis.Judge) analysis.Checks {
		return analysis.Checks{
			Pick:  func(p *analysis.Pick) { judgeQ6(j, p) },
			Picks: func(p *analysis.Picks) { j.HeldBy(p.All()) },
		}
	},
}

// judgeQ6 looks at the moment of the choice. That the number is still the same
// at the hand-over is not seen: records of that take their queue from it.
func judgeQ6(j *analysis.Judge, p *analysis.Pick) {
	if uint32(p.Mapping) == p.Index {
		j.Held()
		return
	}
	j.Broken(func() *analysis.Evidence {
		return showPick(p, "queue %d was chosen, the packet carries %d", p.Index, p.Mapping).With("queue_mapping", "", int64(p.Mapping))
	})
}
