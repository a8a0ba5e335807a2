// SPDX-License-Identifier: Apache-2.0

package rules

import (
	"github.com/txtrace/txtrace/internal/analysis"
)

var d7 = analysis.Rule{
	ID:         "D7",
	Sentence:   "A deferred burst is dropped only above net.core.qdisc_max_burst.",
	Why:        "Senders that find another one waiting for a qdisc's lock leave their packets to it, up to a bound. One that is too low, as q->limit of a qdisc without one was, drops what the qdisc has room for.",
	Fate:       analysis.Suspicion,
	Documents:  []string{"ffe4ccd359d0", "100dfa74cad9"},
	Kernel:     "__dev_xmit_skb",
	Needs:      []string{"packet", "packet.life", "packet.burst"},
	Strength:   analysis.Interval,
	Antecedent: "a packet dropped for QDISC_BURST_DROP",
	New: func(j *analysis.Judge) analysis.Checks {
		return analysis.Checks{Life: func(l *analysis.Life) { judgeD7(j, l) }}
	},
}

// judgeD7: who takes the burst makes the count 0 after it took it, so it may be
// less where it is read than it was where it was compared.
func judgeD7(j *analysis.Judge, l *analysis.Life) {
	f := l.Free
	switch {
	case !l.Burst():
	case !l.DeferKnown():
		j.Undecided("Qdisc.defer_count not readable")
	case f.Defer > uint64(f.Burst):
		j.Held()
	case f.Defer == 0:
		j.Undecided(analysis.Race)
	default:
		j.Suspect(func() *analysis.Evidence {
			return analysis.Show(l.Queue, &f.Header, "a packet was dropped with %d deferred, and net.core.qdisc_max_burst allows %d", f.Defer, f.Burst).
				With("defer_count", "packets", int64(f.Defer)).With("max_burst", "packets", int64(f.Burst))
		})
	}
}
