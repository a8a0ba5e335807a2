// SPDX-License-Identifier: Apache-2.0

package analysis

import (
	"github.com/txtrace/txtrace/internal/event"
	"github.com/txtrace/txtrace/internal/model"
)

// Origin says where a batch came from.
type Origin uint8

// The origins of a batch.
const (
	OriginUnknown Origin = iota // nothing tells
	OriginFresh                 // the qdisc's own dequeue
	OriginGSOSkb                // q->gso_skb, requeued earlier
	OriginBadTxq                // q->skb_bad_txq, parked for another queue
)

func (o Origin) String() string {
	return [...]string{"unknown", "fresh", "gso_skb", "bad_txq"}[o]
}

// Batch is what one dequeue_skb gave.
type Batch struct {
	event.Dequeue
	Queue  *Queue // of the head's queue_mapping
	Run    *Run   // nil when the run's record never came
	Direct *Direct
	Origin Origin
	Sure   bool // Origin follows from counts of the same run, not from what was done with it
	Avail  Avail

	// Quota is what was left of the run's quota when the batch was taken; 0
	// when the weight is not known.
	Quota uint32

	// More says that the qdisc still held a packet of its own afterwards
	// (parked ones not counted); MoreKnown is false where qlen is per CPU.
	More, MoreKnown bool

	// Stop is why the batch ended, as far as it can be told without knowing
	// the kernel's variant; see Reason of the model.
	Stop model.Reason
}

// Avail is what BQL allowed when the batch was taken: dql_avail, in bytes.
// The kernel read it at one moment between the begin of the run, or the end of
// the hand-over before, and the dequeue: [Begin, dequeue] is the bracket.
type Avail struct {
	// Known says that Min and Max are those of every state seen in the
	// bracket. It is false when some state in there is not known.
	Known bool
	// Exact says that no completion fell into the bracket, so that there was
	// no other state.
	Exact    bool
	Min, Max int32
	BQL      bool // the driver ever charged bytes to this queue
}

// NoLock says that the qdisc is lockless (TCQ_F_NOLOCK).
func (b *Batch) NoLock() bool { return b.QdiscFlags&event.QdiscNoLock != 0 }

// OneTxQueue says whether the qdisc serves exactly one queue (TCQ_F_ONETXQUEUE).
func (b *Batch) OneTxQueue() bool { return b.QdiscFlags&event.QdiscOneTxQueue != 0 }

// Partial says that the run it belongs to was not known.
func (b *Batch) Partial() bool { return b.Flags&event.FlagPartial != 0 }

// Listed is the length of the list: our own count, which differs from the
// kernel's where a requeued list counts as one packet.
func (b *Batch) Listed() uint32 {
	if b.Cut() {
		return b.Packets
	}
	return b.Walked
}

// AvailDoubt says why Avail is not known.
func (b *Batch) AvailDoubt() string {
	switch {
	case b.Partial(), b.Run != nil && b.Run.Partial():
		return Start
	case b.Run == nil, !b.Run.Whole:
		return Lost
	}
	return Race
}

// Cut says that the list was longer than it was walked: sums are of its first
// part.
func (b *Batch) Cut() bool { return b.Flags&event.FlagWalkCut != 0 }

// PerCPUQlen says that Qlen is not available: every CPU has its own count.
func (b *Batch) PerCPUQlen() bool { return perCPUQlen(&b.Header, b.QdiscFlags) }

// perCPUQlen says that a qdisc counts on each CPU. A lockless one does; one with
// a lock may, too, and then its common count lacks what was requeued.
func perCPUQlen(h *event.Header, flags uint32) bool {
	return h.Flags&event.FlagPerCPU != 0 || flags&event.QdiscCPUStats != 0
}

// Mixed says that the list's skbs carry more than one queue_mapping.
func (b *Batch) Mixed() bool { return b.Flags&event.FlagMixed != 0 }

// AvailRange is Avail for the model.
func (b *Batch) AvailRange() model.Range { return model.Range{Min: b.Avail.Min, Max: b.Avail.Max} }

// Sum is the batch as the model counts it.
func (b *Batch) Sum() model.Batch {
	return model.Batch{N: int(b.Packets), Bytes: uint64(b.Bytes), Last: b.LastLen}
}

// AsModel is the dequeue as the model sees it, under variants of bulk and
// quota.
func (b *Batch) AsModel(bulk, quota model.Variant) model.Dequeue {
	return model.Dequeue{
		Bulk: bulk, Quota: quota,
		OneTxQueue: b.OneTxQueue(), BQL: b.Avail.BQL,
		Avail: b.Avail.Max, Left: int(b.Quota),
	}
}
