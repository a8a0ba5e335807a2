// SPDX-License-Identifier: Apache-2.0

package rules

import (
	"math"

	"github.com/txtrace/txtrace/internal/analysis"
	"github.com/txtrace/txtrace/internal/model"
)

var d2 = analysis.Rule{
	ID:         "D2",
	Sentence:   "A bulk dequeue of a qdisc with one queue takes at most one packet more than what is left of the run's quota.",
	Why:        "A run may send dev_tx_weight packets before others get the CPU. While only bytes ended a batch, small packets came in batches of a thousand and more, all for one turn.",
	Documents:  []string{"0345552a653c", "000_dfeb1c712f3ce5c5"},
	Kernel:     "try_bulk_dequeue_skb",
	Needs:      []string{"run", "dequeue"},
	Switches:   []model.Switch{model.SwitchBulk},
	Strength:   analysis.Exact,
	Antecedent: "a batch above the bound, or one that ended although BQL allowed bytes and the qdisc held packets",
	New: func(j *analysis.Judge) analysis.Checks {
		return analysis.Checks{Batch: func(b *analysis.Batch) { judgeD2(j, b) }}
	},
}

// noBytes leaves the bound of packets as the only one.
var noBytes = model.Range{Min: math.MaxInt32, Max: math.MaxInt32}

// bulkVariants of the model, newest first.
var bulkVariants = []model.Variant{
	model.BulkBudget, model.BulkBytes, model.BulkCap7, model.BulkCap8, model.BulkOne, model.BulkNone,
}

// judgeD2 looks at a batch twice. Its size stands against every variant with a
// smaller bound. If it ended although bytes and packets were left, the bound
// ended it: that stands for the variant whose bound it is and against the
// others. Never exceeding a bound proves nothing.
func judgeD2(j *analysis.Judge, b *analysis.Batch) {
	if !b.OneTxQueue() || b.Origin == analysis.OriginGSOSkb {
		return
	}
	if b.Quota == 0 {
		if b.Run != nil && b.Run.Weight == 0 && !b.Partial() && bytesAndPacketsLeft(b) {
			j.Undecided(analysis.Changed)
		}
		return
	}
	d := dequeueD2(b)
	above, _ := d.Legal(b.Sum(), noBytes)
	left := bytesAndPacketsLeft(b) && someBoundEnded(b)
	claim := analysis.Claim{
		Quota: (b.Run == nil || b.Run.Noticed) && (left || above == model.No), // older bounds do not depend on it
		Clear: b.Run != nil && b.Packets > b.Run.Weight,                       // whatever was sent before
	}
	j.Weigh(claim, func(s analysis.Setting) (analysis.Outcome, string) {
		d.Bulk = s.First
		if a, _ := d.Legal(b.Sum(), noBytes); a == model.No {
			return analysis.Broken, ""
		}
		if left {
			if _, a := d.Ended(b.Sum(), noBytes, true); a == model.No {
				return analysis.Broken, ""
			}
		}
		if left || above == model.No {
			return analysis.Held, ""
		}
		return analysis.None, ""
	}, func(s analysis.Setting) *analysis.Evidence { return showD2(b, s.First) })
}

// dequeueD2 is the dequeue under today's bound, with bytes without end.
func dequeueD2(b *analysis.Batch) model.Dequeue {
	d := b.AsModel(model.BulkBudget, model.QuotaAfter)
	d.BQL = true
	return d
}

// bytesAndPacketsLeft says that neither BQL nor an empty qdisc ended the batch.
func bytesAndPacketsLeft(b *analysis.Batch) bool {
	return b.Avail.Exact && int64(b.Bytes) < int64(b.Avail.Min) && !b.Cut() &&
		b.More && b.Run.WorkConserving() && (b.Sure || b.Packets > 1)
}

// someBoundEnded says that the bound of some variant explains the end: what
// none explains is not this rule's matter.
func someBoundEnded(b *analysis.Batch) bool {
	d := dequeueD2(b)
	for _, d.Bulk = range bulkVariants {
		legal, _ := d.Legal(b.Sum(), noBytes)
		if _, ended := d.Ended(b.Sum(), noBytes, true); legal != model.No && ended == model.Yes {
			return true
		}
	}
	return false
}

func showD2(b *analysis.Batch, bulk model.Variant) *analysis.Evidence {
	var e *analysis.Evidence
	d := dequeueD2(b)
	d.Bulk = bulk
	if a, _ := d.Legal(b.Sum(), noBytes); a == model.No {
		e = analysis.Show(b.Queue, &b.Header, "a batch of %d packets with a quota of %d left: more than bulk=%s allows", b.Packets, b.Quota, bulk)
	} else {
		e = analysis.Show(b.Queue, &b.Header, "a batch ended at %d packets with a quota of %d left, although BQL allowed %d bytes more and the qdisc held %d packets",
			b.Packets, b.Quota, int64(b.Avail.Min)-int64(b.Bytes), b.Qlen)
	}
	return e.With("packets", "packets", int64(b.Packets)).With("quota_left", "packets", int64(b.Quota)).
		With("bytes", "bytes", int64(b.Bytes)).With("avail", "bytes", int64(b.Avail.Max)).With("qlen", "packets", int64(b.Qlen))
}
