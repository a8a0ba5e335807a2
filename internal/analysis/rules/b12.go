// SPDX-License-Identifier: Apache-2.0

package rules

import (
	"github.com/txtrace/txtrace/internal/analysis"
	"github.com/txtrace/txtrace/internal/model"
)

var b12 = analysis.Rule{
	ID:         "B12",
	Sentence:   "No packet charges a queue with more than UINT_MAX/16 bytes.",
	Why:        "The byte counters wrap, and their differences mean something only while no single charge is large. dql_queued refuses larger ones: it stopped the kernel once, today it warns and charges nothing.",
	Documents:  []string{"4854b463c4b2", "lib/dynamic_queue_limits.c"},
	Kernel:     "dql_queued",
	Needs:      []string{"handover", "handover.attempts", "bql"},
	Hooks:      attemptHooks,
	Strength:   analysis.Exact,
	Antecedent: "a hand-over that was charged",
	New: func(j *analysis.Judge) analysis.Checks {
		return analysis.Checks{Handover: func(h *analysis.Handover) { judgeB12(j, h) }}
	},
}

func judgeB12(j *analysis.Judge, h *analysis.Handover) {
	charged := uint64(h.Hand.Charged)
	switch {
	case h.Partial() || h.Reset() || charged == 0:
	case charged <= model.DQLMaxObject:
		j.Held()
	case h.Unlocked():
		j.Undecided(analysis.Race)
	case charged <= uint64(h.Taken())*model.DQLMaxObject:
		j.Undecided("the charges of single packets are not recorded")
	default:
		j.Broken(func() *analysis.Evidence {
			return analysis.Show(h.Queue, &h.Header, "%d packets charged %d bytes, a packet may charge %d", h.Taken(), charged, uint64(model.DQLMaxObject)).
				With("charged", "bytes", int64(charged)).With("taken", "packets", int64(h.Taken()))
		})
	}
}
