// SPDX-License-Identifier: Apache-2.0

package rules

import (
	"github.com/txtrace/txtrace/internal/analysis"
	"github.com/txtrace/txtrace/internal/model"
)

var b10 = analysis.Rule{
	ID:         "B10",
	Sentence:   "A queue that BQL has stopped completes something before long.",
	Why:        "Nothing but a completion starts such a queue again. If none comes, a frame was lost in the ring, or the driver never rang for it.",
	Fate:       analysis.Suspicion,
	Documents:  []string{"004_9aeb9cc635f797dc", "lib/dynamic_queue_limits.c"},
	Kernel:     "netdev_tx_completed_queue",
	Needs:      []string{"handover", "bql", "complete.napi"},
	Strength:   analysis.Heuristic,
	Antecedent: "a hand-over that left its queue stopped by BQL, until a completion",
	New: func(j *analysis.Judge) analysis.Checks {
		c := checkB10{wait: newAwaits(j, showB10)}
		return analysis.Checks{Handover: c.handover, Completion: c.completion, Notice: c.notice, End: c.wait.end}
	},
}

type checkB10 struct {
	wait   *awaits[analysis.Handover]
	queues analysis.PerQueue[await[analysis.Handover]]
}

// handover: a direct send does not ask for STACK, so hand-overs may go on.
func (c *checkB10) handover(h *analysis.Handover) {
	if h.Partial() {
		return
	}
	q := c.queues.At(h.Queue)
	if model.QueueState(h.TxqStateBegin)&model.QueueStack == 0 {
		c.wait.came(q, h.Begin())
	}
	if model.QueueState(h.TxqStateEnd)&model.QueueStack != 0 {
		c.wait.begin(q, h.Time, h)
	}
}

func (c *checkB10) completion(s *analysis.Completion) { c.wait.came(c.queues.At(s.Queue), s.Time) }

// notice: a device that changes may stop for longer.
func (c *checkB10) notice(n *analysis.Notice) {
	c.wait.forget(func(h *analysis.Handover) bool { return h.Queue.Device == n.Device })
}

func showB10(h *analysis.Handover, late uint64) *analysis.Evidence {
	return analysis.Show(h.Queue, &h.Header, "BQL stopped the queue with %d bytes in flight, and for %d ms nothing was completed", h.NumQueuedEnd-h.NumComplEnd, ms(late)).
		With("in_flight", "bytes", int64(h.NumQueuedEnd-h.NumComplEnd))
}
