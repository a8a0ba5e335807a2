// SPDX-License-Identifier: Apache-2.0

package analysis

import "github.com/txtrace/txtrace/internal/event"

// Sampled is a look at a queue that nothing but time asked for.
type Sampled struct {
	event.Sample
	Queue *Queue
}

// Torn says that something moved while it was taken.
func (s *Sampled) Torn() bool { return s.Flags&event.FlagTorn != 0 }

// Up says that the device is started and has a carrier.
func (s *Sampled) Up() bool { return deviceUp(s.Device) }

func deviceUp(state uint8) bool {
	const all = event.DeviceStart | event.DevicePresent
	return state&all == all && state&event.DeviceNoCarrier == 0
}

// Stopped says that the queue may take no packet.
func (s *Sampled) Stopped() bool { return Stopped(s.TxqState) }

// Free says that nobody held the qdisc or ran it.
func (s *Sampled) Free() bool { return s.Held == 0 }

// HeldUnknown says that this cannot be told.
func (s *Sampled) HeldUnknown() bool { return s.Held&event.HeldByWhom != 0 }

// Scheduled says that the qdisc will be run: it is scheduled, or whoever has it
// looks again (MISSED), or its queue's start will schedule it (DRAINING).
func (s *Sampled) Scheduled() bool {
	return s.QdiscState&(event.QdiscStateSched|event.QdiscStateMissed|event.QdiscStateDraining) != 0
}

// Deactivated says that the qdisc is being taken away from its queue.
func (s *Sampled) Deactivated() bool { return s.QdiscState&event.QdiscStateDeactivated != 0 }

// SameAs says that nothing was dequeued, put back or exchanged since an earlier
// look: the same packet of the same qdisc is next.
func (s *Sampled) SameAs(o *Sampled) bool {
	return s.Qdisc == o.Qdisc && s.First == o.First && s.Requeues == o.Requeues &&
		s.Dequeued == o.Dequeued && s.Dequeued != event.DequeuedUnknown
}

// Waiting counts the packets in the qdisc.
func (s *Sampled) Waiting() uint32 { return max(s.Qlen, s.GsoQlen+s.BadQlen) }

// NoLock says that the qdisc is lockless (TCQ_F_NOLOCK).
func (s *Sampled) NoLock() bool { return s.QdiscFlags&event.QdiscNoLock != 0 }

// Sojourn is the wait of one packet in a qdisc.
type Sojourn struct {
	event.Sojourn
	Queue *Queue
}
