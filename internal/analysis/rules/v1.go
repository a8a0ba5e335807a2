// SPDX-License-Identifier: Apache-2.0

package rules

import (
	"github.com/txtrace/txtrace/internal/analysis"
	"github.com/txtrace/txtrace/internal/model"
)

var v1 = analysis.Rule{
	ID:         "V1",
	Sentence:   "Validation makes of a list no more packets than it has segments, and no more bytes than go over the wire.",
	Why:        "A GSO packet becomes a list of its own, which must be linked into the middle of the other by its head and its tail. With a wrong tail packets appear twice, or are lost.",
	Fate:       analysis.Suspicion,
	Documents:  []string{"000_dfeb1c712f3ce5c5"},
	Kernel:     "validate_xmit_skb_list",
	Needs:      []string{"direct", "handover"},
	Strength:   analysis.Heuristic,
	Antecedent: "a list that was validated and handed over",
	New: func(j *analysis.Judge) analysis.Checks {
		return analysis.Checks{Direct: func(d *analysis.Direct) { judgeV1(j, d) }}
	},
}

// vlanHeader is what validation may add to each packet: a tag that the device
// does not insert by itself.
const vlanHeader = 4

// judgeV1 cannot see a packet of a virtual machine whose segments are not
// counted before validation (SKB_GSO_DODGY), nor what encryption adds.
func judgeV1(j *analysis.Judge, d *analysis.Direct) {
	h := d.Handover
	if d.Validate == 0 || h == nil || !d.Whole || h.Cut() || h.Partial() || d.Cut() {
		return
	}
	wire := uint64(d.PktLen) + vlanHeader*uint64(h.Packets)
	if model.LegalValidated(int(d.GsoSegs), wire, int(h.Packets), uint64(h.Bytes)) {
		j.Held()
		return
	}
	j.Suspect(func() *analysis.Evidence {
		return analysis.Show(d.Queue, &d.Header, "%d packets of %d segments and %d bytes on the wire became %d packets of %d bytes",
			d.Packets, d.GsoSegs, d.PktLen, h.Packets, h.Bytes).
			With("packets", "packets", int64(d.Packets)).With("gso_segs", "packets", int64(d.GsoSegs)).With("pkt_len", "bytes", int64(d.PktLen)).
			With("validated", "packets", int64(h.Packets)).With("validated_bytes", "bytes", int64(h.Bytes))
	})
}
