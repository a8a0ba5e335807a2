// SPDX-License-Identifier: Apache-2.0

package analysis

import "github.com/txtrace/txtrace/internal/event"

// foreign says whether it is known what others charged to the queue since the
// hand-over before: __dev_direct_xmit, netpoll, pktgen, XDP. Hand-overs of one
// queue hold its transmit lock, so they do not overlap; on a device without
// that lock nothing is known.
func (h *Handover) foreign() {
	h.ForeignKnown = !h.Partial() && h.Foreign != event.ForeignUnknown
}
