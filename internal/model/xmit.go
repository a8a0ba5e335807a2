// SPDX-License-Identifier: Apache-2.0

package model

// QueueState is the state of a transmit queue, with the bits of the kernel's
// __QUEUE_STATE flags.
type QueueState uint8

// The bits of QueueState.
const (
	QueueDrv    QueueState = 1 << iota // the driver stopped the queue: its ring is full
	QueueStack                         // BQL stopped the queue
	QueueFrozen                        // the core stopped all queues of the device
)

// Startable says whether a hand-over may begin (rule R1); else the whole list
// is requeued.
func Startable(s QueueState) bool {
	return s&(QueueDrv|QueueStack|QueueFrozen) == 0
}

// Stops says whether a queue in state s ends a hand-over before its next
// packet (000; fe60faa50638).
func Stops(stop Variant, s QueueState) bool {
	mask := QueueDrv
	if stop == XmitStopAny {
		mask |= QueueStack
	}
	return s&mask != 0
}

// Handover is the outcome of one dev_hard_start_xmit.
type Handover struct {
	Sent int  // packets the driver took; the rest of the list is the remainder
	Busy bool // the driver refused the packet after them (NETDEV_TX_BUSY)
	More bool // what the driver was told with the last packet it was given
}

// HandOver plays dev_hard_start_xmit over a list of n packets. send stands for
// the driver: it is given the index of a packet and whether more follow, and
// returns whether it took it and the queue's state afterwards.
func HandOver(stop Variant, n int, send func(i int, more bool) (took bool, s QueueState)) Handover {
	var h Handover
	for i := range n {
		h.More = i < n-1
		took, s := send(i, h.More)
		if !took {
			h.Busy = true
			return h
		}
		h.Sent++
		if h.More && Stops(stop, s) {
			return h
		}
	}
	return h
}

// Conserved says whether a hand-over of so many packets accounts for each (rule
// X6): the driver took it, or it is in the remainder, and one that it refused,
// the last it was given, is there too.
func Conserved(packets, attempts, busy, rest int) bool {
	return busy <= min(attempts, 1) && rest >= busy && attempts-busy+rest == packets
}

// ExpectedMore is the kernel's "more" flag at the end of a hand-over that left
// remainder packets (rule X1): set if packets followed the last one that the
// driver was given. busy says that it refused that one, which then is the first
// of the remainder.
func ExpectedMore(remainder int, busy bool) bool {
	if busy {
		remainder--
	}
	return remainder > 0
}

// LegalRemainder says whether a hand-over may end with packets left (rule X5):
// the driver's own last return code was NETDEV_TX_BUSY, or the queue's state
// after the last packet stops it.
func LegalRemainder(stop Variant, busy bool, s QueueState) bool {
	return busy || Stops(stop, s)
}

// Charge accounts bytes that the driver took: netdev_tx_sent_queue under
// DoorbellAnyStop, __netdev_tx_sent_queue under DoorbellDrvStop. It returns the
// queue's state afterwards (rule B16) and whether the driver must ring.
//
// Under DoorbellAnyStop every packet may set QueueStack, after which all that
// follow in the list ring. Under DoorbellDrvStop only the packet that ends a
// burst may set it.
func (d *DQL) Charge(doorbell, object Variant, bytes uint32, more bool, s QueueState) (after QueueState, ring bool, err error) {
	if err := d.Queued(object, bytes); err != nil {
		return s, false, err
	}
	if d.Avail() < 0 && !(more && doorbell == DoorbellDrvStop) {
		s |= QueueStack
	}
	return s, Rings(doorbell, more, s), nil
}

// Complete is netdev_tx_completed_queue: bytes were sent, and the queue starts
// again, to be scheduled, if BQL had stopped it and allows bytes again.
func (d *DQL) Complete(bytes uint32, now uint64, s QueueState) (after QueueState, schedule bool, err error) {
	if bytes == 0 {
		return s, false, nil
	}
	if err := d.Completed(bytes, now); err != nil {
		return s, false, err
	}
	if d.Avail() < 0 || s&QueueStack == 0 {
		return s, false, nil
	}
	return s &^ QueueStack, true, nil
}
