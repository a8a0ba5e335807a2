// SPDX-License-Identifier: Apache-2.0

package rules

import (
	"github.com/txtrace/txtrace/internal/analysis"
)

var w2 = analysis.Rule{
	ID:         "W2",
	Sentence:   "The watchdog gives a queue up only when nothing of it was completed for long.",
	Why:        "A queue that completes is not stuck, however long it is stopped: something else keeps it so, such as pause frames or sends that nobody counts. A reset does not mend that.",
	Fate:       analysis.Suspicion,
	Documents:  []string{"82aeed240078", "net/sched/sch_generic.c"},
	Kernel:     "dev_watchdog",
	Needs:      []string{"watchdog", "bql", "complete.napi"},
	Strength:   analysis.Heuristic,
	Antecedent: "a watchdog's timeout of a queue that completed something before",
	New: func(j *analysis.Judge) analysis.Checks {
		var c checkLately
		return analysis.Checks{
			Completion: func(s *analysis.Completion) { c.at(s.Queue, s.Time) },
			Notice:     func(n *analysis.Notice) { c.notice(j, n, "something of it was completed") },
		}
	},
}
