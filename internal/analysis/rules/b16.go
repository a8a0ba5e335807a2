// SPDX-License-Identifier: Apache-2.0

package rules

import (
	"github.com/txtrace/txtrace/internal/analysis"
)

var b16 = analysis.Rule{
	ID:         "B16",
	Sentence:   "BQL stops a queue only when the charge went over its limit, and starts it only at a completion or a reset.",
	Documents:  []string{"3e59020abf0f", "lib/dynamic_queue_limits.c"},
	Kernel:     "netdev_tx_sent_queue",
	Needs:      []string{"handover", "bql"},
	Strength:   analysis.Interval,
	Antecedent: "a hand-over in which STACK became set, or by which it was cleared again",
	New: func(j *analysis.Judge) analysis.Checks {
		c := checkB16{j: j}
		return analysis.Checks{Handover: c.handover, Completion: c.completion}
	},
}

// stopped is a queue that BQL had stopped when its completions had just run.
type stopped struct {
	is           bool
	numCompleted uint32
	numQueued    uint32
	time         uint64
}

type checkB16 struct {
	j      *analysis.Judge
	queues analysis.PerQueue[stopped]
}

// completion remembers a queue that stays stopped. While another CPU may be
// between dql_completed and the clearing of STACK, nothing is remembered.
func (c *checkB16) completion(s *analysis.Completion) {
	q := c.queues.At(s.Queue)
	*q = stopped{}
	if !s.Torn() && !s.Foreign && s.StackStopped() {
		*q = stopped{true, s.NumCompleted, s.NumQueued, s.Time}
	}
}

func (c *checkB16) handover(h *analysis.Handover) {
	if h.Partial() {
		return
	}
	q := c.queues.At(h.Queue)
	if q.is && h.TxqStateBegin&analysis.StackXoff == 0 && q.time < h.Begin() {
		c.cleared(q, h)
	}
	*q = stopped{}
	if (h.TxqStateEnd&^h.TxqStateBegin)&analysis.StackXoff != 0 {
		c.set(h)
	}
}

// set: with no completion in the hand-over, num_queued can only have grown
// since the charge that stopped the queue.
func (c *checkB16) set(h *analysis.Handover) {
	switch {
	case h.Reset():
		c.j.Undecided(analysis.Reset)
	case h.Completed():
		c.j.Undecided(analysis.Race)
	case h.AvailEnd() < 0:
		c.j.Held()
	default:
		c.j.Broken(func() *analysis.Evidence {
			return analysis.Show(h.Queue, &h.Header, "BQL stopped the queue although %d bytes are left", h.AvailEnd()).
				With("adj_limit", "bytes", int64(h.AdjLimitEnd)).With("num_queued", "bytes", int64(h.NumQueuedEnd)).
				With("num_completed", "bytes", int64(h.NumComplEnd))
		})
	}
}

// cleared: a queue that was stopped is not any more when the next hand-over
// begins.
func (c *checkB16) cleared(q *stopped, h *analysis.Handover) {
	switch {
	case h.NumComplBegin != q.numCompleted:
		c.j.Held()
	case int32(h.NumQueuedBegin-q.numQueued) < 0:
		c.j.Undecided(analysis.Reset)
	default:
		over := analysis.Span{From: q.time, To: h.Begin()}
		c.j.BrokenIf(analysis.Claim{Over: over}, func() *analysis.Evidence {
			return analysis.Show(h.Queue, &h.Header, "a queue that BQL had stopped was started without a completion").
				With("num_completed", "bytes", int64(h.NumComplBegin)).With("stopped_ns", "ns", int64(q.time))
		})
	}
}
