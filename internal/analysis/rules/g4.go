// SPDX-License-Identifier: Apache-2.0

package rules

import (
	"github.com/txtrace/txtrace/internal/analysis"
)

var g4 = analysis.Rule{
	ID:         "G4",
	Sentence:   "Between a list and its protocols nothing is added.",
	Why:        "Packets are only taken out of a list on its way up: those whose timestamp is waited for, and those that RPS gives to other CPUs. What is in it twice is freed twice.",
	Documents:  []string{"002_59aed0d87ab09d98"},
	Kernel:     "netif_receive_skb_list_internal",
	Needs:      []string{"delivery"},
	Hooks:      []string{"netif_receive_skb_list_internal", "__netif_receive_skb_list_core"},
	Strength:   analysis.Exact,
	Antecedent: "a list of received packets that went up",
	New: func(j *analysis.Judge) analysis.Checks {
		return analysis.Checks{Delivery: func(d *analysis.Delivery) {
			if d.Passed <= d.Skbs {
				j.Held()
				return
			}
			j.Broken(func() *analysis.Evidence {
				return analysis.Show(nil, &d.Header, "a list of %d packets came to the protocols as %d", d.Skbs, d.Passed).
					With("skbs", "packets", int64(d.Skbs)).With("passed", "packets", int64(d.Passed))
			})
		}}
	},
}
