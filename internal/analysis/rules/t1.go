// SPDX-License-Identifier: Apache-2.0

package rules

import (
	"github.com/txtrace/txtrace/internal/analysis"
	"github.com/txtrace/txtrace/internal/model"
)

var t1 = analysis.Rule{
	ID:         "T1",
	Sentence:   "TCP sends no packet while the socket is above its limit.",
	Why:        "The limit is what keeps a flow's packets in TCP and not in the queues below, where each one delays those of others.",
	Fate:       analysis.Packet,
	Documents:  []string{"003_c93f631334ab3194", "c4221a8cc3a7", "f921a4a5bffa"},
	Kernel:     "tcp_write_xmit",
	Needs:      []string{"packet.transmit", "tsq.throttle"},
	Hooks:      []string{"tcp_write_xmit", "__tcp_transmit_skb"},
	Switches:   []model.Switch{model.SwitchTSQLimit, model.SwitchTSQExempt},
	Strength:   analysis.Interval,
	Antecedent: "a packet that tcp_write_xmit sends",
	New: func(j *analysis.Judge) analysis.Checks {
		return analysis.Checks{Transmit: func(t *analysis.Transmit) { judgeT1(j, t) }}
	},
}

// judgeT1: since TCP compared, frees may only have made wmem less, so what is
// above the limit here was above it there. A probe of the path's MTU is sent
// without being asked.
func judgeT1(j *analysis.Judge, t *analysis.Transmit) {
	if t.MayProbe() {
		j.Undecided("it may be a probe of the MTU")
		return
	}
	s := t.AsModel()
	j.Weigh(analysis.Claim{}, func(v analysis.Setting) (analysis.Outcome, string) {
		if s.Throttled(v.First, v.Second) {
			return analysis.Broken, ""
		}
		return analysis.Held, ""
	}, func(v analysis.Setting) *analysis.Evidence {
		l := s.TSQLimit(v.First)
		return analysis.Show(nil, &t.Header, "TCP sent with %d bytes below it, and its limit is %d (tsq-limit=%s, tsq-exempt=%s)", t.Wmem, l, v.First, v.Second).
			With("wmem", "bytes", int64(t.Wmem)).With("limit", "bytes", int64(l)).With("truesize", "bytes", int64(t.Truesize)).
			With("rtx", "packets", int64(t.Rtx)).With("sysctl", "bytes", int64(t.LimitSysctl)).With("pacing_rate", "bytes_per_s", int64(t.PacingRate))
	})
}
