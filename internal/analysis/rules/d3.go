// SPDX-License-Identifier: Apache-2.0

package rules

import (
	"github.com/txtrace/txtrace/internal/analysis"
	"github.com/txtrace/txtrace/internal/model"
)

var d3 = analysis.Rule{
	ID:         "D3",
	Sentence:   "A batch of a qdisc that serves several queues has at most nine packets, all for one queue.",
	Why:        "Packets of a qdisc with several queues must not be handed to the wrong one, so a batch ends where the next packet's queue differs, and at eight more, for no bytes bound it.",
	Documents:  []string{"000_dfeb1c712f3ce5c5", "4d202a0d31b3"},
	Kernel:     "try_bulk_dequeue_skb_slow",
	Needs:      []string{"dequeue"},
	Strength:   analysis.Exact,
	Antecedent: "a batch of two or more packets of a qdisc that serves several queues",
	New: func(j *analysis.Judge) analysis.Checks {
		return analysis.Checks{Batch: func(b *analysis.Batch) { judgeD3(j, b) }}
	},
}

// judgeD3 knows no bytes and no quota: neither bounds such a batch.
func judgeD3(j *analysis.Judge, b *analysis.Batch) {
	if b.OneTxQueue() || b.Packets < 2 || b.Origin == analysis.OriginGSOSkb {
		return
	}
	legal, _ := b.AsModel(model.BulkBudget, model.QuotaAfter).Legal(b.Sum(), b.AvailRange())
	switch {
	case legal == model.No, b.Mixed():
		j.Broken(func() *analysis.Evidence {
			says := "a batch of %d packets, nine is the most"
			if b.Mixed() {
				says = "a batch of %d packets for more than one queue"
			}
			return analysis.Show(b.Queue, &b.Header, says, b.Packets).With("packets", "packets", int64(b.Packets))
		})
	case b.Cut():
		j.Undecided(analysis.Cut)
	default:
		j.Held()
	}
}
