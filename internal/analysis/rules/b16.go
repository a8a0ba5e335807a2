// SPDX-License-Identifier: Apache-2.0

package rules

import (
	"github.com/txtrace/txtrace/internal/analysis"
	"github.com/txtrace/txtrace/internal/model"
)

var b16 = analysis.Rule{
	ID:         "B16",
	Sentence:   "BQL stops a queue only when the charge went over its limit, and starts it only at a completion or a reset.",
	Why:        "A queue that is stopped too early starves the device, one that is not stopped makes the ring the queue. And stopped without a completion to come it stays so.",
	Documents:  []string{"3e59020abf0f", "lib/dynamic_queue_limits.c"},
	Kernel:     "netdev_tx_sent_queue",
	Needs:      []string{"handover", "bql"},
	Hooks:      attemptHooks,
	Strength:   analysis.Interval,
	Antecedent: "a hand-over in which STACK became set, by which it was cleared again, or that ended over the limit without it",
	New: func(j *analysis.Judge) analysis.Checks {
		c := checkB16{j: j}
		return analysis.Checks{Handover: c.handover, Completion: c.completion, End: c.end}
	},
}

// stopped is a queue that BQL had stopped when its completions had run to their
// end.
type stopped struct {
	finished
	is        bool
	numQueued uint32
}

// passedOver is a queue that BQL did not stop although it was over its limit.
type passedOver struct {
	show         *analysis.Evidence
	claim        analysis.Claim
	numCompleted uint32
	adjLimit     uint32
	who          int  // the CPU whose look told that no completion was under way; -1 when there was none before
	sure         bool // the next hand-over found the queue as it was
}

// queueB16 is what the next hand-over to a queue is held against.
type queueB16 struct {
	finishes finishes
	stopped  stopped
	passed   *passedOver
}

type checkB16 struct {
	j       *analysis.Judge
	queues  analysis.PerQueue[queueB16]
	waiting uint64 // queues that wait for their next completion
}

// completion remembers a queue that stays stopped: one with room may still be
// started by its sender.
func (c *checkB16) completion(s *analysis.Completion) {
	q := c.queues.At(s.Queue)
	c.confirm(q, s)
	q.finishes.add(s)
	q.stopped = stopped{}
	if s.Finished && s.StackStopped() && int32(s.AdjLimit-s.NumQueued) < 0 {
		q.stopped = stopped{finished{s.NumCompleted, min(s.Alone, s.Time), s.Time, s.CPU}, true, s.NumQueued}
	}
}

func (c *checkB16) handover(h *analysis.Handover) {
	if h.Partial() {
		return
	}
	q := c.queues.At(h.Queue)
	c.settle(q, h)
	if was := q.stopped; was.is && model.QueueState(h.TxqStateBegin)&model.QueueStack == 0 && was.time < h.Begin() {
		c.cleared(was, h)
	}
	q.stopped = stopped{}
	switch {
	case model.QueueState(h.TxqStateEnd&^h.TxqStateBegin)&model.QueueStack != 0:
		c.set(h)
	case model.QueueState(h.TxqStateEnd)&model.QueueStack == 0 && h.AvailEnd() < 0 && chargedLast(h):
		c.missing(q, h)
	}
}

// chargedLast says whether the last packet of the hand-over was the last of its
// list and was charged, so that the queue has BQL: whichever way a driver
// charges, it then stops a queue that is over its limit.
func chargedLast(h *analysis.Handover) bool {
	return h.Rest == 0 && h.Taken() > 0 && h.Uncharged == 0
}

// missing: a hand-over ended over the limit, and yet the queue goes on. A
// completion, or a reset, may have cleared the bit: in the hand-over, or one
// that was under way when it began. The state was read before the rest, but a
// CPU may do so in another order: the next hand-over tells whether a completion
// had come.
func (c *checkB16) missing(q *queueB16, h *analysis.Handover) {
	switch {
	case h.Reset():
		c.j.Undecided(analysis.Reset)
	case h.Completed() || h.Unlocked():
		c.j.Undecided(analysis.Race)
	default:
		if q.passed != nil { // one until the next completion
			return
		}
		since, who, ok := q.finishes.before(h)
		if !ok {
			c.j.Undecided(analysis.Race)
			return
		}
		c.pass(q, h, since, who)
	}
}

// pass leaves it to the next hand-over, if nothing is missing since then.
func (c *checkB16) pass(q *queueB16, h *analysis.Handover, since uint64, who int) {
	show := showB16(h, "BQL did not stop the queue although it is %d bytes over its limit", -int64(h.AvailEnd()))
	over := analysis.Span{From: since, To: h.Time}
	q.passed = &passedOver{show, analysis.Claim{Over: over}, h.NumComplEnd, h.AdjLimitEnd, who, false}
}

// settle judges what was passed over, with what is completed now.
func (c *checkB16) settle(q *queueB16, h *analysis.Handover) {
	p := q.passed
	if p == nil || p.sure {
		return
	}
	if p.numCompleted != h.NumComplBegin || p.adjLimit != h.AdjLimitBegin {
		q.passed = nil
		c.j.Undecided(analysis.Race)
		return
	}
	p.sure = true
	c.waiting++
}

// confirm judges what was passed over by whose completion comes next: the CPU
// that looked, or one that had it under way when that looked, and that has
// completed the queue for the first time now (its NAPI moved).
func (c *checkB16) confirm(q *queueB16, s *analysis.Completion) {
	p := q.passed
	if p == nil || !p.sure || s.Torn() || !s.Own() || s.NumCompleted == p.numCompleted {
		return
	}
	q.passed = nil
	c.waiting--
	if p.who >= 0 && p.who != int(s.CPU) {
		c.j.Undecided(analysis.Race)
		return
	}
	c.j.BrokenIf(p.claim, func() *analysis.Evidence { return p.show })
}

// end: what nothing was completed after is not known.
func (c *checkB16) end(*analysis.End) { c.j.UndecidedBy(c.waiting, analysis.Race) }

// set: with no completion in the hand-over, num_queued can only have grown
// since the charge that stopped the queue. Where senders do not exclude each
// other, or charge another queue than they hold, it may have been another one's,
// which had yet to look again.
func (c *checkB16) set(h *analysis.Handover) {
	switch {
	case h.Reset():
		c.j.Undecided(analysis.Reset)
	case h.Completed():
		c.j.Undecided(analysis.Race)
	case h.AvailEnd() < 0:
		c.j.Held()
	case h.Unlocked() || h.Uncharged > 0 || h.Taken() == 0:
		c.j.Undecided(analysis.Race)
	default:
		c.j.Broken(func() *analysis.Evidence {
			return showB16(h, "BQL stopped the queue although %d bytes are left", int64(h.AvailEnd()))
		})
	}
}

func showB16(h *analysis.Handover, says string, bytes int64) *analysis.Evidence {
	return analysis.Show(h.Queue, &h.Header, says, bytes).
		With("adj_limit", "bytes", int64(h.AdjLimitEnd)).With("num_queued", "bytes", int64(h.NumQueuedEnd)).
		With("num_completed", "bytes", int64(h.NumComplEnd))
}

// cleared: a queue that was stopped is not any more when the next hand-over
// begins.
func (c *checkB16) cleared(was stopped, h *analysis.Handover) {
	switch {
	case h.NumComplBegin != was.numCompleted:
		c.j.Held()
	case int32(h.NumQueuedBegin-was.numQueued) < 0:
		c.j.Undecided(analysis.Reset)
	default:
		over, at := analysis.Span{From: was.since, To: h.Begin()}, was.time
		c.j.BrokenIf(analysis.Claim{Over: over}, func() *analysis.Evidence {
			return analysis.Show(h.Queue, &h.Header, "a queue that BQL had stopped was started without a completion").
				With("num_completed", "bytes", int64(h.NumComplBegin)).With("stopped_ns", "ns", int64(at))
		})
	}
}
