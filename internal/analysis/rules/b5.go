// SPDX-License-Identifier: Apache-2.0

package rules

import (
	"github.com/txtrace/txtrace/internal/analysis"
	"github.com/txtrace/txtrace/internal/model"
)

var b5 = analysis.Rule{
	ID:         "B5",
	Sentence:   "When a queue's BQL is reset, nothing of it is in flight.",
	Why:        "A reset forgets what was charged. If the driver reports it as sent afterwards, dql_completed finds more completed than queued and stops the kernel (BUG_ON).",
	Fate:       analysis.Suspicion,
	Documents:  []string{"lib/dynamic_queue_limits.c"},
	Kernel:     "netdev_tx_reset_queue",
	Needs:      []string{"bql", "complete.napi"},
	Strength:   analysis.Heuristic,
	Antecedent: "a reset of a queue's BQL",
	New: func(j *analysis.Judge) analysis.Checks {
		c := checkB5{j: j}
		return analysis.Checks{Handover: c.handover, Completion: c.completion}
	},
}

// flightB5 is what was last seen in flight.
type flightB5 struct {
	bytes int32
	time  uint64
}

type checkB5 struct {
	j      *analysis.Judge
	queues analysis.PerQueue[flightB5]
}

func (c *checkB5) handover(h *analysis.Handover) {
	if q := c.queues.At(h.Queue); h.Time > q.time && !h.Partial() && !h.Reset() {
		*q = flightB5{int32(h.NumQueuedEnd - h.NumComplEnd), h.Time}
	}
}

// completion: a driver may have freed what was in flight before it told BQL to
// forget it, which cannot be seen.
func (c *checkB5) completion(s *analysis.Completion) {
	if s.Torn() {
		return
	}
	q := c.queues.At(s.Queue)
	lost, at := q.bytes, q.time
	if s.Time > q.time {
		*q = flightB5{int32(s.NumQueued - s.NumCompleted), s.Time}
	}
	if !s.Linked || s.Step.Outcome != model.OutcomeReset || at == 0 {
		return
	}
	switch {
	case at > s.Time:
		c.j.Undecided(analysis.Race)
	case lost == 0:
		c.j.Held()
	case lost < 0:
		c.j.Undecided(analysis.Reset)
	default:
		c.j.SuspectIf(analysis.Claim{Over: analysis.Span{From: min(at, s.From()), To: s.Time}}, func() *analysis.Evidence {
			return analysis.Show(s.Queue, &s.Header, "BQL was reset with %d bytes in flight: either the driver freed them before, or it will report too much", lost).
				With("in_flight", "bytes", int64(lost)).With("seen_before", "ns", int64(s.Time-at))
		})
	}
}
