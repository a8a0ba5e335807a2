// SPDX-License-Identifier: Apache-2.0

package rules

import (
	"github.com/txtrace/txtrace/internal/analysis"
	"github.com/txtrace/txtrace/internal/model"
)

var s2 = analysis.Rule{
	ID:         "S2",
	Sentence:   "A queue that its driver stopped does not stay so with nothing in flight.",
	Why:        "A driver stops a queue when its ring is full, and starts it when completions made room. With the ring empty no completion will come: if the last one did not start the queue, nothing does.",
	Fate:       analysis.Suspicion,
	Documents:  []string{"include/net/netdev_queues.h"},
	Kernel:     "netif_tx_wake_queue",
	Needs:      []string{"handover", "bql", "complete.napi"},
	Strength:   analysis.Heuristic,
	Antecedent: "a completion that left a queue empty and stopped by its driver",
	New: func(j *analysis.Judge) analysis.Checks {
		c := checkS2{wait: newAwaits(j, showS2)}
		return analysis.Checks{Handover: c.handover, Completion: c.completion, Notice: c.notice, End: c.wait.end}
	},
}

type checkS2 struct {
	wait   *awaits[analysis.Completion]
	queues analysis.PerQueue[await[analysis.Completion]]
}

func (c *checkS2) handover(h *analysis.Handover) {
	if !h.Partial() && model.QueueState(h.TxqStateBegin)&model.QueueDrv == 0 {
		c.wait.came(c.queues.At(h.Queue), h.Begin())
	}
}

func (c *checkS2) completion(s *analysis.Completion) {
	switch {
	case s.Torn():
	case model.QueueState(s.TxqState)&model.QueueDrv == 0, s.NumQueued != s.NumCompleted:
		c.wait.came(c.queues.At(s.Queue), s.Time)
	case s.NumQueued != 0: // BQL was not reset just now
		c.wait.begin(c.queues.At(s.Queue), s.Time, s)
	}
}

// notice: a driver stops its queues when the link goes, too. Where the kernel's
// watchdog gives the queue up the link is there.
//
// Decision: a queue that stays so is no more than suspect, for its driver may
// have another reason: what fills its ring may be charged to nobody (XDP, AF_XDP)
// while pause frames hold it up, which the watchdog complains of, too.
func (c *checkS2) notice(n *analysis.Notice) {
	if n.Queue != nil && !n.OfStall() {
		if w := c.queues.At(n.Queue); w.open && n.Time >= w.since+shortest {
			s := w.what
			c.wait.j.SuspectIf(analysis.Claim{Over: analysis.Span{From: w.since, To: n.Time}}, func() *analysis.Evidence {
				return showS2(&s, n.Time-s.Time).Record(&n.Header).With("waited", "ns", int64(n.Time-s.Time))
			})
		}
	}
	c.wait.forget(func(s *analysis.Completion) bool { return s.Queue.Device == n.Device })
}

func showS2(s *analysis.Completion, late uint64) *analysis.Evidence {
	return analysis.Show(s.Queue, &s.Header, "the queue is empty and stopped by its driver for %d ms", ms(late)).
		With("num_queued", "bytes", int64(s.NumQueued)).With("txq_state", "", int64(s.TxqState))
}
