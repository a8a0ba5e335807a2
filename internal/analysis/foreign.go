// SPDX-License-Identifier: Apache-2.0

package analysis

// lastHandover is what the last hand-over left a queue in.
type lastHandover struct {
	known     bool
	end       uint64
	numQueued uint32
}

// foreign finds what others charged to the queue between two hand-overs:
// __dev_direct_xmit, netpoll, pktgen, XDP. Hand-overs of one queue hold its
// transmit lock, so they do not overlap; on a device without that lock nothing
// is known.
func (r *rebuild) foreign(h *Handover) {
	q := h.Queue
	if h.Partial() {
		return
	}
	last := q.sent
	q.sent = lastHandover{!h.Nested(), h.Time, h.NumQueuedEnd}
	begin := h.Begin()
	if !last.known || begin < last.end || r.gaps.within(Span{last.end, begin}) {
		return
	}
	if moved := h.NumQueuedBegin - last.numQueued; int32(moved) >= 0 {
		h.Foreign, h.ForeignKnown = moved, true
	}
}
