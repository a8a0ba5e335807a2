// SPDX-License-Identifier: Apache-2.0

package rules

import (
	"github.com/txtrace/txtrace/internal/analysis"
)

var x3 = analysis.Rule{
	ID:         "X3",
	Sentence:   "A driver that drops the last packet of a list rings for those before it.",
	Why:        "They were told that more follows, and so left the doorbell to the one that was dropped. A driver that returns early from it leaves them in the ring until the next packet.",
	Fate:       analysis.Suspicion,
	Documents:  []string{"004_9aeb9cc635f797dc"},
	Kernel:     "ndo_start_xmit",
	Needs:      []string{"handover", "handover.attempts", "bql", "complete.napi"},
	Hooks:      attemptHooks,
	Strength:   analysis.Heuristic,
	Antecedent: "a list of which the driver took all and did not charge some, and until it was completed, or for long, no other followed",
	New: func(j *analysis.Judge) analysis.Checks {
		return doorbell(j, func(h *analysis.Handover) bool {
			return h.Rest == 0 && h.Packets > 1 && h.Uncharged > 0 && h.Uncharged < h.Taken()
		}, "the driver dropped packets of a list")
	},
}
