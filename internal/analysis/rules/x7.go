// SPDX-License-Identifier: Apache-2.0

package rules

import (
	"github.com/txtrace/txtrace/internal/analysis"
)

var x7 = analysis.Rule{
	ID:         "X7",
	Sentence:   "A driver that refuses a packet of a list rings for those before it.",
	Why:        "They were told that more follows, and the queue was not stopped after them, so none of them rang. If the driver says BUSY and returns, they are in the ring and the device does not know.",
	Fate:       analysis.Suspicion,
	Documents:  []string{"000_dfeb1c712f3ce5c5"},
	Kernel:     "ndo_start_xmit",
	Needs:      []string{"handover", "handover.attempts", "bql", "complete.napi"},
	Hooks:      attemptHooks,
	Strength:   analysis.Heuristic,
	Antecedent: "a list of which the driver refused a packet while none before it owed a doorbell, and until it was completed, or for long, no other followed",
	New: func(j *analysis.Judge) analysis.Checks {
		return doorbell(j, func(h *analysis.Handover) bool {
			return h.Busy > 0 && h.Taken() > 0 && h.OwedAny == 0
		}, "the driver refused a packet of a list")
	},
}
