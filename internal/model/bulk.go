// SPDX-License-Identifier: Apache-2.0

package model

import "math"

// Reason names why a batch ended, as reports print it.
type Reason string

// The reasons. A batch that both used up its bytes and reached its bound of
// packets ended by bytes: ReasonBudget means that bytes were left.
const (
	ReasonQdisc  Reason = "qdisc"   // the qdisc gave no more: empty or throttled
	ReasonBytes  Reason = "bytes"   // no bytes of BQL left
	ReasonBudget Reason = "budget"  // the variant's bound of packets
	ReasonSlow   Reason = "slow"    // shared qdisc: nine packets, or one for another queue
	ReasonGSOSkb Reason = "gso_skb" // requeued earlier, given alone
	ReasonNoBQL  Reason = "nobql"   // the driver charges no bytes, so BQL allows none
	ReasonGSO    Reason = "gso"     // under BulkGSOStop: after a GSO skb nothing follows
	ReasonDrop   Reason = "drop"    // under ValidateLocked: validation dropped the next packet
)

// slowMost is the most packets that a qdisc shared by several queues gives at
// once: a head and eight more, without a bound of bytes or quota. It is younger
// than 000 ([4d202a0d31b3, 4.8]); BulkBytes is given it for all of its time.
const slowMost = 1 + 8

// Dequeue is what one dequeue_skb of fresh packets starts from (000; today's
// kernel: dequeue_skb and try_bulk_dequeue_skb of net/sched/sch_generic.c).
type Dequeue struct {
	Bulk       Variant // SwitchBulk
	GSO        Variant // SwitchBulkGSO; empty is BulkGSOPass
	Validate   Variant // SwitchValidate; empty is ValidateUnlocked
	Quota      Variant // SwitchQuota; QuotaStop bounds the batch by Left
	OneTxQueue bool    // the qdisc has TCQ_F_ONETXQUEUE
	BQL        bool    // the driver charges bytes
	Avail      int32   // DQL.Avail at the dequeue, in bytes; 0 without BQL
	Left       int     // packets left of the run's quota, 1 or more

	// What-if: bounds that 000 proposed and no kernel has; 0 is none.
	MoreLimit int   // packets of a batch, the head included
	ByteCap   int32 // bytes in place of a larger Avail; 1 switches bulking off
}

// Batch sums up what one dequeue gave.
type Batch struct {
	N     int    // packets
	Bytes uint64 // sum of their lengths
	Last  uint32 // length of the last one
}

// Add appends a packet of length bytes.
func (b *Batch) Add(length uint32) {
	b.N++
	b.Bytes += uint64(length)
	b.Last = length
}

// bulks says whether more than a head can be taken at all. The slow path of
// shared qdiscs is younger than the caps of 000.
func (d Dequeue) bulks() bool {
	if d.OneTxQueue {
		return d.Bulk != BulkNone
	}
	return d.Bulk == BulkBytes || d.Bulk == BulkBudget
}

// most is the largest batch by count, the head included.
func (d Dequeue) most() int {
	most := d.kernelMost()
	if d.MoreLimit > 0 {
		most = min(most, d.MoreLimit)
	}
	if d.Quota == QuotaStop && d.OneTxQueue {
		most = min(most, d.Left)
	}
	return most
}

func (d Dequeue) kernelMost() int {
	switch {
	case !d.bulks():
		return 1
	case !d.OneTxQueue:
		return slowMost
	case d.Bulk == BulkOne:
		return 2
	case d.Bulk == BulkCap8:
		return 8
	case d.Bulk == BulkCap7:
		return 7
	case d.Bulk == BulkBudget:
		return 1 + d.Left
	}
	return math.MaxInt
}

// capped is avail under ByteCap.
func (d Dequeue) capped(avail int32) int32 {
	if d.ByteCap > 0 {
		return min(avail, d.ByteCap)
	}
	return avail
}

// full says whether a batch that ends here was ended by a bound, and by which.
// avail stands for d.Avail.
func (d Dequeue) full(b Batch, avail int32) (Reason, bool) {
	switch {
	case !d.bulks():
	case !d.OneTxQueue:
		return ReasonSlow, b.N >= d.most()
	case !d.BQL:
		return ReasonNoBQL, true
	case int64(b.Bytes) >= int64(d.capped(avail)):
		return ReasonBytes, true
	}
	return ReasonBudget, b.N >= d.most()
}

// Take plays the dequeue of a head and of what next gives after it, which is
// called only while the kernel would ask the qdisc. stray is a packet for
// another queue that a shared qdisc gave: it goes to skb_bad_txq.
//
// Under ValidateLocked a packet that validation drops is gone and ends the
// batch. If that is the head, the batch is empty, and the kernel takes the
// qdisc for empty: the run ends although packets wait (000, V6 1/2).
func (d Dequeue) Take(head Packet, next func() (Packet, bool)) (b Batch, why Reason, stray *Packet) {
	if d.drops(head) {
		return b, ReasonDrop, nil
	}
	b.Add(head.Len)
	for tail := head; ; {
		if why, full := d.full(b, d.Avail); full {
			return b, why, nil
		}
		if d.GSO == BulkGSOStop && d.OneTxQueue && tail.IsGSO() {
			return b, ReasonGSO, nil
		}
		p, ok := next()
		switch {
		case !ok:
			return b, ReasonQdisc, nil
		case !d.OneTxQueue && p.Queue != head.Queue:
			parked := p
			return b, ReasonSlow, &parked
		case d.drops(p):
			return b, ReasonDrop, nil
		}
		b.Add(p.Len)
		tail = p
	}
}

// drops says whether the dequeue itself loses the packet.
func (d Dequeue) drops(p Packet) bool {
	return d.Validate == ValidateLocked && p.Drop
}

// Range is an interval of bytes, both ends included: completions on other CPUs
// move what BQL allows between the tool's look and the kernel's.
type Range struct{ Min, Max int32 }

// Legal says whether a batch of two or more could come from this dequeue, for
// avail in place of d.Avail (rules D1, D2, D3, D9). If not surely, bound names
// what stands against it. One packet is always legal.
func (d Dequeue) Legal(b Batch, avail Range) (a Answer, bound Reason) {
	if b.N <= 1 {
		return Yes, ""
	}
	switch {
	case d.OneTxQueue && d.bulks() && !d.BQL:
		return No, ReasonNoBQL
	case b.N > d.most() && d.OneTxQueue:
		return No, ReasonBudget
	case b.N > d.most():
		return No, ReasonSlow
	case !d.OneTxQueue:
		return Yes, ""
	}
	before := int64(b.Bytes) - int64(b.Last) // taken when the last one was asked for
	switch {
	case before < int64(d.capped(avail.Min)):
		return Yes, ""
	case before < int64(d.capped(avail.Max)):
		return Maybe, ReasonBytes
	}
	return No, ReasonBytes
}

// Ended says which bound ended a batch, for avail in place of d.Avail. more
// says that a qdisc that holds nothing back still had a packet for the same
// queue afterwards. A reason that is not sure comes with Maybe; if no bound of
// this variant ended a batch although there was more, the answer is No, and the
// batch refutes the variant.
func (d Dequeue) Ended(b Batch, avail Range, more bool) (why Reason, a Answer) {
	why, full := d.full(b, avail.Max)
	if full {
		return why, Yes
	}
	if early, full := d.full(b, avail.Min); full {
		return early, Maybe
	}
	if !more {
		return ReasonQdisc, Yes
	}
	if !d.OneTxQueue {
		return ReasonSlow, Maybe // a packet for another queue, parked in skb_bad_txq
	}
	return ReasonQdisc, No
}
