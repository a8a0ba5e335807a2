// SPDX-License-Identifier: Apache-2.0

package rules

import (
	"github.com/txtrace/txtrace/internal/analysis"
	"github.com/txtrace/txtrace/internal/model"
)

var x4 = analysis.Rule{
	ID:         "X4",
	Sentence:   "A driver that stops its queue in the middle of a list rings for what it took.",
	Why:        "The core ends the list there, although it had said that more follows. Nothing else will ring: the queue is stopped, and only a completion starts it again.",
	Fate:       analysis.Suspicion,
	Documents:  []string{"004_9aeb9cc635f797dc", "000_dfeb1c712f3ce5c5"},
	Kernel:     "ndo_start_xmit",
	Needs:      []string{"handover", "handover.attempts", "bql", "complete.napi"},
	Hooks:      attemptHooks,
	Strength:   analysis.Heuristic,
	Antecedent: "a list in the middle of which the driver stopped its queue, and until it was completed, or for long, no other followed",
	New: func(j *analysis.Judge) analysis.Checks {
		return doorbell(j, func(h *analysis.Handover) bool {
			return h.Rest > 0 && h.Busy == 0 && model.QueueState(h.TxqStateLast&^h.TxqStateBegin)&model.QueueDrv != 0
		}, "the driver stopped its queue in the middle of a list")
	},
}
