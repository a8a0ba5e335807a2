// SPDX-License-Identifier: Apache-2.0

package rules

import (
	"github.com/txtrace/txtrace/internal/analysis"
	"github.com/txtrace/txtrace/internal/model"
)

var d10 = analysis.Rule{
	ID:         "D10",
	Sentence:   "A qdisc with one queue takes no packet out while BQL has that queue stopped.",
	Why:        "What is taken out can only go back, to gso_skb, where no later packet can overtake it and no qdisc can drop it. So dequeue_skb asks first.",
	Fate:       analysis.Suspicion,
	Documents:  []string{"000_dfeb1c712f3ce5c5", "net/sched/sch_generic.c"},
	Kernel:     "dequeue_skb",
	Needs:      []string{"run", "dequeue", "bql"},
	Strength:   analysis.Heuristic,
	Antecedent: "the first batch of a run of a qdisc with one queue, which has BQL",
	New: func(j *analysis.Judge) analysis.Checks {
		return analysis.Checks{Run: func(r *analysis.Run) { judgeD10(j, r) }}
	},
}

// judgeD10: a queue that is stopped when the run begins and when it takes its
// first batch, with nothing charged or completed in between, was stopped all
// the time. Only a reset could have started it.
func judgeD10(j *analysis.Judge, r *analysis.Run) {
	if !r.OneTxQueue() || r.Partial() || !r.Whole || len(r.Restarts) == 0 || r.Restarts[0].Batch == nil {
		return
	}
	b := r.Restarts[0].Batch
	both := model.QueueState(r.TxqStateBegin & b.TxqState)
	switch {
	case !b.Avail.BQL:
	case both&model.QueueStack == 0, b.NumQueued != r.NumQueuedBegin, b.NumCompl != r.NumComplBegin, b.AdjLimit != r.AdjLimitBegin:
		j.Held()
	default:
		j.Suspect(func() *analysis.Evidence {
			return analysis.Show(b.Queue, &b.Header, "%d packets were taken out of the qdisc while BQL had the queue stopped", b.Packets).Record(&r.Header).
				With("txq_state", "", int64(b.TxqState)).With("num_queued", "bytes", int64(b.NumQueued)).With("adj_limit", "bytes", int64(b.AdjLimit))
		})
	}
}
