// SPDX-License-Identifier: Apache-2.0

package rules

import (
	"github.com/txtrace/txtrace/internal/analysis"
	"github.com/txtrace/txtrace/internal/model"
)

var t2 = analysis.Rule{
	ID:         "T2",
	Sentence:   "TCP holds a socket back (TSQ_THROTTLED) only above its limit and only if enough is on its way to call back.",
	Why:        "A socket that is held back counts on a completion to go on. It may be only where something of its own is on the way, or nobody calls it back.",
	Documents:  []string{"003_c93f631334ab3194", "c4221a8cc3a7", "f921a4a5bffa"},
	Kernel:     "tcp_small_queue_check",
	Needs:      []string{"tsq.throttle", "tsq.wfree"},
	Hooks:      []string{"tcp_write_xmit", "tcp_wfree"},
	Switches:   []model.Switch{model.SwitchTSQLimit, model.SwitchTSQExempt},
	Strength:   analysis.Interval,
	Antecedent: "a tcp_write_xmit in which TSQ_THROTTLED was newly set",
	Floor:      0.5,
	New: func(j *analysis.Judge) analysis.Checks {
		return analysis.Checks{Throttle: func(t *analysis.Throttle) { judgeT2(j, t) }}
	},
}

// pureACKs is what pure ACKs may have given back unseen: they count 2 bytes
// each and are freed by __sock_wfree, not by tcp_wfree.
const pureACKs = 2 * 128

// judgeT2 holds what was below TCP at the end against the limit of the skb that
// was held back, which is still the head of the write queue. Below TCP bytes
// are only freed by others: at the check there were at least as many as at the
// end, and at most as many more as were freed since the call began.
func judgeT2(j *analysis.Judge, t *analysis.Throttle) {
	switch {
	case t.Overlap != 0:
		j.Undecided(analysis.Race)
		return
	case t.QueueEmpty != 0:
		j.Undecided("the skb went out after all")
		return
	}
	j.Weigh(analysis.Claim{}, func(s analysis.Setting) (analysis.Outcome, string) {
		return outcomeT2(t, s)
	}, func(s analysis.Setting) *analysis.Evidence {
		l := t.AsModel(t.WmemEnd).TSQLimit(s.First)
		return analysis.Show(nil, &t.Header, "a socket was held back with %d bytes below TCP, %d freed meanwhile; its limit is %d (tsq-limit=%s, tsq-exempt=%s)",
			t.WmemEnd, t.Freed, l, s.First, s.Second).
			With("wmem_end", "bytes", int64(t.WmemEnd)).With("freed", "bytes", int64(t.Freed)).With("limit", "bytes", int64(l)).
			With("truesize", "bytes", int64(t.Truesize)).With("rtx", "packets", int64(t.Rtx)).
			With("sysctl", "bytes", int64(t.LimitSysctl)).With("pacing_rate", "bytes_per_s", int64(t.PacingRate))
	})
}

func outcomeT2(t *analysis.Throttle, s analysis.Setting) (analysis.Outcome, string) {
	least := t.AsModel(t.WmemEnd)
	held := analysis.Held
	if !model.TSQExempts(s.First) && least.TSQExempt(model.TSQExemptEmptyOrOne) {
		held = analysis.Unchecked
	}
	if least.Throttled(s.First, s.Second) {
		return held, ""
	}
	most := t.AsModel(t.WmemEnd + t.Freed + pureACKs)
	if t.First() && t.PacedByFq() {
		unpaced := most
		unpaced.Paced = false // fq may have set the status inside this call
		if unpaced.Throttled(s.First, s.Second) {
			return analysis.Undecided, analysis.Race
		}
	}
	switch {
	case most.Throttled(s.First, s.Second) && t.Freed > 0:
		return held, ""
	case most.Throttled(s.First, s.Second):
		return analysis.Undecided, "pure ACKs may explain it"
	case t.Freed > 0 && !most.OverTSQLimit(s.First):
		return analysis.Undecided, analysis.Race // an earlier skb of the call may have had a smaller limit
	}
	return analysis.Broken, "" // below the limit, or exempt: the retransmit queue only grows in the call
}
