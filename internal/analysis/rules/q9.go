// SPDX-License-Identifier: Apache-2.0

package rules

import (
	"github.com/txtrace/txtrace/internal/analysis"
)

var q9 = analysis.Rule{
	ID:         "Q9",
	Sentence:   "With XPS the queue is the one that the map names if the device has it, else that of the hash.",
	Why:        "XPS maps are written for a number of queues, which may have shrunk since. An entry beyond it must not be taken.",
	Documents:  []string{"001_06fe2ee777a53261", "net/core/dev.c"},
	Kernel:     "__get_xps_queue_idx",
	Needs:      []string{"pick"},
	Strength:   analysis.Exact,
	Antecedent: "a queue chosen by the core on a device with XPS and without traffic classes",
	Floor:      0.5,
	New: func(j *analysis.Judge) analysis.Checks {
		return analysis.Checks{
			Pick:  func(p *analysis.Pick) { judgeChoice(j, p, p.XPS()) },
			Picks: func(p *analysis.Picks) { j.HeldBy(uint64(p.Mapped)) },
		}
	},
}
