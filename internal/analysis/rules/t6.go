// SPDX-License-Identifier: Apache-2.0

package rules

import (
	"github.com/txtrace/txtrace/internal/analysis"
	"github.com/txtrace/txtrace/internal/model"
)

var t6 = analysis.Rule{
	ID:         "T6",
	Sentence:   "A socket that a free queued for the TSQ handler is handled before long.",
	Why:        "The handler runs on the CPU that freed, in softirq. While the socket is queued no other free queues it again, so if the handler is not run, nobody calls the socket back.",
	Fate:       analysis.Suspicion,
	Documents:  []string{"003_c93f631334ab3194"},
	Kernel:     "tcp_tsq_handler",
	Needs:      []string{"tsq.wfree", "tsq.resume"},
	Strength:   analysis.Heuristic,
	Antecedent: "a free that queued a socket",
	New: func(j *analysis.Judge) analysis.Checks {
		wait := newAwaitsBy[analysis.SockID](j, func(w *analysis.Wfree, late uint64) *analysis.Evidence {
			return analysis.Show(nil, &w.Header, "a free queued a socket for the TSQ handler, which did not come to it for %d ms", ms(late)).
				With("tsq_end", "", int64(w.TSQEnd)).With("wmem", "bytes", int64(w.WmemEnd))
		})
		return analysis.Checks{
			Throttle: func(t *analysis.Throttle) { wait.came(t.SockID(), t.Begin()) },
			Wfree: func(w *analysis.Wfree) {
				if model.TSQFlags(w.TSQEnd)&model.TSQQueued != 0 {
					wait.begin(w.SockID(), w.Time, w)
				}
			},
			Resume: func(r *analysis.Resume) { wait.came(r.SockID(), r.Time) },
			End:    wait.end,
		}
	},
}
