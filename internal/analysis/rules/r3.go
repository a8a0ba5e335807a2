// SPDX-License-Identifier: Apache-2.0

package rules

import (
	"github.com/txtrace/txtrace/internal/analysis"
)

var r3 = analysis.Rule{
	ID:         "R3",
	Sentence:   "A direct send that the driver refuses comes back to its caller once.",
	Why:        "Such a send has no qdisc to go back to: its caller frees the packet or sends it again. If it was freed already, or is the driver's, that is done twice.",
	Fate:       analysis.Packet,
	Documents:  []string{"642e450b6b59", "net/core/dev.c"},
	Kernel:     "__dev_direct_xmit",
	Needs:      []string{"packet", "packet.life", "packet.direct"},
	Hooks:      []string{"skb_release_head_state", "__dev_direct_xmit"},
	Strength:   analysis.Exact,
	Antecedent: "a __dev_direct_xmit that returned NETDEV_TX_BUSY",
	New: func(j *analysis.Judge) analysis.Checks {
		return analysis.Checks{Life: func(l *analysis.Life) { judgeR3(j, l) }}
	},
}

// judgeR3: a packet of several users is not freed by one of them.
func judgeR3(j *analysis.Judge, l *analysis.Life) {
	p := l.Packet
	switch {
	case !l.Direct() || !l.Refused() || !l.Alone():
	case !l.FreedInside():
		j.Held()
	default:
		j.Broken(func() *analysis.Evidence {
			return analysis.Show(l.Queue, &p.Header, "a direct send came back as refused, and its packet was freed in it").
				With("rc", "", int64(p.RC)).With("life", "", int64(p.Life))
		})
	}
}
