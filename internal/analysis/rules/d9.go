// SPDX-License-Identifier: Apache-2.0

package rules

import (
	"github.com/txtrace/txtrace/internal/analysis"
	"github.com/txtrace/txtrace/internal/model"
)

var d9 = analysis.Rule{
	ID:         "D9",
	Sentence:   "While a queue was never charged by its driver, a bulk dequeue takes one packet.",
	Why:        "Without BQL nothing says how much a ring can take, so whatever a bulk dequeue took might come back. The document makes BQL the condition.",
	Documents:  []string{"000_dfeb1c712f3ce5c5"},
	Kernel:     "try_bulk_dequeue_skb",
	Needs:      []string{"dequeue", "bql"},
	Strength:   analysis.Exact,
	Antecedent: "a batch for a queue without BQL that left packets in the qdisc, or took two",
	New: func(j *analysis.Judge) analysis.Checks {
		return analysis.Checks{Batch: func(b *analysis.Batch) { judgeD9(j, b) }}
	},
}

// judgeD9 needs no bracket: num_queued, num_completed and adj_limit are all 0
// only if no completion ever ran, and until then dql_avail is 0 or less.
func judgeD9(j *analysis.Judge, b *analysis.Batch) {
	if !b.OneTxQueue() || b.Avail.BQL || b.Origin == analysis.OriginGSOSkb {
		return
	}
	if b.Packets < 2 && b.MoreKnown && !b.More {
		return // there was nothing else to take
	}
	if a, _ := b.AsModel(model.BulkBytes, model.QuotaAfter).Legal(b.Sum(), b.AvailRange()); a == model.No {
		j.Broken(func() *analysis.Evidence {
			return analysis.Show(b.Queue, &b.Header, "a batch of %d packets for a queue that BQL allows no bytes", b.Packets).
				With("packets", "packets", int64(b.Packets)).With("avail", "bytes", 0)
		})
		return
	}
	j.Held()
}
