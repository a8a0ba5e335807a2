// SPDX-License-Identifier: Apache-2.0

package rules

import (
	"github.com/txtrace/txtrace/internal/analysis"
)

var b9 = analysis.Rule{
	ID:         "B9",
	Sentence:   "When a device's rings are purged, BQL of each of its queues is reset.",
	Why:        "A purge frees what is in all rings and reports none of it. A driver that resets one queue only leaves the bytes of the others in flight for ever: BQL stops them, and no completion starts them again.",
	Fate:       analysis.Suspicion,
	Documents:  []string{"4db6c75124d8", "lib/dynamic_queue_limits.c"},
	Kernel:     "netdev_tx_reset_queue",
	Needs:      []string{"sample", "bql", "complete.napi"},
	Strength:   analysis.Heuristic,
	Antecedent: "a reset of a queue's BQL while another queue of the device had bytes in flight, until these were completed or forgotten",
	New: func(j *analysis.Judge) analysis.Checks {
		c := checkB9{j: j, limit: j.Limit(patience), of: make(map[*analysis.Device][]*queueB9)}
		return analysis.Checks{Handover: c.handover, Completion: c.completion, Sample: c.sample}
	},
}

// queueB9 is what was last seen of a queue, and whether it waits since another
// one was reset.
type queueB9 struct {
	queue             *analysis.Queue
	queued, completed uint32
	time              uint64

	waits, told             bool
	wasQueued, wasCompleted uint32 // when the wait began
	since                   uint64
}

type checkB9 struct {
	j      *analysis.Judge
	limit  uint64
	queues analysis.PerQueue[queueB9]
	of     map[*analysis.Device][]*queueB9
}

func (c *checkB9) handover(h *analysis.Handover) {
	if h.Partial() || !h.BQL() {
		return
	}
	c.look(h.Queue, h.NumQueuedBegin, h.NumComplBegin, h.Begin())
	c.look(h.Queue, h.NumQueuedEnd, h.NumComplEnd, h.Time)
}

func (c *checkB9) completion(s *analysis.Completion) {
	if !s.Torn() {
		c.look(s.Queue, s.NumQueued, s.NumCompleted, s.Time)
	}
}

// sample: only a device that is up must have its queues in order. Queues that
// were reset alone are left alone, since the others go on.
func (c *checkB9) sample(s *analysis.Sampled) {
	if s.Torn() || s.NumQueued|s.NumCompl == 0 && c.queues.At(s.Queue).queue == nil {
		return
	}
	q := c.look(s.Queue, s.NumQueued, s.NumCompl, s.Time)
	if !q.waits || q.told || !s.Up() || s.Time < q.since+c.limit {
		return
	}
	q.told = true
	was := q.wasQueued - q.wasCompleted
	c.j.SuspectIf(analysis.Claim{Over: analysis.Span{From: q.since, To: s.Time}}, func() *analysis.Evidence {
		return analysis.Show(s.Queue, &s.Header, "another queue of the device was reset %d ms ago, and this one has the same %d bytes in flight since", ms(s.Time-q.since), was).
			With("in_flight", "bytes", int64(was)).With("num_completed", "bytes", int64(s.NumCompl))
	})
}

// look takes the counters of a queue. What is handed out of a run comes late.
// What is queued never falls below what was completed, but by a reset.
func (c *checkB9) look(queue *analysis.Queue, queued, completed uint32, at uint64) *queueB9 {
	q := c.queues.At(queue)
	if q.queue == nil {
		q.queue = queue
		c.of[queue.Device] = append(c.of[queue.Device], q)
	}
	if at < q.time {
		return q
	}
	reset := q.time > 0 && int32(queued-q.completed) < 0
	if q.waits && (reset || completed != q.wasCompleted) {
		if !q.told {
			c.j.Held()
		}
		q.waits = false
	}
	q.queued, q.completed, q.time = queued, completed, at
	if reset {
		c.reset(q, at)
	}
	return q
}

// reset begins the wait of the other queues that had something in flight.
func (c *checkB9) reset(of *queueB9, at uint64) {
	for _, q := range c.of[of.queue.Device] {
		if q != of && !q.waits && q.queued != q.completed && q.time <= at {
			q.waits, q.told, q.wasQueued, q.wasCompleted, q.since = true, false, q.queued, q.completed, at
		}
	}
}
