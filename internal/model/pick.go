// SPDX-License-Identifier: Apache-2.0

package model

// NoQueue stands for no queue: nothing cached, recorded or mapped.
const NoQueue = -1

// TxDevice is what a choice of queue needs of a device.
type TxDevice struct {
	Queues  int        // real_num_tx_queues, 1 or more
	Select  func() int // ndo_select_queue; nil if the driver has none
	RxMap   XPSMap     // xps_rxqs, by receive queue
	CPUMap  XPSMap     // xps_cpus, by CPU
	Offset  int        // first queue of the skb's traffic class
	InClass int        // queues of that class; 0: no classes
}

// XPSMap maps an index to the queues that it may use; none for an index
// beyond its end.
type XPSMap [][]int

// PickSkb is what a choice of queue needs of a skb.
type PickSkb struct {
	Hash    uint32 // skb_get_hash
	CPU     int    // that sends it: sender_cpu - 1
	RxQueue int    // that it was received on, for one that is forwarded; NoQueue
	OOOOkay bool   // nothing of its flow is on its way
}

// PickSocket is what a choice of queue needs of a socket, and changes.
type PickSocket struct {
	Queue   int    // sk_tx_queue_mapping; NoQueue
	Stamp   uint64 // sk_tx_queue_mapping_jiffies
	RxQueue int    // sk_rx_queue_mapping; NoQueue
	Full    bool   // no request or TIME_WAIT socket
	Route   bool   // sk_dst_cache is set, as for every connected socket
}

// PickTime is the clock of PickCacheExpires, in jiffies.
type PickTime struct {
	Now      uint64
	HZ       uint64 // a second
	Reselect uint64 // net.core.txq_reselection_ms, in jiffies; 0: never
}

// PickReason names why a queue was chosen.
type PickReason string

// The reasons.
const (
	PickOnly    PickReason = "only"    // the device has one queue
	PickHit     PickReason = "hit"     // the socket's queue
	PickDriver  PickReason = "driver"  // ndo_select_queue
	PickNew     PickReason = "new"     // no socket, or none cached
	PickExpired PickReason = "expired" // cached too long ago
	PickShrunk  PickReason = "shrunk"  // the device lost the cached queue
	PickOOO     PickReason = "ooo"     // nothing of the flow is on its way
)

// Pick chooses a queue: netdev_core_pick_tx with netdev_pick_tx, or under
// PickCacheUnchecked dev_pick_tx of 001. sk is nil for a skb without socket.
func Pick(cache Variant, dev TxDevice, skb PickSkb, sk *PickSocket, at PickTime) (queue int, why PickReason) {
	if cache == PickCacheUnchecked {
		return pick001(dev, skb, sk)
	}
	switch {
	case dev.Queues == 1:
		return 0, PickOnly
	case dev.Select != nil:
		return dev.capped(dev.Select()), PickDriver
	}
	why = sk.why(cache, dev, skb, at)
	if why == PickHit {
		return sk.Queue, why
	}
	if queue = dev.xps(skb, sk); queue == NoQueue {
		queue = dev.hash(skb)
	}
	if sk != nil && sk.Full && sk.Route {
		sk.keep(queue, at)
	}
	return dev.capped(queue), why
}

// pick001 trusts what a socket has cached, before the driver is asked, and
// whatever the device's queues have become (001, 4/4).
func pick001(dev TxDevice, skb PickSkb, sk *PickSocket) (queue int, why PickReason) {
	switch {
	case sk != nil && sk.Queue != NoQueue:
		return sk.Queue, PickHit
	case dev.Select != nil:
		return dev.Select(), PickDriver
	}
	queue, why = 0, PickOnly
	if dev.Queues > 1 {
		queue, why = dev.hash(skb), PickNew
	}
	if sk != nil && sk.Route {
		sk.Queue = queue
	}
	return queue, why
}

// why says whether the cached queue serves, or why not.
func (s *PickSocket) why(cache Variant, dev TxDevice, skb PickSkb, at PickTime) PickReason {
	switch {
	case s == nil || s.Queue == NoQueue:
		return PickNew
	case cache == PickCacheExpires && s.Full && at.Reselect != 0 && at.Now > s.Stamp+at.Reselect:
		return PickExpired
	case skb.OOOOkay:
		return PickOOO
	case s.Queue >= dev.Queues:
		return PickShrunk
	}
	return PickHit
}

// keep is sk_tx_queue_set. A queue that stays has its time renewed if that is
// older than a second.
func (s *PickSocket) keep(queue int, at PickTime) {
	if s.Queue != queue || at.Now > s.Stamp+at.HZ {
		s.Stamp = at.Now
	}
	s.Queue = queue
}

// SetRoute is __sk_dst_set and, without a route, __sk_dst_reset: the cached
// queue belongs to the old route's device (001, 1/4; 2/4 has IPv6 do so too).
func (s *PickSocket) SetRoute(route bool) {
	s.Route, s.Queue = route, NoQueue
}

// CheckRoute is __sk_dst_check, which gives up an obsolete route (001, 1/4).
func (s *PickSocket) CheckRoute(obsolete bool) {
	if s.Route && obsolete {
		s.SetRoute(false)
	}
}

// NegativeAdvice is dst_negative_advice: TCP had no answer for long, and its
// route may give itself up (001, 3/4).
func (s *PickSocket) NegativeAdvice(givesUp bool) {
	s.CheckRoute(givesUp)
}

// SetOwner is sk_set_socket, for a socket that is opened or accepted (001, 1/4).
func (s *PickSocket) SetOwner() {
	s.Queue = NoQueue
}

// capped is netdev_cap_txqueue: what a driver may not choose becomes 0 (rule
// Q1).
func (dev TxDevice) capped(queue int) int {
	if queue >= dev.Queues {
		return 0
	}
	return queue
}

// xps is get_xps_queue: by the socket's receive queue, else by the CPU.
func (dev TxDevice) xps(skb PickSkb, sk *PickSocket) int {
	queue := NoQueue
	if sk != nil {
		queue = dev.mapped(dev.RxMap, sk.RxQueue, skb)
	}
	if queue == NoQueue {
		queue = dev.mapped(dev.CPUMap, skb.CPU, skb)
	}
	return queue
}

// mapped is __get_xps_queue_idx. A queue that the device no longer has is no
// answer (rule Q9).
func (dev TxDevice) mapped(m XPSMap, index int, skb PickSkb) int {
	if index < 0 || index >= len(m) || len(m[index]) == 0 {
		return NoQueue
	}
	queues := m[index]
	queue := queues[ReciprocalScale(skb.Hash, uint32(len(queues)))]
	if queue >= dev.Queues {
		return NoQueue
	}
	return queue
}

// hash is skb_tx_hash: by the queue that a forwarded skb came from, else by its
// flow, among the queues of its class (rule Q4).
func (dev TxDevice) hash(skb PickSkb) int {
	offset, count := dev.Offset, dev.InClass
	if count == 0 {
		offset, count = 0, dev.Queues
	}
	if skb.RxQueue == NoQueue {
		return int(ReciprocalScale(skb.Hash, uint32(count))) + offset
	}
	queue := skb.RxQueue
	if queue >= offset {
		queue -= offset
	}
	return queue%count + offset
}

// ReciprocalScale spreads a hash over 0 to n-1 by its high bits.
func ReciprocalScale(hash, n uint32) uint32 {
	return uint32(uint64(hash) * uint64(n) >> 32)
}
