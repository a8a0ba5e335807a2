// SPDX-License-Identifier: Apache-2.0

package event

// Qdisc flags (TCQ_F_*) that the rules look at.
const (
	QdiscBuiltin          = 0x1
	QdiscCanBypass        = 0x4
	QdiscOneTxQueue       = 0x10
	QdiscCPUStats         = 0x20
	QdiscNoLock           = 0x100
	QdiscStateSched       = 1 << 0 // bit of the qdisc state bytes
	QdiscStateDeactivated = 1 << 1
	QdiscStateMissed      = 1 << 2 // bit of the qdisc state bytes, 5.13 and later
	QdiscStateDraining    = 1 << 3 // the same, 5.14 and later
)

// Who started a run (Run.Who).
const (
	WhoUnknown = iota
	WhoEnqueue
	WhoBypass
	WhoNetTxAction
)

// Run is one __qdisc_run. Queue facts are those of q->dev_queue when the qdisc
// serves one queue; Txq is NoQueue and they are 0 for a shared root.
type Run struct {
	Header
	Qdisc           uint64 `unit:"addr"`
	QdiscKind       [16]byte
	QdiscFlags      uint32
	Handle          uint32
	QlenBegin       uint32 `unit:"packets"` // q->q.qlen; not available under FlagPerCPU
	QlenEnd         uint32 `unit:"packets"`
	Packets         uint32 `unit:"packets"` // sum over the dequeues
	Dequeues        uint32 // that gave a batch
	Empty           uint32 // that gave none
	Directs         uint32 // sch_direct_xmit calls
	LastPackets     uint32 `unit:"packets"` // of the last dequeue
	GsoQlenEnd      uint32 `unit:"packets"` // q->gso_skb.qlen
	NumQueuedBegin  uint32 `unit:"bytes"`
	NumComplBegin   uint32 `unit:"bytes"`
	AdjLimitBegin   uint32 `unit:"bytes"`
	NumQueuedEnd    uint32 `unit:"bytes"`
	NumComplEnd     uint32 `unit:"bytes"`
	AdjLimitEnd     uint32 `unit:"bytes"`
	QdiscStateBegin uint8
	QdiscStateEnd   uint8
	TxqStateBegin   uint8
	TxqStateEnd     uint8
	Rescheduled     uint8 // this run called __netif_schedule for its own qdisc
	Who             uint8 // Who*

	// TxWeight is dev_tx_weight when the run began, its quota: 0 when it was
	// not read, WeightUnsure when it was being changed or does not fit.
	TxWeight uint16 `unit:"packets"`
}

// WeightUnsure is Run.TxWeight of a run whose quota has no one value.
const WeightUnsure = 1<<16 - 1

// Dequeue is one dequeue_skb that gave skbs, seen at tracepoint qdisc_dequeue.
// The list is before validation: a GSO skb counts as one packet. Txq, state
// and dql are those of the head's own queue_mapping.
type Dequeue struct {
	Header
	Qdisc      uint64 `unit:"addr"`
	First      uint64 `unit:"addr"`    // head of the list
	Last       uint64 `unit:"addr"`    // tail of the list
	Packets    uint32 `unit:"packets"` // the kernel's own count
	Walked     uint32 `unit:"packets"` // our count
	Bytes      uint32 `unit:"bytes"`   // sum of skb->len
	FirstLen   uint32 `unit:"bytes"`
	LastLen    uint32 `unit:"bytes"`
	GsoSegs    uint32 `unit:"packets"` // sum of max(gso_segs, 1): what bstats counts
	PktLen     uint32 `unit:"bytes"`   // sum of qdisc_pkt_len: what bstats counts
	NumQueued  uint32 `unit:"bytes"`
	NumCompl   uint32 `unit:"bytes"`
	AdjLimit   uint32 `unit:"bytes"`
	Qlen       uint32 `unit:"packets"` // left in the qdisc; not available under FlagPerCPU
	GsoQlen    uint32 `unit:"packets"` // left in q->gso_skb
	BadQlen    uint32 `unit:"packets"` // left in q->skb_bad_txq
	QdiscFlags uint32
	Before     uint32 `unit:"packets"` // this run dequeued before this batch
	Order      uint32 // dequeues of this run before this one, empty ones included
	QdiscState uint8
	TxqState   uint8
	Pad        [6]uint8
}

// Where a direct's list came from (Direct.From).
const (
	FromBypass  = iota // never sat in the qdisc
	FromDequeue        // the list of the last dequeue of the enclosing run
	FromUnknown        // inside a run, but not what was dequeued last
)

// Direct is one sch_direct_xmit. The list is before validation.
type Direct struct {
	Header
	Qdisc         uint64 `unit:"addr"`
	First         uint64 `unit:"addr"`
	Packets       uint32 `unit:"packets"`
	Bytes         uint32 `unit:"bytes"`   // sum of skb->len
	GsoSegs       uint32 `unit:"packets"` // sum of max(gso_segs, 1)
	PktLen        uint32 `unit:"bytes"`   // sum of qdisc_pkt_len
	QdiscFlags    uint32
	Handle        uint32
	RequeuesBegin uint32 // qstats.requeues, this CPU's where stats are per CPU
	RequeuesEnd   uint32
	GsoQlenBegin  uint32 `unit:"packets"`
	GsoQlenEnd    uint32 `unit:"packets"`
	BadQlenEnd    uint32 `unit:"packets"`
	Handovers     uint32 // dev_hard_start_xmit calls on this queue inside: 0 or 1
	Validate      uint8
	Result        uint8 // what sch_direct_xmit returned: go on
	From          uint8 // From*
	TxqStateBegin uint8
	TxqStateEnd   uint8
	QdiscStateEnd uint8
	Pad           [2]uint8
	Hand          Hand // when Handovers is 1
}

// Handover is the hand-over inside the direct, as a record of its own; nil
// when there was none. Its times are the direct's, which enclose it.
func (d *Direct) Handover() *Handover {
	if d.Handovers == 0 {
		return nil
	}
	h := &Handover{Header: d.Header, Hand: d.Hand}
	h.Kind, h.Parent, h.Depth = KindHandover, d.ID(), d.Depth+1
	return h
}

// Quiet stands for bypass sends that went as they should, on one CPU and one
// queue: one packet, no GSO, taken by the driver at once and charged as its
// length (or the queue has no BQL), not one bit of the queue's state set before
// or after, more = 0, nothing requeued, nothing foreign. Any other send is a
// Direct. Dur reaches from the first to the last.
type Quiet struct {
	Header
	Packets uint32 `unit:"packets"`
	Bytes   uint32 `unit:"bytes"` // sum of skb->len, which is also that of qdisc_pkt_len
	Handle  uint32 // of the qdisc
	Pad     [4]uint8
}

// Sojourn is one packet that waited in a qdisc, of those whose enqueue was
// stamped: Dur is how long, Time when it was dequeued. What became of the
// stamps of this CPU is counted since its record before.
type Sojourn struct {
	Header
	Qdisc    uint64 `unit:"addr"`
	Len      uint32 `unit:"bytes"`
	OneIn    uint32 // enqueues to a stamp, on each CPU
	Given    uint32 // stamps
	Replaced uint32 // by another's
	Gone     uint32 // found old: their packets were dropped, or left before they were stamped
	Pad      uint32
}
