// SPDX-License-Identifier: Apache-2.0

package rules

import (
	"github.com/txtrace/txtrace/internal/analysis"
	"github.com/txtrace/txtrace/internal/model"
)

var b17 = analysis.Rule{
	ID:         "B17",
	Sentence:   "A completion that starts a queue again makes its qdisc run.",
	Why:        "What waits in the qdisc is not sent by whoever put it there: BQL had stopped the queue. If the completion does not schedule the qdisc, its packets wait for the next one that is sent.",
	Fate:       analysis.Suspicion,
	Documents:  []string{"include/linux/netdevice.h", "100dfa74cad9"},
	Kernel:     "netdev_tx_completed_queue",
	Needs:      []string{"run", "bql", "complete.napi"},
	Strength:   analysis.Heuristic,
	Antecedent: "a completion that started a queue that BQL had stopped while its qdisc held packets, and not by itself",
	New: func(j *analysis.Judge) analysis.Checks {
		c := checkB17{wait: newAwaits(j, showB17)}
		return analysis.Checks{Run: c.run, Completion: c.completion, Notice: c.notice, End: c.wait.end}
	},
}

// heldUp is a queue that BQL stopped while its qdisc held packets.
type heldUp struct {
	qlen  uint32
	time  uint64
	start await[started] // of the queue, by a completion
}

type checkB17 struct {
	wait   *awaits[started]
	queues analysis.PerQueue[heldUp]
}

// started is a completion, and what waited for it.
type started struct {
	analysis.Completion
	qlen uint32
}

// run: one that gives nothing is not recorded. From 6.19 on
// netif_schedule_queue leaves the run to the owner of the list of deferred
// packets, whose run it is then.
func (c *checkB17) run(r *analysis.Run) {
	q := c.queues.At(r.Queue)
	c.wait.came(&q.start, r.Time)
	q.qlen = 0
	if r.OneTxQueue() && r.WorkConserving() && r.QlenEnd > 0 && !r.PerCPUQlen() && model.QueueState(r.TxqStateEnd)&model.QueueStack != 0 {
		q.qlen, q.time = r.QlenEnd, r.Time
	}
}

// completion: a reset starts a queue without a word to its qdisc.
func (c *checkB17) completion(s *analysis.Completion) {
	q := c.queues.At(s.Queue)
	if q.qlen == 0 || s.Torn() || s.Time < q.time || s.StackStopped() || model.QueueState(s.TxqState)&model.QueueDrv != 0 {
		return
	}
	if s.Step.Outcome != model.OutcomeReset {
		c.wait.begin(&q.start, s.Time, &started{*s, q.qlen})
	}
	q.qlen = 0
}

func (c *checkB17) notice(n *analysis.Notice) {
	c.wait.forget(func(s *started) bool { return s.Queue.Device == n.Device })
}

func showB17(s *started, late uint64) *analysis.Evidence {
	return analysis.Show(s.Queue, &s.Header, "a completion started the queue, and for %d ms the %d packets in its qdisc were not sent", ms(late), s.qlen).
		With("qlen", "packets", int64(s.qlen))
}
