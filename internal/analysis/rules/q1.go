// SPDX-License-Identifier: Apache-2.0

package rules

import (
	"github.com/txtrace/txtrace/internal/analysis"
)

var q1 = analysis.Rule{
	ID:         "Q1",
	Sentence:   "Whatever a driver's ndo_select_queue says, the queue is one that the device has.",
	Why:        "A driver may answer with any number. The core caps it, for the number is an index into an array.",
	Documents:  []string{"001_06fe2ee777a53261"},
	Kernel:     "netdev_cap_txqueue",
	Needs:      []string{"pick"},
	Strength:   analysis.Exact,
	Antecedent: "a pick on a device of several queues whose driver has ndo_select_queue",
	Floor:      0.5,
	New: func(j *analysis.Judge) analysis.Checks {
		return analysis.Checks{
			Pick:  func(p *analysis.Pick) { judgeQ1(j, p) },
			Picks: func(p *analysis.Picks) { j.HeldBy(uint64(p.Driver)) },
		}
	},
}

// judgeQ1 sees what came of the driver's answer, not the answer: that one too
// large became 0, and not another queue, is not seen.
func judgeQ1(j *analysis.Judge, p *analysis.Pick) {
	if p.Select != 0 && p.QueuesBegin != 1 && p.QueuesEnd != 1 {
		judgeIndex(j, p, "the driver's choice led to queue %d of %d")
	}
}
