// SPDX-License-Identifier: Apache-2.0

package event

// Bits of GRO.Within.
const (
	WithinPoll = 1 << iota // in __napi_poll of this NAPI
	WithinDone             // in napi_complete_done of this NAPI
)

// HeldUnknown is GRO.Held outside of __napi_poll.
const HeldUnknown = 1<<32 - 1

// GRO is a list of received skbs that went up to the protocols together
// (netif_receive_skb_list_internal), from a NAPI. A list that a driver made by
// itself has no record. The device is that of its first skb.
type GRO struct {
	Header
	NAPI     uint64 `unit:"addr"`
	Batch    uint32 // net.core.gro_normal_batch: segments, or skbs before 5.12
	RxCount  uint32 // what the kernel held against it
	Skbs     uint32 `unit:"packets"`
	Segs     uint32 `unit:"packets"` // sum of max(NAPI_GRO_CB(skb)->count, 1)
	LastSegs uint32 `unit:"packets"` // of the last skb
	Bytes    uint32 `unit:"bytes"`   // sum of skb->len, without link headers
	NapiID   uint32
	Held     uint32 // rx_count when the poll under way began, HeldUnknown
	RxQueue  uint16 // of the first skb, NoQueue when none is recorded
	Within   uint8  // Within*
	Pad      [5]uint8
}
