// SPDX-License-Identifier: Apache-2.0

package rules

import (
	"github.com/txtrace/txtrace/internal/analysis"
	"github.com/txtrace/txtrace/internal/model"
)

var g1 = analysis.Rule{
	ID:         "G1",
	Sentence:   "Received packets go up when their list is full and not later: it was not full without its last one.",
	Why:        "A list saves work per packet, and delays the first until the last has come. gro_normal_batch is how much of that is wanted.",
	Documents:  []string{"002_59aed0d87ab09d98", "8dc1c444df19"},
	Kernel:     "gro_normal_one",
	Needs:      []string{"gro", "gro.batch"},
	Hooks:      []string{"netif_receive_skb_list"},
	Switches:   []model.Switch{model.SwitchGROBatch},
	Strength:   analysis.Exact,
	Antecedent: "a list of received packets that went up from a NAPI",
	Floor:      0.5,
	New: func(j *analysis.Judge) analysis.Checks {
		return analysis.Checks{List: func(l *analysis.List) { judgeG1(j, l) }}
	},
}

func judgeG1(j *analysis.Judge, l *analysis.List) {
	switch {
	case l.WalkCut():
		j.Undecided(analysis.Cut)
		return
	case !l.Steady:
		j.Undecided(analysis.Changed) // it grew under another batch
		return
	}
	// A lost list may have grown under another batch.
	j.Weigh(analysis.Claim{Over: l.Grew}, func(s analysis.Setting) (analysis.Outcome, string) {
		if legalG1(l, s.First) {
			return analysis.Held, ""
		}
		return analysis.Broken, ""
	}, func(s analysis.Setting) *analysis.Evidence {
		return showList(l, "%d skbs of %d segments went up, %d in the last; %d were counted, the batch is %d (gro-batch=%s)",
			l.Skbs, l.Segs, l.LastSegs, l.RxCount, l.Batch, s.First)
	})
}

// legalG1: where it is not known which skbs were charged their segments and
// which one, as GRO does with those that came merged, the last one's charge may
// be either.
func legalG1(l *analysis.List, unit model.Variant) bool {
	if l.Skbs == 0 {
		return false
	}
	legal := func(last uint32) bool {
		ok, _ := model.LegalDelivery(unit, int(l.Batch), l.AsModel(), int(last))
		return ok
	}
	switch {
	case !l.Counted():
		return l.RxCount <= l.Segs && (legal(l.LastSegs) || legal(1))
	case unit == model.GROBatchSegs && l.RxCount != l.Segs:
		return false
	case unit == model.GROBatchFrags && l.Segs != l.Skbs:
		return false // what GRO merged is not batched
	}
	return legal(l.LastSegs)
}

// showList begins the evidence of a list.
func showList(l *analysis.List, format string, args ...any) *analysis.Evidence {
	e := analysis.Show(nil, &l.Header, format, args...).
		With("skbs", "packets", int64(l.Skbs)).With("segments", "packets", int64(l.Segs)).With("last", "packets", int64(l.LastSegs)).
		With("rx_count", "", int64(l.RxCount)).With("batch", "", int64(l.Batch)).With("napi_id", "", int64(l.NapiID))
	e.Ifname = l.Device.Ifname
	return e
}
