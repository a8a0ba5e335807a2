// SPDX-License-Identifier: Apache-2.0

package rules

import (
	"github.com/txtrace/txtrace/internal/analysis"
)

var l2 = analysis.Rule{
	ID:         "L2",
	Sentence:   "A qdisc that was scheduled is come to before long.",
	Why:        "Whoever sets SCHED raises a softirq of its own CPU, and net_tx_action there takes all that is listed. A CPU that does not get to its softirqs holds up each queue that it scheduled, and nobody else may take them.",
	Fate:       analysis.Suspicion,
	Documents:  []string{"000_dfeb1c712f3ce5c5", "net/core/dev.c"},
	Kernel:     "net_tx_action",
	Needs:      []string{"schedule"},
	Hooks:      []string{"net_tx_action"},
	Strength:   analysis.Heuristic,
	Antecedent: "a qdisc that was put on its CPU's list, until net_tx_action began there",
	New: func(j *analysis.Judge) analysis.Checks {
		wait := newAwaitsBy[uint16](j, func(s *analysis.Schedule, late uint64) *analysis.Evidence {
			return analysis.Show(s.Queue, &s.Header, "a qdisc was put on the list of CPU %d, which did not take the list for %d ms", s.CPU, ms(late)).
				With("waiting", "", int64(s.Waiting)).With("qdisc_state", "", int64(s.QdiscState))
		})
		return analysis.Checks{
			Schedule: func(s *analysis.Schedule) {
				switch {
				case s.Served():
					wait.came(s.CPU, s.Time)
				case s.Listed():
					wait.begin(s.CPU, s.Time, s)
				}
			},
			End: wait.end,
		}
	},
}
