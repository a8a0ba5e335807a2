// SPDX-License-Identifier: Apache-2.0

package rules

import (
	"github.com/txtrace/txtrace/internal/analysis"
)

var b7 = analysis.Rule{
	ID:         "B7",
	Sentence:   "No byte of a queue is completed before it is charged.",
	Why:        "A driver must tell BQL of a packet before it tells the device, which may be done with it at once. Else dql_completed finds more completed than queued and stops the kernel.",
	Documents:  []string{"lib/dynamic_queue_limits.c"},
	Kernel:     "netdev_tx_sent_queue",
	Needs:      []string{"handover", "bql"},
	Strength:   analysis.Exact,
	Antecedent: "a hand-over to a queue with BQL",
	New: func(j *analysis.Judge) analysis.Checks {
		return analysis.Checks{Handover: func(h *analysis.Handover) { judgeB7(j, h) }}
	},
}

// judgeB7: under the transmit lock nobody else charges the queue, so that
// num_completed may only have come closer to num_queued when it is read after
// it. dql_reset puts num_queued to 0 first.
func judgeB7(j *analysis.Judge, h *analysis.Handover) {
	if h.Partial() || !h.BQL() {
		return
	}
	ahead := max(int32(h.NumComplBegin-h.NumQueuedBegin), int32(h.NumComplEnd-h.NumQueuedEnd))
	switch {
	case ahead <= 0:
		j.Held()
	case h.Reset(), h.NumQueuedBegin == 0, h.NumQueuedEnd == 0:
		j.Undecided(analysis.Reset)
	case h.Unlocked():
		j.Undecided(analysis.Race)
	default:
		j.Broken(func() *analysis.Evidence {
			return analysis.Show(h.Queue, &h.Header, "%d bytes are completed that were not queued", ahead).
				With("num_queued_begin", "bytes", int64(h.NumQueuedBegin)).With("num_completed_begin", "bytes", int64(h.NumComplBegin)).
				With("num_queued_end", "bytes", int64(h.NumQueuedEnd)).With("num_completed_end", "bytes", int64(h.NumComplEnd))
		})
	}
}
