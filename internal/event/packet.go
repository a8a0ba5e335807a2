// SPDX-License-Identifier: Apache-2.0

package event

// Bits of Packet.Life and Free.Life: what is known of a skb's life during a
// call of a driver.
const (
	LifeFollowed = 1 << iota // its end has a record
	LifeShared               // the skb has other users
	LifeDeferred             // another CPU than its sender's enqueued it
	LifeFreed                // it ended inside the call
	LifeOrphaned             // its socket was told inside the call (tcp_wfree) that it is gone, and it was not
	LifeDirect               // the call is a whole __dev_direct_xmit
)

// Packet is one call of a driver, from net_dev_start_xmit to net_dev_xmit. It is
// part of the hand-over that Parent names; a bypass send that is only counted
// has no record. Or it is one __dev_direct_xmit (LifeDirect), which may end
// before it comes to the driver; RC is what that returned.
//
// A sender and its turn name what went to __dev_queue_xmit, as long as it is
// not sent again by a device below.
type Packet struct {
	Header
	Skb            uint64 `unit:"addr"`
	JiffiesBegin   uint64 `unit:"jiffies"`
	JiffiesEnd     uint64 `unit:"jiffies"`
	TransStart     uint64 `unit:"jiffies"` // of the queue, after the call
	Len            uint32 `unit:"bytes"`
	Segs           uint32 `unit:"packets"` // max(gso_segs, 1)
	RC             int32
	NumQueuedBegin uint32 `unit:"bytes"`
	NumQueuedEnd   uint32 `unit:"bytes"`
	Priority       uint32 // of the skb
	Order          uint32 // among the enqueues of the queue, 0 when not known or the qdisc is lockless
	Turn           uint32 // among what its sender sent, 0 when it was not seen to be sent
	Sender         uint16 // CPU, NoQueue when not known
	Tries          uint8  // calls of drivers before since it was sent, up to 255
	Life           uint8  // Life*
	TxqStateBegin  uint8
	TxqStateEnd    uint8
	More           uint8 // the xmit_more that the driver was told, MoreUnknown
	Pad            uint8
}

// Enqueue is a packet that went into a qdisc, at tracepoint qdisc_enqueue. A
// lockless qdisc may have given it on by then.
type Enqueue struct {
	Header
	Qdisc      uint64 `unit:"addr"`
	Skb        uint64 `unit:"addr"`
	QdiscFlags uint32
	Order      uint32 // as Packet's
	Turn       uint32
	Sender     uint16
	QdiscState uint8
	TxqState   uint8
}

// How a skb's life ended (Free.How).
const (
	FreedConsumed = iota
	FreedDropped  // kfree_skb
	FreedBurst    // kfree_skb, as too many were deferred (QDISC_BURST_DROP, 6.19 and later)
)

// DeferUnknown is Free.Defer where it could not be read.
const DeferUnknown = 1<<64 - 1

// Free is the end of a skb that a queue had (skb_release_head_state), before its
// socket is told. Txq is the queue that had it last.
type Free struct {
	Header
	Skb    uint64 `unit:"addr"`
	Defer  uint64 // Qdisc.defer_count when it was dropped, of FreedBurst
	Burst  uint32 // net.core.qdisc_max_burst, of FreedBurst
	Turn   uint32 // as Packet's
	Sender uint16
	How    uint8 // Freed*
	Life   uint8 // Life* of the driver's call with it that is under way, 0 when there is none
	Tries  uint8 // calls of drivers with it
	TCP    uint8 // its destructor is tcp_wfree
	Pad    [2]uint8
}
