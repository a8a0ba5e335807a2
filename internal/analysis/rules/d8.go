// SPDX-License-Identifier: Apache-2.0

package rules

import (
	"github.com/txtrace/txtrace/internal/analysis"
)

var d8 = analysis.Rule{
	ID:         "D8",
	Sentence:   "A qdisc counts a packet with no fewer bytes than it has.",
	Why:        "qdisc_pkt_len is the packet's length, or what its segments will have on the wire. Quantum, rate and byte limits go by it: what is counted too short is sent too fast.",
	Fate:       analysis.Suspicion,
	Documents:  []string{"net/core/dev.c"},
	Kernel:     "qdisc_pkt_len_init",
	Needs:      []string{"dequeue", "direct"},
	Strength:   analysis.Heuristic,
	Antecedent: "a batch, or a packet that was sent past its qdisc",
	New: func(j *analysis.Judge) analysis.Checks {
		return analysis.Checks{
			Batch: func(b *analysis.Batch) {
				if !b.Cut() {
					judgeD8(j, b.Bytes, b.PktLen, func() *analysis.Evidence { return showD8(b.Time, b.Bytes, b.PktLen).Of(b.Queue).Record(&b.Header) })
				}
			},
			Direct: func(d *analysis.Direct) {
				if d.Bypass() {
					judgeD8(j, d.Bytes, d.PktLen, func() *analysis.Evidence { return showD8(d.Time, d.Bytes, d.PktLen).Of(d.Queue).Record(&d.Header) })
				}
			},
		}
	},
}

// judgeD8 cannot tell a size table (stab), or a filter at egress that makes
// packets longer, from a wrong length.
func judgeD8(j *analysis.Judge, bytes, counted uint32, show func() *analysis.Evidence) {
	if counted >= bytes {
		j.Held()
		return
	}
	j.Suspect(show)
}

func showD8(ns uint64, bytes, counted uint32) *analysis.Evidence {
	return analysis.ShowAt(ns, "packets of %d bytes are counted as %d: either wrong, or of a size table, or made longer at egress", bytes, counted).
		With("bytes", "bytes", int64(bytes)).With("pkt_len", "bytes", int64(counted))
}
