// SPDX-License-Identifier: Apache-2.0

package rules

import (
	"github.com/txtrace/txtrace/internal/analysis"
)

var r4 = analysis.Rule{
	ID:         "R4",
	Sentence:   "A device without a qdisc has nothing put back: it takes a packet at once or the packet is gone.",
	Why:        "noqueue has nowhere to keep a packet. __dev_queue_xmit hands over by itself, and frees what is refused; sch_direct_xmit would put it into a list that nobody runs.",
	Documents:  []string{"net/core/dev.c"},
	Kernel:     "__dev_queue_xmit",
	Needs:      []string{"run", "direct", "handover"},
	Strength:   analysis.Exact,
	Antecedent: "a hand-over outside of any qdisc, or a run of noqueue",
	New: func(j *analysis.Judge) analysis.Checks {
		return analysis.Checks{
			Run: func(r *analysis.Run) {
				if r.Kind != "noqueue" {
					return
				}
				j.Broken(func() *analysis.Evidence {
					return analysis.Show(r.Queue, &r.Header, "noqueue was run and gave %d packets", r.Packets).
						With("packets", "packets", int64(r.Packets)).With("qdisc_flags", "", int64(r.QdiscFlags))
				})
			},
			Handover: func(h *analysis.Handover) {
				if h.Direct == nil && h.Whole && !h.Partial() {
					j.Held()
				}
			},
		}
	},
}
