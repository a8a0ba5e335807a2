// SPDX-License-Identifier: Apache-2.0

package analysis

import (
	"github.com/txtrace/txtrace/internal/capture"
	"github.com/txtrace/txtrace/internal/event"
	"github.com/txtrace/txtrace/internal/model"
)

// Pick is one choice of a transmit queue.
type Pick struct {
	event.Pick
	Queue  *Queue
	Kernel *capture.Kernel
}

// Picks counts those of one queue that went as they should and changed nothing.
type Picks struct {
	event.Picks
	Queue *Queue
}

// Steer is a packet whose queue a filter set.
type Steer struct {
	event.Steer
	Queue *Queue
}

// All is their number.
func (p *Picks) All() uint64 {
	return uint64(p.Only) + uint64(p.Kept) + uint64(p.Driver) + uint64(p.Again) + uint64(p.Unkept)
}

// Resized says that the device's number of queues changed meanwhile.
func (p *Pick) Resized() bool { return p.QueuesBegin != p.QueuesEnd }

// Chooses says that the core chooses itself: there is more than one queue, and
// the driver is not asked.
func (p *Pick) Chooses() bool { return p.QueuesEnd != 1 && p.Select == 0 }

// HasSocket says that the skb has one.
func (p *Pick) HasSocket() bool { return p.State != 0 || p.Full != 0 }

// SockID is that of the skb's socket.
func (p *Pick) SockID() SockID { return SockID{p.Sock, p.Birth} }

// Hit says that the socket's queue was taken as it is: it is the one chosen,
// and neither was there a reason to choose anew that shows, nor a trace of it.
func (p *Pick) Hit() bool {
	return p.Before != event.NoQueue && uint32(p.Before) == p.Index && uint32(p.Before) < p.QueuesEnd &&
		p.OOO == 0 && p.StampBegin == p.StampEnd
}

// Plain says that the choice is among all queues, for the device itself: what
// classes of traffic or a subordinate device have is not recorded.
func (p *Pick) Plain() bool { return p.Classes == 0 && p.Sub == 0 }

// XPS says that the device has maps of XPS, ByCPU that one by CPU is among
// them, and Remapped that one was replaced meanwhile.
func (p *Pick) XPS() bool      { return p.Maps&(event.MapsCPUs|event.MapsRxQueue) != 0 }
func (p *Pick) ByCPU() bool    { return p.Maps&event.MapsCPUs != 0 }
func (p *Pick) Remapped() bool { return p.Maps&event.MapsChanged != 0 }

// KeptNS is how long at least the socket has had its queue, in ns.
func (p *Pick) KeptNS() uint64 { return p.Time - min(p.Since, p.Time) }

// Moved says that the socket's queue became another one.
func (p *Pick) Moved() bool {
	return p.Before != event.NoQueue && p.After != event.NoQueue && p.Before != p.After
}

// InFlight is how much of the socket other than this skb was on its way, in
// bytes of truesize. Less than a skb of one byte, which TCP takes for nothing,
// is 0: those are pure ACKs.
func (p *Pick) InFlight() uint32 {
	if p.Wmem <= p.Truesize+1 || p.Wmem-p.Truesize-1 < p.Kernel.SkbTruesize {
		return 0
	}
	return p.Wmem - p.Truesize - 1
}

// Afresh is the queue that XPS and the hash give, whatever the socket keeps.
func (p *Pick) Afresh() int {
	free := *p
	free.Before, free.OOO = event.NoQueue, 0
	queue, _, _ := free.Model(model.PickCacheForever, p.JiffiesEnd)
	return queue
}

// Model chooses as the kernel should have, at a time in jiffies: the queue,
// which is right where the choice is Plain or a hit, why, and what the socket
// keeps then. A map of XPS is the entry that was looked at.
func (p *Pick) Model(cache model.Variant, jiffies uint64) (queue int, why model.PickReason, keeps int) {
	entry := func(queue uint16) model.XPSMap {
		if queue == event.NoQueue {
			return nil
		}
		return model.XPSMap{{int(queue)}}
	}
	dev := model.TxDevice{Queues: int(p.QueuesEnd), RxMap: entry(p.XpsRx), CPUMap: entry(p.XpsCPU)}
	if p.Select != 0 {
		dev.Select = func() int { return int(p.Index) } // whatever it was
	}
	skb := model.PickSkb{Hash: p.Hash, RxQueue: int(p.RxMapping) - 1, OOOOkay: p.OOO != 0}
	at := model.PickTime{Now: jiffies, HZ: uint64(p.Kernel.HZ), Reselect: uint64(p.Reselect)}
	if !p.HasSocket() {
		queue, why = model.Pick(cache, dev, skb, nil, at)
		return queue, why, model.NoQueue
	}
	sk := model.PickSocket{Queue: QueueOf(p.Before), Stamp: p.StampBegin, Full: p.Full != 0, Route: p.Route != 0}
	queue, why = model.Pick(cache, dev, skb, &sk, at)
	return queue, why, sk.Queue
}

// QueueOf is a queue as the model has it, -1 for none.
func QueueOf(n uint16) int {
	if n == event.NoQueue {
		return model.NoQueue
	}
	return int(n)
}

// Keeps is what the socket kept in the end, as the model has it.
func (p *Pick) Keeps() int { return QueueOf(p.After) }

// Why is the reason that this kernel should have had.
func (p *Pick) Why() model.PickReason {
	cache := model.PickCacheForever
	if p.Stamped != 0 {
		cache = model.PickCacheExpires
	}
	_, why, _ := p.Model(cache, p.JiffiesEnd)
	return why
}
