// SPDX-License-Identifier: Apache-2.0

package rules

import (
	"github.com/txtrace/txtrace/internal/analysis"
	"github.com/txtrace/txtrace/internal/model"
)

var b3 = analysis.Rule{
	ID:         "B3",
	Sentence:   "No qdisc hands packets to a queue that BQL has stopped.",
	Why:        "BQL bounds what waits in the ring, where nothing can reorder or drop it any more. That works only if sch_direct_xmit asks for the bit before each hand-over.",
	Documents:  []string{"000_dfeb1c712f3ce5c5", "net/core/dev.c"},
	Kernel:     "sch_direct_xmit",
	Needs:      []string{"direct", "handover", "bql"},
	Strength:   analysis.Exact,
	Antecedent: "a hand-over from a qdisc to a queue with BQL",
	New: func(j *analysis.Judge) analysis.Checks {
		return analysis.Checks{Handover: func(h *analysis.Handover) { judgeB3(j, h) }}
	},
}

// judgeB3: only a charge sets STACK, and charges come under the transmit lock,
// which is held from the test to the end of the hand-over. Who charges another
// queue than it holds, as igb does with a queue that a filter set and that there
// is not, may stop it at any time.
func judgeB3(j *analysis.Judge, h *analysis.Handover) {
	switch {
	case h.Partial() || h.Direct == nil || !h.BQL():
	case model.QueueState(h.TxqStateBegin)&model.QueueStack == 0:
		j.Held()
	case h.Unlocked() || h.Foreign > 0:
		j.Undecided(analysis.Race)
	default:
		j.Broken(func() *analysis.Evidence {
			return analysis.Show(h.Queue, &h.Header, "%d packets were handed to a queue that BQL had stopped", h.Packets).
				With("txq_state_begin", "", int64(h.TxqStateBegin)).With("num_queued", "bytes", int64(h.NumQueuedBegin)).
				With("adj_limit", "bytes", int64(h.AdjLimitBegin))
		})
	}
}
