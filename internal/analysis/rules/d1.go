// SPDX-License-Identifier: Apache-2.0

package rules

import (
	"github.com/txtrace/txtrace/internal/analysis"
	"github.com/txtrace/txtrace/internal/model"
)

var d1 = analysis.Rule{
	ID:         "D1",
	Sentence:   "A bulk dequeue asks for another packet only while what it holds is less than BQL allowed when it began.",
	Why:        "Bulk dequeue takes several packets at a cost of one, but what it takes no longer waits in the qdisc. BQL's bytes are the bound up to which that costs no latency.",
	Documents:  []string{"000_dfeb1c712f3ce5c5", "5772e9a3463b"},
	Kernel:     "try_bulk_dequeue_skb",
	Needs:      []string{"run", "dequeue", "direct", "handover", "bql"},
	Strength:   analysis.Interval,
	Antecedent: "a batch of two or more packets for a queue with BQL",
	Floor:      0.05,
	New: func(j *analysis.Judge) analysis.Checks {
		return analysis.Checks{Batch: func(b *analysis.Batch) { judgeD1(j, b) }}
	},
}

// judgeD1 compares all packets but the last, for that is what the loop had when
// it asked for the last one. What BQL allowed is an interval: the loop read it
// at some moment since the hand-over before, or the begin of the run. With a
// completion in there a batch can be legal for all states seen, but not broken:
// two completions in a row can look like one, and hide a state.
func judgeD1(j *analysis.Judge, b *analysis.Batch) {
	if !b.OneTxQueue() || b.Packets < 2 || b.Origin == analysis.OriginGSOSkb || !b.Avail.BQL {
		return
	}
	switch {
	case b.Cut():
		j.Undecided(analysis.Cut)
		return
	case !b.Avail.Known:
		j.Undecided(b.AvailDoubt())
		return
	}
	switch a, _ := b.AsModel(model.BulkBytes, model.QuotaAfter).Legal(b.Sum(), b.AvailRange()); {
	case a == model.Yes:
		j.Held()
	case a == model.No && b.Avail.Exact:
		j.Broken(func() *analysis.Evidence { return showD1(b) })
	default:
		j.Undecided(analysis.Race)
	}
}

func showD1(b *analysis.Batch) *analysis.Evidence {
	before := int64(b.Bytes) - int64(b.LastLen)
	e := analysis.Show(b.Queue, &b.Header, "a batch of %d packets asked for its last one with %d bytes in hand, BQL allowed %d at most",
		b.Packets, before, b.Avail.Max)
	return e.With("bytes_before_last", "bytes", before).With("avail_max", "bytes", int64(b.Avail.Max)).
		With("avail_min", "bytes", int64(b.Avail.Min)).With("packets", "packets", int64(b.Packets)).Record(&b.Run.Header)
}
