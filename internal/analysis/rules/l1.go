// SPDX-License-Identifier: Apache-2.0

package rules

import (
	"github.com/txtrace/txtrace/internal/analysis"
)

// Decision: no document says how long a packet may be in flight. L1 takes the
// five seconds of all rules of liveness, which is when the watchdog gives a
// queue up that is stopped.
var l1 = analysis.Rule{
	ID:         "L1",
	Sentence:   "No packet is in flight for long.",
	Why:        "Until a packet is completed its memory, its socket's limit and BQL's bytes are held. A queue that is busy can hide one whose completion is late, since it is never stopped for long.",
	Fate:       analysis.Suspicion,
	Documents:  []string{"004_9aeb9cc635f797dc", "lib/dynamic_queue_limits.c"},
	Kernel:     "netdev_tx_completed_queue",
	Needs:      []string{"handover", "bql", "complete.napi"},
	Strength:   analysis.Heuristic,
	Antecedent: "a hand-over to a queue whose completions were seen in a poll or an interrupt, until it was completed",
	New: func(j *analysis.Judge) analysis.Checks {
		c := checkL1{j: j, limit: j.Limit(patience), changed: make(map[*analysis.Device]uint64)}
		return analysis.Checks{Completion: c.completion, Notice: c.notice, Ring: c.ring}
	},
}

type checkL1 struct {
	j       *analysis.Judge
	limit   uint64
	polled  analysis.PerQueue[bool] // its driver completes by itself, not when it is called next
	changed map[*analysis.Device]uint64
}

func (c *checkL1) completion(s *analysis.Completion) {
	if s.ByItself() {
		*c.polled.At(s.Queue) = true
	}
}

// notice: a device without a link completes nothing, and no fault of it.
func (c *checkL1) notice(n *analysis.Notice) {
	if n.Device != nil && !n.OfStall() {
		c.changed[n.Device] = n.Time
	}
}

func (c *checkL1) ring(r *analysis.Ring) {
	late := r.Took() > c.limit
	switch {
	case !*c.polled.At(r.Queue) || c.changed[r.Queue.Device] >= r.Time:
	case !late && !r.Left:
		c.j.Held()
	case late && !r.Left && !r.Own:
		c.j.Undecided("it was noticed later")
	case late:
		c.j.SuspectIf(analysis.Claim{Over: analysis.Span{From: r.Time, To: r.To}}, func() *analysis.Evidence {
			return analysis.Show(r.Queue, &r.Header, "for %d ms what a hand-over gave the driver was not completed", ms(r.Took())).
				With("num_queued", "bytes", int64(r.NumQueued)).With("waited", "ns", int64(r.Took()))
		})
	}
}
