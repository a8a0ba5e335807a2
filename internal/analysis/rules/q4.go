// SPDX-License-Identifier: Apache-2.0

package rules

import (
	"github.com/txtrace/txtrace/internal/analysis"
)

var q4 = analysis.Rule{
	ID:         "Q4",
	Sentence:   "Without XPS a queue is chosen by the flow's hash, or by the queue that a forwarded packet came from.",
	Why:        "All packets of a flow have one hash, and so one queue, without anything being remembered.",
	Documents:  []string{"001_06fe2ee777a53261"},
	Kernel:     "skb_tx_hash",
	Needs:      []string{"pick"},
	Strength:   analysis.Exact,
	Antecedent: "a queue chosen by the core on a device without XPS and without traffic classes",
	New: func(j *analysis.Judge) analysis.Checks {
		return analysis.Checks{
			Pick:  func(p *analysis.Pick) { judgeChoice(j, p, !p.XPS()) },
			Picks: func(p *analysis.Picks) { j.HeldBy(uint64(p.Hashed)) },
		}
	},
}

// judgeChoice holds a queue that was chosen anew against the model's.
func judgeChoice(j *analysis.Judge, p *analysis.Pick, is bool) {
	switch {
	case !is || !p.Chooses() || p.QueuesBegin == 1 || p.Hit() || !p.Plain():
		return
	case p.Resized() || p.Remapped():
		j.Undecided(analysis.Changed)
		return
	case p.Overlap != 0 || p.Rerouted != 0:
		j.Undecided(analysis.Race)
		return
	}
	want := p.Afresh()
	if want == int(p.Index) {
		j.Held()
		return
	}
	j.Broken(func() *analysis.Evidence {
		return showPick(p, "queue %d was chosen, XPS and the hash give %d", p.Index, want).
			With("hash", "", int64(p.Hash)).With("rx_queue", "", int64(p.RxMapping)-1).
			With("xps_rx", "", int64(analysis.QueueOf(p.XpsRx))).With("xps_cpu", "", int64(analysis.QueueOf(p.XpsCPU))).With("want", "", int64(want))
	})
}
