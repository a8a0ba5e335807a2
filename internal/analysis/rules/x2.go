// SPDX-License-Identifier: Apache-2.0

package rules

import (
	"github.com/txtrace/txtrace/internal/analysis"
)

var x2 = analysis.Rule{
	ID:         "X2",
	Sentence:   "A packet that is handed over alone is told that none follows.",
	Why:        "xmit_more lets a driver leave the doorbell to a later packet. One that was sent past the qdisc, or came back from it alone, has no later packet: it would wait in the ring for whatever comes next.",
	Documents:  []string{"000_dfeb1c712f3ce5c5", "004_9aeb9cc635f797dc"},
	Kernel:     "dev_hard_start_xmit",
	Needs:      []string{"direct", "handover", "handover.more"},
	Strength:   analysis.Exact,
	Antecedent: "a packet sent past the qdisc, or from gso_skb, alone",
	New: func(j *analysis.Judge) analysis.Checks {
		return analysis.Checks{Direct: func(d *analysis.Direct) { judgeX2(j, d) }}
	},
}

// judgeX2: kernels that requeue lists take lists from gso_skb, which X1 judges.
func judgeX2(j *analysis.Judge, d *analysis.Direct) {
	h := d.Handover
	again := d.Batch != nil && d.Batch.Origin == analysis.OriginGSOSkb
	if h == nil || h.Partial() || h.Packets != 1 || h.Cut() || !d.Bypass() && !again {
		return
	}
	switch {
	case !h.MoreKnown():
		j.Undecided("xmit_more not readable")
	case h.Nested():
		j.Undecided("a stacked device sent inside")
	case h.More == 0:
		j.Held()
	default:
		j.Broken(func() *analysis.Evidence {
			return analysis.Show(h.Queue, &h.Header, "the driver was told more=%d of a packet that was handed over alone", h.More).
				With("packets", "packets", int64(h.Packets)).With("more", "", int64(h.More))
		})
	}
}
