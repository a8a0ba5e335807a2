// SPDX-License-Identifier: Apache-2.0

package analysis

import "github.com/txtrace/txtrace/internal/event"

// Life is a moment in the life of a skb, in the order of the records: exactly
// one of Enqueue, Packet and Free is there. A call of a driver has it twice,
// when it ended and, as a Call, with its hand-over.
type Life struct {
	Queue   *Queue
	Enqueue *event.Enqueue
	Packet  *event.Packet
	Free    *event.Free
}

// LifeID names a life of a skb, as long as no device below sends it again: the
// CPU that sent it, and its turn there. Turn is 0 where it was not seen sent.
type LifeID struct {
	Sender uint16
	Turn   uint32
}

// Known says that it is one.
func (id LifeID) Known() bool { return id.Turn != 0 && id.Sender != event.NoQueue }

// Kept is a call of a driver whose record is its own, which stays.
func (l *Life) Kept() Life {
	p := *l.Packet
	return Life{Queue: l.Queue, Packet: &p}
}

// ID is that of the life.
func (l *Life) ID() LifeID {
	switch {
	case l.Enqueue != nil:
		return LifeID{l.Enqueue.Sender, l.Enqueue.Turn}
	case l.Packet != nil:
		return LifeID{l.Packet.Sender, l.Packet.Turn}
	}
	return LifeID{l.Free.Sender, l.Free.Turn}
}

// Skb is its address.
func (l *Life) Skb() uint64 {
	switch {
	case l.Enqueue != nil:
		return l.Enqueue.Skb
	case l.Packet != nil:
		return l.Packet.Skb
	}
	return l.Free.Skb
}

// Time is when it was over, in ns.
func (l *Life) Time() uint64 {
	switch {
	case l.Enqueue != nil:
		return l.Enqueue.Time
	case l.Packet != nil:
		return l.Packet.Time
	}
	return l.Free.Time
}

// Mark is what a rule remembers of a record, to show it.
type Mark struct{ event.Header }

// Mark is that of the moment.
func (l *Life) Mark() Mark {
	switch {
	case l.Enqueue != nil:
		return Mark{l.Enqueue.Header}
	case l.Packet != nil:
		return Mark{l.Packet.Header}
	}
	return Mark{l.Free.Header}
}

// Taken says that a call gave the packet to a device that will tell of it:
// the driver answered NETDEV_TX_OK and charged it to its ring. One that charges
// nothing may hand it on, as veth does.
func (l *Life) Taken() bool {
	p := l.Packet
	return p != nil && p.RC == 0 && !l.Direct() && int32(p.NumQueuedEnd-p.NumQueuedBegin) > 0
}

// Alone says that a call's skb is followed to its end, and has one user.
func (l *Life) Alone() bool {
	return l.Packet != nil && l.Packet.Life&(event.LifeFollowed|event.LifeShared) == event.LifeFollowed
}

// Direct says that the call is a whole __dev_direct_xmit.
func (l *Life) Direct() bool { return l.Packet != nil && l.Packet.Life&event.LifeDirect != 0 }

// Refused says that the driver answered NETDEV_TX_BUSY.
func (l *Life) Refused() bool { return l.Packet != nil && l.Packet.RC == 0x10 }

// FreedInside says that the skb ended in the driver's call.
func (l *Life) FreedInside() bool { return l.Packet != nil && l.Packet.Life&event.LifeFreed != 0 }

// Orphaned says that the driver's call let the socket of a skb go that lived on.
func (l *Life) Orphaned() bool { return l.Packet != nil && l.Packet.Life&event.LifeOrphaned != 0 }

// Lockless says that it was enqueued in a lockless qdisc.
func (l *Life) Lockless() bool {
	return l.Enqueue != nil && l.Enqueue.QdiscFlags&event.QdiscNoLock != 0
}

// Burst says that it was dropped since too many were deferred.
func (l *Life) Burst() bool { return l.Free != nil && l.Free.How == event.FreedBurst }

// DeferKnown says that it is known how many those were.
func (l *Life) DeferKnown() bool { return l.Free != nil && l.Free.Defer != event.DeferUnknown }
