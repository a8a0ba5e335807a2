// SPDX-License-Identifier: Apache-2.0

package rules

import (
	"github.com/txtrace/txtrace/internal/analysis"
	"github.com/txtrace/txtrace/internal/model"
)

// checkDoorbell is what X3, X4 and X7 share. A driver writes its doorbell where
// nothing sees it, but a frame that was never told of is never completed. So
// the frames of a hand-over that owes a doorbell are watched until they are, or
// until the next hand-over to the queue, whose doorbell tells of them too.
type checkDoorbell struct {
	owes   func(*analysis.Handover) bool
	wait   *awaits[analysis.Handover]
	queues analysis.PerQueue[doorbellOf]
}

// doorbellOf is what is followed of a queue.
type doorbellOf struct {
	numCompleted uint32 // when it was last seen
	time         uint64
	owed         await[analysis.Handover]
}

// doorbell makes the checks of a rule that says which hand-overs owe one.
func doorbell(j *analysis.Judge, owes func(*analysis.Handover) bool, says string) analysis.Checks {
	c := &checkDoorbell{owes: owes}
	c.wait = newAwaits(j, func(h *analysis.Handover, late uint64) *analysis.Evidence {
		return analysis.Show(h.Queue, &h.Header, says+", and for %d ms its packets were not completed", ms(late)).
			With("attempts", "", int64(h.Attempts)).With("busy", "", int64(h.Busy)).With("rest", "packets", int64(h.Rest)).
			With("uncharged", "packets", int64(h.Uncharged)).With("num_queued", "bytes", int64(h.NumQueuedEnd))
	})
	return analysis.Checks{Handover: c.handover, Completion: c.completion, Notice: c.notice, End: c.wait.end}
}

func (c *checkDoorbell) handover(h *analysis.Handover) {
	if h.Partial() {
		return
	}
	q := c.queues.At(h.Queue)
	c.completed(q, h.NumComplBegin, h.Begin())
	c.next(q, h)
	if h.Reset() || h.Nested() || h.Hand.Charged == 0 || !c.owes(h) {
		return
	}
	if q.time > h.Time && int32(q.numCompleted-h.NumQueuedEnd) >= 0 {
		c.wait.came(&q.owed, q.time) // within the same run, handed out before
	}
	c.wait.begin(&q.owed, h.Time, h)
}

func (c *checkDoorbell) completion(s *analysis.Completion) {
	if s.Torn() {
		return
	}
	q := c.queues.At(s.Queue)
	if s.Step.Outcome == model.OutcomeReset {
		q.owed.open = false
	}
	c.completed(q, s.NumCompleted, s.Time)
}

// completed: all that was charged until the end of the hand-over is done with.
func (c *checkDoorbell) completed(q *doorbellOf, numCompleted uint32, at uint64) {
	if at > q.time {
		q.numCompleted, q.time = numCompleted, at
	}
	if q.owed.open && int32(numCompleted-q.owed.what.NumQueuedEnd) >= 0 {
		c.wait.came(&q.owed, at)
	}
}

// next ends the wait for what is not completed when a hand-over begins: it rings
// for what came before. What is late by then came too late.
func (c *checkDoorbell) next(q *doorbellOf, h *analysis.Handover) {
	switch {
	case !q.owed.open:
	case !h.Reset() && h.Begin() > q.owed.since+c.wait.limit:
		c.wait.came(&q.owed, h.Begin())
	default:
		q.owed.open = false
	}
}

func (c *checkDoorbell) notice(n *analysis.Notice) {
	c.wait.forget(func(h *analysis.Handover) bool { return h.Queue.Device == n.Device })
}
