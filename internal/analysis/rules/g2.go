// SPDX-License-Identifier: Apache-2.0

package rules

import (
	"github.com/txtrace/txtrace/internal/analysis"
)

var g2 = analysis.Rule{
	ID:         "G2",
	Sentence:   "Between its polls a NAPI holds no packets back that GRO is done with.",
	Fate:       analysis.Suspicion,
	Why:        "A NAPI that is done may not be polled for long. Packets it keeps then wait for the next interrupt.",
	Documents:  []string{"002_59aed0d87ab09d98"},
	Kernel:     "napi_complete_done",
	Needs:      []string{"gro", "gro.poll"},
	Hooks:      []string{"__napi_poll"},
	Strength:   analysis.Heuristic,
	Antecedent: "a poll in which a list went up",
	New: func(j *analysis.Judge) analysis.Checks {
		return analysis.Checks{List: func(l *analysis.List) { judgeG2(j, l) }}
	},
}

// judgeG2 looks at what the NAPI held when the poll began in which this list
// went up. Neither a poll that was done nor one that used its budget may leave
// any; who else added it is not seen.
func judgeG2(j *analysis.Judge, l *analysis.List) {
	switch {
	case !l.InPoll() || !l.HeldKnown():
	case l.Held == 0:
		j.Held()
	default:
		j.Suspect(func() *analysis.Evidence {
			return showList(l, "%d were waiting when the NAPI was polled again", l.Held).With("held", "", int64(l.Held))
		})
	}
}
