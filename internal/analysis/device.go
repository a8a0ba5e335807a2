// SPDX-License-Identifier: Apache-2.0

package analysis

import (
	"cmp"
	"iter"
	"maps"
	"slices"

	"github.com/txtrace/txtrace/internal/event"
)

// Device is one life of a network device: (netns, ifindex) names it, and the
// generation tells a later device with the same numbers apart.
type Device struct {
	Netns      uint32
	Ifindex    uint32
	Generation uint32 // 0 for the first device seen with these numbers
	Ifname     string // empty when neither the header nor a notice names it
	Driver     string
	Offloads   map[string]bool // ethtool names; nil when not known
	Removed    bool

	qdiscs map[uint32]qdisc  // by handle
	queues map[uint16]*Queue // by index, event.NoQueue for what belongs to no single one
}

// shared is the queue of what belongs to no single one, nil when nothing does.
func (d *Device) shared() *Queue { return d.queues[event.NoQueue] }

// NoESPOffload says that the device is known to have no IPsec offload, so that
// no skb in gso_skb can have an xfrm offload that asks for validation again.
func (d *Device) NoESPOffload() bool {
	return d.isOff("esp-hw-offload") && d.isOff("esp-tx-csum-hw-offload")
}

// isOff says that an offload is known to be off: one that nobody listed may be on.
func (d *Device) isOff(offload string) bool {
	on, listed := d.Offloads[offload]
	return listed && !on
}

// mergesNothing are drivers that give GRO no packet that the device or they
// made of several. Others may: with LRO or rx-gro-hw, but also without
// (xen-netfront, veth and tun hand on what the sender had not cut).
var mergesNothing = map[string]bool{"e1000e": true, "igb": true}

// MergesNothing says whether the driver is known to be one of those.
func (d *Device) MergesNothing() bool { return mergesNothing[d.Driver] }

// completesOnce are drivers that report bytes as sent at most once per queue
// and NAPI poll or interrupt: e1000_clean_tx_irq, igb_clean_tx_irq and cp_tx
// call netdev_tx_completed_queue or netdev_completed_queue once, at their end.
// Others may loop (tg3 and bnxt), or complete while they send (virtio).
var completesOnce = map[string]bool{"e1000e": true, "igb": true, "8139cp": true}

// CompletesOnce says whether the driver is known to complete a queue at most
// once between two looks of its own.
func (d *Device) CompletesOnce() bool { return completesOnce[d.Driver] }

// CountsSegments says whether the driver's tx_packets are the segments that the
// device makes of a packet (igb_clean_tx_irq adds gso_segs), and not packets.
func (d *Device) CountsSegments() bool { return d.Driver == "igb" }

// ref names the device in a report.
func (d *Device) ref() DeviceRef { return DeviceRef{d.Netns, d.Ifindex, d.Generation, d.Ifname} }

// perDevice holds what a meter counts for each device.
type perDevice[T any] struct{ keyed[*Device, T] }

// sorted are the states in the order of reports, each with what its device is
// called by then.
func (p *perDevice[T]) sorted() iter.Seq2[DeviceRef, *T] {
	return func(yield func(DeviceRef, *T) bool) {
		for _, d := range slices.SortedFunc(maps.Keys(p.by), func(a, b *Device) int {
			return cmp.Or(cmp.Compare(a.Netns, b.Netns), cmp.Compare(a.Ifindex, b.Ifindex), cmp.Compare(a.Generation, b.Generation))
		}) {
			if !yield(d.ref(), p.by[d]) {
				return
			}
		}
	}
}

// Queue is one transmit queue of a device. Txq is event.NoQueue for the runs
// of a qdisc that serves several queues.
type Queue struct {
	*Device
	Txq uint16

	// ID counts queues from 0 in the order they were met; see PerQueue.
	ID int

	dql  dqlChain
	ring ringMeter
}

// PerQueue holds a rule's state for each queue.
type PerQueue[T any] struct{ s []*T }

// At is the state for q, zero at first.
func (p *PerQueue[T]) At(q *Queue) *T {
	for q.ID >= len(p.s) {
		p.s = append(p.s, nil)
	}
	if p.s[q.ID] == nil {
		p.s[q.ID] = new(T)
	}
	return p.s[q.ID]
}
