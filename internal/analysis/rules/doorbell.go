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
	wait   *awaits[*analysis.Queue, analysis.Handover]
	queues analysis.PerQueue[doneDoorbell]
}

// doneDoorbell is what was last seen to be completed of a queue.
type doneDoorbell struct {
	numCompleted uint32
	time         uint64
}

// doorbell makes the checks of a rule that says which hand-overs owe one.
func doorbell(j *analysis.Judge, owes func(*analysis.Handover) bool, says string) analysis.Checks {
	c := &checkDoorbell{owes: owes}
	c.wait = newAwaits[*analysis.Queue](j, func(h analysis.Handover, late uint64) *analysis.Evidence {
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
	c.completed(h.Queue, h.NumComplBegin, h.Begin())
	c.next(h)
	if h.Reset() || h.Nested() || h.Hand.Charged == 0 || !c.owes(h) {
		return
	}
	done := c.queues.At(h.Queue)
	if done.time > h.Time && int32(done.numCompleted-h.NumQueuedEnd) >= 0 {
		c.wait.came(h.Queue, done.time) // within the same run, handed out before
	}
	c.wait.begin(h.Queue, h.Time, *h)
}

func (c *checkDoorbell) completion(s *analysis.Completion) {
	if s.Torn() {
		return
	}
	if s.Step.Outcome == model.OutcomeReset {
		delete(c.wait.open, s.Queue)
	}
	c.completed(s.Queue, s.NumCompleted, s.Time)
}

// completed: all that was charged until the end of the hand-over is done with.
func (c *checkDoorbell) completed(q *analysis.Queue, numCompleted uint32, at uint64) {
	if done := c.queues.At(q); at > done.time {
		*done = doneDoorbell{numCompleted, at}
	}
	if w, ok := c.wait.open[q]; ok && int32(numCompleted-w.what.NumQueuedEnd) >= 0 {
		c.wait.came(q, at)
	}
}

// next ends the wait for what is not completed when a hand-over begins: it rings
// for what came before. What is late by then came too late.
func (c *checkDoorbell) next(h *analysis.Handover) {
	w, ok := c.wait.open[h.Queue]
	switch {
	case !ok:
	case !h.Reset() && h.Begin() > w.since+c.wait.limit:
		c.wait.came(h.Queue, h.Begin())
	default:
		delete(c.wait.open, h.Queue)
	}
}

func (c *checkDoorbell) notice(n *analysis.Notice) { forgetDevice(c.wait, n.Device) }
