// SPDX-License-Identifier: Apache-2.0

package rules

import (
	"github.com/txtrace/txtrace/internal/analysis"
	"github.com/txtrace/txtrace/internal/model"
)

var t3 = analysis.Rule{
	ID:         "T3",
	Sentence:   "A free that meets a throttled socket queues it for the TSQ handler, unless ksoftirqd runs it and more is in flight.",
	Why:        "The free is the call back. It hands the socket to the TSQ handler, but for ksoftirqd with more to free, which lets the last one of its round do it.",
	Documents:  []string{"003_c93f631334ab3194"},
	Kernel:     "tcp_wfree",
	Needs:      []string{"tsq.wfree", "tsq.throttle"},
	Hooks:      []string{"tcp_write_xmit", "tcp_wfree"},
	Strength:   analysis.Exact,
	Antecedent: "a tcp_wfree that met TSQ_THROTTLED without TSQ_QUEUED",
	Floor:      0.5,
	New: func(j *analysis.Judge) analysis.Checks {
		return analysis.Checks{Wfree: func(w *analysis.Wfree) { judgeT3(j, w) }}
	},
}

func judgeT3(j *analysis.Judge, w *analysis.Wfree) {
	ksoftirqd := w.Ksoftirqd != 0
	if ksoftirqd && w.SkbTruesize == 0 {
		j.Undecided("SKB_TRUESIZE(1) is not known")
		return
	}
	left, want := model.Wfree(model.TSQFlags(w.TSQBegin), w.WmemBegin, w.Truesize, w.SkbTruesize, ksoftirqd)
	switch got := model.TSQFlags(w.TSQEnd); {
	case (got^want)&model.TSQQueued == 0:
		j.Held()
	case w.Overlap != 0 || w.Moved():
		j.Undecided(analysis.Race)
	default:
		j.Broken(func() *analysis.Evidence {
			return analysis.Show(nil, &w.Header, "a free left a throttled socket with flags %d, the kernel's rule gives %d (%d bytes left, ksoftirqd %d)",
				got, want, left, w.Ksoftirqd).
				With("tsq_begin", "", int64(w.TSQBegin)).With("tsq_end", "", int64(w.TSQEnd)).With("tsq_want", "", int64(want)).
				With("wmem_left", "bytes", int64(left)).With("skb_truesize", "bytes", int64(w.SkbTruesize)).
				With("ksoftirqd", "", int64(w.Ksoftirqd))
		})
	}
}
