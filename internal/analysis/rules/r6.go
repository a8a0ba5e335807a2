// SPDX-License-Identifier: Apache-2.0

package rules

import (
	"github.com/txtrace/txtrace/internal/analysis"
)

var r6 = analysis.Rule{
	ID:         "R6",
	Sentence:   "A driver that refuses a frame has not charged it to the queue.",
	Why:        "A refused packet comes back and is charged again when it is sent. If it is charged both times BQL waits for bytes that are never completed.",
	Documents:  []string{"000_dfeb1c712f3ce5c5"},
	Kernel:     "ndo_start_xmit",
	Needs:      []string{"handover", "handover.attempts", "bql"},
	Hooks:      attemptHooks,
	Strength:   analysis.Exact,
	Antecedent: "an attempt that returned NETDEV_TX_BUSY on a queue with BQL",
	New: func(j *analysis.Judge) analysis.Checks {
		return analysis.Checks{Handover: func(h *analysis.Handover) { judgeR6(j, h) }}
	},
}

func judgeR6(j *analysis.Judge, h *analysis.Handover) {
	if h.Partial() || h.Busy == 0 || !h.BQL() {
		return
	}
	switch {
	case h.BusyCharged == 0:
		j.Held()
	case h.Reset():
		j.Undecided(analysis.Reset)
	case h.Unlocked():
		j.Undecided(analysis.Race) // another CPU may be inside the driver
	default:
		j.Broken(func() *analysis.Evidence {
			return analysis.Show(h.Queue, &h.Header, "%d attempts returned NETDEV_TX_BUSY and charged %d bytes", h.Busy, h.BusyCharged).
				With("busy", "", int64(h.Busy)).With("busy_charged", "bytes", int64(h.BusyCharged))
		})
	}
}
