// SPDX-License-Identifier: Apache-2.0

package rules

import (
	"github.com/txtrace/txtrace/internal/analysis"
)

var b2 = analysis.Rule{
	ID:         "B2",
	Sentence:   "The bytes that a driver has are completed before long, whether or not it is given more.",
	Why:        "A queue that nobody uses has nothing in flight. Bytes that stay were lost in a ring that was resized or reset, or wait for an interrupt that does not come; BQL counts them for ever.",
	Fate:       analysis.Suspicion,
	Documents:  []string{"004_9aeb9cc635f797dc", "lib/dynamic_queue_limits.c"},
	Kernel:     "netdev_tx_completed_queue",
	Needs:      []string{"sample", "bql", "complete.napi"},
	Strength:   analysis.Heuristic,
	Antecedent: "a look at a queue with bytes in flight, whose completions were seen in a poll or an interrupt, until the last of them is completed",
	New: func(j *analysis.Judge) analysis.Checks {
		c := checkB2{j: j, limit: j.Limit(patience)}
		return analysis.Checks{Sample: c.sample, Completion: c.completion}
	},
}

// queueB2 is what was in flight at the first look that is not done with.
type queueB2 struct {
	polled bool // its driver completes by itself, not when it is called next
	open   bool
	told   bool
	first  analysis.Sampled
}

type checkB2 struct {
	j      *analysis.Judge
	limit  uint64
	queues analysis.PerQueue[queueB2]
}

func (c *checkB2) completion(s *analysis.Completion) {
	if s.ByItself() {
		c.queues.At(s.Queue).polled = true
	}
}

func (c *checkB2) sample(s *analysis.Sampled) {
	q := c.queues.At(s.Queue)
	if s.Torn() {
		return
	}
	switch was := &q.first; {
	case !s.Up() || q.open && int32(s.NumQueued-was.NumQueued) < 0: // or it was reset
		q.open = false
	case !q.open:
	case int32(s.NumCompl-was.NumQueued) >= 0:
		if !q.told {
			c.j.Held()
		}
		q.open = false
	case s.NumCompl != was.NumCompl:
		return // slow, and it goes on
	case s.Time-was.Time > c.limit && !q.told:
		q.told = true
		was := *was
		c.j.Suspect(func() *analysis.Evidence { return showB2(&was, s) })
	}
	if !q.open && q.polled && s.Up() && s.NumQueued != s.NumCompl {
		q.open, q.told, q.first = true, false, *s
	}
}

func showB2(was, s *analysis.Sampled) *analysis.Evidence {
	return analysis.Show(s.Queue, &s.Header, "%d bytes were in flight, and %d ms later none of them is completed", was.NumQueued-was.NumCompl, ms(s.Time-was.Time)).
		With("in_flight", "bytes", int64(was.NumQueued-was.NumCompl)).With("num_completed", "bytes", int64(s.NumCompl)).Record(&was.Header)
}
