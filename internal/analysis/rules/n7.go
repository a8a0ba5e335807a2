// SPDX-License-Identifier: Apache-2.0

package rules

import (
	"github.com/txtrace/txtrace/internal/analysis"
	"github.com/txtrace/txtrace/internal/model"
)

var n7 = analysis.Rule{
	ID:         "N7",
	Sentence:   "A qdisc that a run left scheduled, with packets in it, is run again before long.",
	Why:        "Whoever sets SCHED puts the qdisc on its CPU's list for net_tx_action, and nobody else will. If it is on no list, the bit keeps everyone from putting it there, and the queue is dead.",
	Fate:       analysis.Suspicion,
	Documents:  []string{"net/core/dev.c", "100dfa74cad9"},
	Kernel:     "__netif_reschedule",
	Needs:      []string{"run"},
	Strength:   analysis.Heuristic,
	Antecedent: "a run that left its qdisc, which holds nothing back, scheduled and not empty, and the queue not stopped",
	New: func(j *analysis.Judge) analysis.Checks {
		c := checkN7{newAwaitsBy[uint64](j, showN7)}
		return analysis.Checks{Run: c.run, Notice: c.notice, End: c.wait.end}
	},
}

type checkN7 struct {
	wait awaitsBy[uint64, analysis.Run] // by qdisc
}

// run: one that gives nothing is not recorded, so the next one must give
// something.
func (c *checkN7) run(r *analysis.Run) {
	c.wait.came(r.Qdisc, r.Time)
	gives := r.OneTxQueue() && r.WorkConserving() && !r.PerCPUQlen() && r.QlenEnd > 0 && model.Startable(model.QueueState(r.TxqStateEnd))
	if gives && !r.Partial() && r.Scheduled() {
		c.wait.begin(r.Qdisc, r.Time, r)
	}
}

// notice: a device that changes may get another qdisc.
func (c *checkN7) notice(n *analysis.Notice) {
	c.wait.forget(func(r *analysis.Run) bool { return r.Queue.Device == n.Device })
}

func showN7(r *analysis.Run, late uint64) *analysis.Evidence {
	return analysis.Show(r.Queue, &r.Header, "a run left the qdisc scheduled with packets in it, and for %d ms it was not run again", ms(late)).
		With("qlen", "packets", int64(r.QlenEnd)).With("qdisc_state_end", "", int64(r.QdiscStateEnd))
}
