// SPDX-License-Identifier: Apache-2.0

package rules

import (
	"github.com/txtrace/txtrace/internal/analysis"
)

var t7 = analysis.Rule{
	ID:         "T7",
	Sentence:   "sk_wmem_alloc is the sum of the socket's packets on their way, and one.",
	Why:        "TCP small queues go by that sum. Bytes that are never taken off it hold the socket back for ever, and those that are taken off too early let it fill the queues.",
	Fate:       analysis.Suspicion,
	Documents:  []string{"003_c93f631334ab3194", "net/ipv4/tcp_output.c"},
	Kernel:     "__tcp_transmit_skb",
	Needs:      []string{"packet.transmit", "tsq.throttle", "tsq.wfree"},
	Hooks:      []string{"tcp_write_xmit", "__tcp_transmit_skb", "tcp_wfree"},
	Strength:   analysis.Heuristic,
	Antecedent: "a packet that tcp_write_xmit sends after another of the socket, which has sent no GSO packet since it had nothing below TCP",
	New: func(j *analysis.Judge) analysis.Checks {
		c := checkT7{j: j, last: make(map[analysis.SockID]uint64)}
		return analysis.Checks{Transmit: c.transmit}
	},
}

type checkT7 struct {
	j    *analysis.Judge
	last map[analysis.SockID]uint64 // when a socket sent last, ns
}

// transmit holds what changed between two packets against what was charged and
// freed. Other code may charge the socket too (skb_expand_head), so it is no
// more than suspect.
func (c *checkT7) transmit(t *analysis.Transmit) {
	id := t.SockID()
	before, ok := c.last[id]
	if ok || len(c.last) < maxAwaits {
		c.last[id] = t.Time
	}
	want := t.Before + t.Sent - t.Freed
	off := int32(t.Wmem - want)
	switch {
	case !t.Summed() || !ok:
	case t.Raced():
		c.j.Undecided(analysis.Race)
	case max(off, -off) <= pureACKs:
		c.j.Held()
	default:
		c.j.SuspectIf(during(before, t.Time), func() *analysis.Evidence {
			return analysis.Show(nil, &t.Header, "%d bytes are below TCP where %d were, %d were sent and %d freed: %d do not fit", t.Wmem, t.Before, t.Sent, t.Freed, off).
				With("wmem", "bytes", int64(t.Wmem)).With("before", "bytes", int64(t.Before)).
				With("sent", "bytes", int64(t.Sent)).With("freed", "bytes", int64(t.Freed))
		})
	}
}
