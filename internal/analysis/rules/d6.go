// SPDX-License-Identifier: Apache-2.0

package rules

import (
	"github.com/txtrace/txtrace/internal/analysis"
)

var d6 = analysis.Rule{
	ID:         "D6",
	Sentence:   "What a qdisc counts includes the packets that it has parked for later.",
	Why:        "Packets that went back to gso_skb, or wait in skb_bad_txq for another queue, are the qdisc's still. A count that leaves them out says empty, and nobody runs the qdisc.",
	Documents:  []string{"000_dfeb1c712f3ce5c5", "net/sched/sch_generic.c"},
	Kernel:     "dev_requeue_skb",
	Needs:      []string{"dequeue", "run"},
	Strength:   analysis.Exact,
	Antecedent: "a dequeue or the end of a run that left parked packets, of a qdisc with one count",
	New: func(j *analysis.Judge) analysis.Checks {
		return analysis.Checks{
			Batch: func(b *analysis.Batch) {
				if parked := b.GsoQlen + b.BadQlen; parked > 0 && !b.PerCPUQlen() {
					judgeD6(j, b.Qlen, parked, func() *analysis.Evidence { return showD6(b.Queue, b.Time, b.Qlen, parked).Record(&b.Header) })
				}
			},
			Run: func(r *analysis.Run) {
				if r.GsoQlenEnd > 0 && !r.PerCPUQlen() && !r.Partial() {
					judgeD6(j, r.QlenEnd, r.GsoQlenEnd, func() *analysis.Evidence { return showD6(r.Queue, r.Time, r.QlenEnd, r.GsoQlenEnd).Record(&r.Header) })
				}
			},
		}
	},
}

// judgeD6: the root lock is held at a dequeue, and again at the end of a run.
func judgeD6(j *analysis.Judge, qlen, parked uint32, show func() *analysis.Evidence) {
	if qlen >= parked {
		j.Held()
		return
	}
	j.Broken(show)
}

func showD6(q *analysis.Queue, ns uint64, qlen, parked uint32) *analysis.Evidence {
	return analysis.ShowAt(ns, "the qdisc counts %d packets, and %d are parked", qlen, parked).Of(q).
		With("qlen", "packets", int64(qlen)).With("parked", "packets", int64(parked))
}
