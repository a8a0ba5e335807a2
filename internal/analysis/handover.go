// SPDX-License-Identifier: Apache-2.0

package analysis

import "github.com/txtrace/txtrace/internal/event"

// Handover is one dev_hard_start_xmit.
type Handover struct {
	event.Handover
	Queue  *Queue
	Direct *Direct // nil on devices without a qdisc, and when its record never came

	// ForeignKnown says that Foreign can be relied on.
	ForeignKnown bool

	// Whole says that no record of its CPU is missing while it ran.
	Whole bool

	// Calls are those of the driver in it, in order; none unless each packet was
	// recorded.
	Calls []*Call
}

// Call is one call of a driver, with one packet.
type Call struct {
	event.Packet
	Queue    *Queue
	Handover *Handover // nil for a send that was only counted, and when its record never came
}

// Direct says that it is a whole __dev_direct_xmit, outside of any hand-over.
func (c *Call) Direct() bool { return c.Life&event.LifeDirect != 0 }

// Deferred says that its sender left it to another CPU, which enqueued it (6.19
// and later), and that the driver had not been called with it before.
func (c *Call) Deferred() bool { return c.Life&event.LifeDeferred != 0 && c.Tries == 0 }

// LifeID is that of the packet.
func (c *Call) LifeID() LifeID { return LifeID{c.Sender, c.Turn} }

// Unlocked says that the driver takes frames without the core's transmit lock.
func (c *Call) Unlocked() bool { return c.Flags&event.FlagUnlocked != 0 }

// Odd names what the records of the calls say otherwise than the
// hand-over's own counts, or what no call can be; empty when they agree, or
// when not each call has a record. The programs that told both ran one after
// the other, under the queue's lock.
func (h *Handover) Odd() string {
	if odd := h.odd(); odd != "" || !h.Whole || h.Cut() || len(h.Calls) != int(h.Attempts) {
		return odd
	}
	var busy, bytes, charged, refused, uncharged uint32
	last := int32(0)
	for i, c := range h.Calls {
		switch {
		case i == 0 && c.Skb != h.First:
			return "the first packet"
		case c.Netns != h.Netns || c.Ifindex != h.Ifindex || c.Txq != h.Txq:
			return "the queue of a call"
		}
		if last = c.RC; last == NetdevTxBusy {
			busy++
			refused += c.NumQueuedEnd - c.NumQueuedBegin
		} else {
			bytes += c.Len
			charged += c.NumQueuedEnd - c.NumQueuedBegin
			if c.NumQueuedEnd == c.NumQueuedBegin {
				uncharged++
			}
		}
	}
	switch {
	case len(h.Calls) == 0:
	case busy != h.Busy || last != h.DriverRC:
		return "the driver's answers"
	case h.Rest == 0 && h.Busy == 0 && bytes != h.Bytes, bytes > h.Bytes:
		return "the bytes"
	case !h.Reset() && !h.Nested() && !h.Unlocked() && (charged != h.Hand.Charged || refused != h.BusyCharged || uncharged != h.Uncharged):
		return "what was charged"
	}
	return ""
}

// NetdevTxBusy is NETDEV_TX_BUSY.
const NetdevTxBusy = 16

// MoreKnown says whether what the driver was told could be read.
func (c *Call) MoreKnown() bool { return c.More != event.MoreUnknown }

// Sent says that the driver answered NETDEV_TX_OK.
func (c *Call) Sent() bool { return c.RC == 0 }

// Taken counts the frames the driver took.
func (h *Handover) Taken() uint32 { return h.Attempts - h.Busy }

// Charged is how far num_queued moved, in bytes.
func (h *Handover) Charged() uint32 { return h.NumQueuedEnd - h.NumQueuedBegin }

// Reset says that num_queued fell inside: dql_reset ran.
func (h *Handover) Reset() bool { return h.Flags&event.FlagReset != 0 }

// Unlocked says that the driver takes frames without the core's transmit lock:
// another CPU may be inside it for the same queue.
func (h *Handover) Unlocked() bool { return h.Flags&event.FlagUnlocked != 0 }

// Nested says that another device's hand-over ran inside (stacked devices).
func (h *Handover) Nested() bool { return h.Flags&event.FlagNested != 0 }

// Partial says that the begin was not seen.
func (h *Handover) Partial() bool { return h.Flags&event.FlagPartial != 0 }

// Cut says that the list was longer than it was walked: Packets, Bytes or Rest
// are of its first part.
func (h *Handover) Cut() bool { return h.Flags&event.FlagWalkCut != 0 }

// MoreKnown says whether the kernel's xmit_more could be read.
func (h *Handover) MoreKnown() bool { return h.More != event.MoreUnknown }

// Completed says that a completion fell into the hand-over, or was under way
// at one of its ends: adj_limit is stored before num_completed.
func (h *Handover) Completed() bool {
	return h.NumComplBegin != h.NumComplEnd || h.AdjLimitBegin != h.AdjLimitEnd
}

// AvailEnd is dql_avail at the end, in bytes.
func (h *Handover) AvailEnd() int32 { return int32(h.AdjLimitEnd - h.NumQueuedEnd) }

// DrvStopped says that the driver had stopped the queue after its last attempt.
func (h *Handover) DrvStopped() bool { return h.TxqStateLast&event.DrvXoff != 0 }

// DriverBusy says that the driver refused the last frame it was offered
// (NETDEV_TX_BUSY).
func (h *Handover) DriverBusy() bool { return h.Busy > 0 }

// BQL says whether the driver ever charged bytes to the queue.
func (h *Handover) BQL() bool { return h.NumQueuedEnd|h.NumComplEnd|h.AdjLimitEnd != 0 }
