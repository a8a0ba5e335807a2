// SPDX-License-Identifier: Apache-2.0

package event

// MoreUnknown is Hand.More when the kernel's flag could not be read.
const MoreUnknown = 0xff

// Hand is what one dev_hard_start_xmit did. The list is after validation: a
// GSO skb whose device segments it counts as one packet. An attempt is one
// call of the driver (one net_dev_xmit).
type Hand struct {
	First          uint64 `unit:"addr"`
	RestFirst      uint64 `unit:"addr"` // head of the remainder, 0 when all was taken
	Packets        uint32 `unit:"packets"`
	Bytes          uint32 `unit:"bytes"`
	Rest           uint32 `unit:"packets"` // length of the remainder
	RC             int32  // what dev_hard_start_xmit reports (*ret)
	DriverRC       int32  // what the driver's last attempt returned
	Attempts       uint32
	Uncharged      uint32 // attempts that were taken and did not move num_queued
	Busy           uint32 // attempts that returned NETDEV_TX_BUSY
	BusyCharged    uint32 `unit:"bytes"` // moved into num_queued by those
	Charged        uint32 `unit:"bytes"` // moved into num_queued by the attempts that were taken
	OwedAny        uint32 // doorbells owed: not more, or DRV or STACK set in the attempt
	OwedDrv        uint32 // doorbells owed: not more, or DRV set in the attempt
	NumQueuedBegin uint32 `unit:"bytes"`
	NumComplBegin  uint32 `unit:"bytes"`
	AdjLimitBegin  uint32 `unit:"bytes"`
	NumQueuedEnd   uint32 `unit:"bytes"`
	NumComplEnd    uint32 `unit:"bytes"`
	AdjLimitEnd    uint32 `unit:"bytes"`
	Foreign        uint32 `unit:"bytes"` // charged to the queue since the hand-over before by others; ForeignUnknown
	TxqStateBegin  uint8
	TxqStateLast   uint8 // after the last attempt; at the end where the list was one packet
	TxqStateEnd    uint8
	More           uint8 // the kernel's own xmit_more at the end, MoreUnknown
}

// ForeignUnknown is Hand.Foreign of the first hand-over on a queue.
const ForeignUnknown = 1<<32 - 1

// Handover is a dev_hard_start_xmit outside of any sch_direct_xmit of its
// queue: a device without a qdisc, or a direct send. The one inside a Direct
// is part of that record.
type Handover struct {
	Header
	Hand
}
