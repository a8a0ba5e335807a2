// SPDX-License-Identifier: Apache-2.0

package event

// Bits of Pick.Maps.
const (
	MapsCPUs    = 1 << iota // XPS by CPU is set up on the device
	MapsRxQueue             // XPS by receive queue is
	MapsChanged             // one of them was replaced meanwhile
)

// Pick is one choice of a transmit queue (netdev_core_pick_tx) that is worth a
// record: a socket was met or has kept its queue long, what it keeps changed,
// or the choice is not the plain one. Others are counted, see Picks. Txq is
// the queue chosen. Queue numbers are NoQueue where there is none.
type Pick struct {
	Header
	Sock         uint64 `unit:"addr"`
	Birth        uint64 `unit:"ns"` // when the recorder met the socket, which is not when it did for Throttle
	Since        uint64 `unit:"ns"` // no earlier was its queue last chosen: the recorder saw no choice since then
	JiffiesBegin uint64 `unit:"jiffies"`
	JiffiesEnd   uint64 `unit:"jiffies"`
	StampBegin   uint64 `unit:"jiffies"` // sk_tx_queue_mapping_jiffies before, when Stamped
	StampEnd     uint64 `unit:"jiffies"` // and after
	Index        uint32 // of the queue, from its pointer
	Len          uint32 `unit:"bytes"` // of the skb
	Wmem         uint32 `unit:"bytes"` // sk_wmem_alloc, this skb and one byte included
	Truesize     uint32 `unit:"bytes"` // of the skb
	Hash         uint32 // skb->hash after, which is what was used
	SenderCPU    uint32 // skb->sender_cpu after: the CPU and one
	Reselect     uint32 `unit:"jiffies"` // net.core.txq_reselection_ms of the socket's namespace, when Stamped
	QueuesBegin  uint32 // real_num_tx_queues before
	QueuesEnd    uint32 // and after
	Before       uint16 // sk_tx_queue_mapping before
	After        uint16 // and after
	Mapping      uint16 // skb->queue_mapping after
	RxMapping    uint16 // skb->queue_mapping before: the receive queue and one, 0 when none is recorded
	SkRx         uint16 // sk_rx_queue_mapping
	XpsRx        uint16 // queue that XPS by receive queue names, whether it is there or not
	XpsCPU       uint16 // queue that XPS by CPU names
	Last         uint16 // queue of the socket's pick before, NoQueue when that was on another device
	OOO          uint8  // skb->ooo_okay
	Full         uint8  // a full socket: no request, no TIME_WAIT; else there is no Sock
	Route        uint8  // sk_dst_cache is set
	Rerouted     uint8  // sk_dst_cache changed meanwhile
	Select       uint8  // the driver has ndo_select_queue
	Overlap      uint8  // another pick of the socket overlapped
	Maps         uint8  // Maps*
	Classes      uint8  // traffic classes, or XPS of another shape, have a part in it
	Sub          uint8  // chosen for a subordinate device
	Stamped      uint8  // sockets of this kernel hold the time of their queue (6.19 and later)
	Exact        uint8  // the queue's pointer is that of an element of the device's array
	State        uint8  // skc_state, 0 without a socket
}

// Picks counts the picks of one queue, on all CPUs, that had no record: the
// queue is one that the device has, the skb was given its number, and nothing
// changed in the socket. Dur is the time in which they were.
type Picks struct {
	Header
	PickCounts
}

// PickCounts are the counts of Picks.
type PickCounts struct {
	Bytes  uint64 `unit:"bytes"` // sum of skb->len
	Only   uint32 // the device has one queue
	Kept   uint32 // the socket's queue
	Driver uint32 // ndo_select_queue
	Again  uint32 // chosen anew, since nothing was on its way (ooo_okay), and the same
	Unkept uint32 // chosen for a skb whose socket, if any, keeps no queue
	Hashed uint32 // of the two above: by the hash, without XPS, and what the hash says
	Mapped uint32 // of them: on a device with XPS by CPU, and what XPS and the hash say
	Hinted uint32 // of Hashed: by the queue that the skb says it was received on
}
