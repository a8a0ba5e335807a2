// SPDX-License-Identifier: Apache-2.0

package rules

import (
	"github.com/txtrace/txtrace/internal/analysis"
)

var t4 = analysis.Rule{
	ID:         "T4",
	Sentence:   "A socket that TCP held back goes on before long.",
	Why:        "TSQ counts on a free of one of the socket's packets to call it back. If none of them is on its way any more, or the free does not look, the socket waits for a timer of its own.",
	Fate:       analysis.Suspicion,
	Documents:  []string{"003_c93f631334ab3194", "f921a4a5bffa"},
	Kernel:     "tcp_small_queue_check",
	Needs:      []string{"tsq.throttle", "tsq.wfree"},
	Hooks:      []string{"tcp_write_xmit", "tcp_wfree"},
	Strength:   analysis.Heuristic,
	Antecedent: "a socket that was held back, until a free met it, or it went on",
	New: func(j *analysis.Judge) analysis.Checks {
		wait := newAwaitsBy[analysis.SockID](j, func(t *analysis.Throttle, late uint64) *analysis.Evidence {
			return analysis.Show(nil, &t.Header, "a socket was held back with %d bytes on their way, and for %d ms nothing called it back", t.WmemEnd, ms(late)).
				With("wmem", "bytes", int64(t.WmemEnd)).With("tsq_end", "", int64(t.TSQEnd))
		})
		return analysis.Checks{
			Throttle: func(t *analysis.Throttle) {
				id := t.SockID()
				wait.came(id, t.Begin()) // it had gone on
				if !t.Queued() {         // else a free met it already
					wait.begin(id, t.Time, t)
				}
			},
			Wfree:  func(w *analysis.Wfree) { wait.came(w.SockID(), w.Time) },
			Resume: func(r *analysis.Resume) { wait.came(r.SockID(), r.Time) },
			// The free of a socket's last packet, which ends the socket if it is
			// closed, has no record.
			End: func(e *analysis.End) { wait.doubt(e, "it may be closed: the end of a socket has no record") },
		}
	},
}
