// SPDX-License-Identifier: Apache-2.0

// Package event defines what txtrace records: one fixed-size record per
// decision of the kernel's transmit path. It is the only contract between the
// BPF programs (bpf/event.h), the capture file and the analysis.
//
// A record is a plain struct without padding whose fields all have a fixed
// width. The struct is the field table: Tables derives names, offsets, widths
// and units from it, a capture carries those tables, and a test of
// internal/probes holds them against the BTF of the BPF object. Adding a
// record is one struct here, one in bpf/event.h and one row in kinds.
//
// Decision: records are little-endian in memory and in the file, so that the
// bytes BPF submits are the bytes in the file. Decode refuses to run on a
// big-endian machine instead of guessing.
//
// Decision: a span (run, direct, handover) is one record written at its end;
// it stores that time and its duration. Its identity on its CPU is the low
// half of its begin time, which is what Parent of its children holds: frames
// nest, so two open frames of a CPU never share it.
//
// Decision: a recording of a kernel makes no notice of the bounds of BQL. Each
// Complete carries limit_min, limit_max and slack_hold_time, so rules see a
// change at the first completion that it can act on; looking at sysfs would
// tell a second later, and cost a file for each queue and bound.
//
// Decision: state bits are stored in one byte each: the queue's __QUEUE_STATE
// bits and the qdisc's __QDISC_STATE bits all lie below 8.
package event

// Kind tells records apart. It is the first byte of every record.
type Kind uint8

// The record kinds; values are part of the file format and are never reused.
const (
	KindInvalid Kind = iota
	KindRun
	KindDequeue
	KindDirect
	KindHandover
	KindComplete
	KindThrottle
	KindWfree
	KindResume
	KindNotice
	KindLedger
	KindQuiet
	KindPick
	KindPicks
	KindGRO
	KindSample
	KindSojourn
	KindPacket
)

// Contexts a record was written in (Header.Context).
const (
	ContextTask = iota
	ContextSoftirq
	ContextHardirq
	ContextKsoftirqd
)

// Bits of Header.Flags.
const (
	FlagPartial = 1 << iota // the span was under way when recording began, or its begin was missed
	FlagWalkCut             // the list was longer than the walk's bound: sums cover its first part
	FlagNested              // another device's hand-over ran inside this one (stacked devices)
	FlagDurLong             // Dur is saturated: the span lasted 2^32-1 ns or more
	FlagTorn                // the two copies of a dql snapshot disagree
	FlagMixed               // the skbs of a dequeued list carry more than one queue_mapping
	FlagReset               // num_queued fell inside the span: dql_reset ran
	FlagPerCPU              // qlen is per CPU (TCQ_F_NOLOCK): the qlen fields are not available
)

// Queue state bits, as enum netdev_queue_state_t spells them.
const (
	DrvXoff    = 1 << 0
	StackXoff  = 1 << 1
	Frozen     = 1 << 2
	AnyXoff    = DrvXoff | StackXoff
	XoffFrozen = AnyXoff | Frozen
)

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

// TSQ flag bits, the low byte of sk_tsq_flags.
const (
	TSQThrottled = 1 << 0
	TSQQueued    = 1 << 1
	TSQDeferred  = 1 << 2
)

// NoQueue is Header.Txq of a record that belongs to no single queue.
const NoQueue = 0xffff

// UserCPU is Header.CPU of records written by the recorder itself; they have a
// sequence of their own.
const UserCPU = 0xffff

// Header begins every record.
type Header struct {
	Kind    Kind
	Context uint8 // Context*
	Depth   uint8 // open frames of the task when the record was written
	Flags   uint8 // Flag*
	CPU     uint16
	Txq     uint16 // queue index, NoQueue when there is no single queue
	Seq     uint32 // per CPU, taken before the ring is asked for room: a lost record leaves a gap
	Dur     uint32 `unit:"ns"` // spans: end minus begin; else 0
	Time    uint64 `unit:"ns"` // CLOCK_MONOTONIC when written, a span's end
	Ifindex uint32
	Netns   uint32 // inode number of the device's (or socket's) network namespace
	Parent  uint32 // ID of the enclosing frame on this CPU, 0 when there is none
	Pid     uint32 // current thread
}

// ID of a span: the low half of its begin time, never 0.
func (h *Header) ID() uint32 {
	id := uint32(h.Begin())
	if id == 0 {
		return 1
	}
	return id
}

// Begin is the time in ns at which a span began; for other records Time.
func (h *Header) Begin() uint64 { return h.Time - uint64(h.Dur) }

// Head lets generic code reach the header of any record.
func (h *Header) Head() *Header { return h }

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

// MoreUnknown is Hand.More when the kernel's flag could not be read.
const MoreUnknown = 0xff

// Hand is what one dev_hard_start_xmit did. The list is after validation: a
// GSO skb whose device segments it counts as one packet. An attempt is one
// call of the driver (one net_dev_xmit).
type Hand struct {
	First          uint64 `unit:"addr"`
	RestFirst      uint64 `unit:"addr"` // head of the remainder, 0 when all was taken
	Packets        uint32 `unit:"packets"`
	Bytes          uint32 `unit:"bytes"`
	Rest           uint32 `unit:"packets"` // length of the remainder
	RC             int32  // what dev_hard_start_xmit reports (*ret)
	DriverRC       int32  // what the driver's last attempt returned
	Attempts       uint32
	Uncharged      uint32 // attempts that were taken and did not move num_queued
	Busy           uint32 // attempts that returned NETDEV_TX_BUSY
	BusyCharged    uint32 `unit:"bytes"` // moved into num_queued by those
	Charged        uint32 `unit:"bytes"` // moved into num_queued by the attempts that were taken
	OwedAny        uint32 // doorbells owed: not more, or DRV or STACK set after the attempt
	OwedDrv        uint32 // doorbells owed: not more, or DRV set after the attempt
	NumQueuedBegin uint32 `unit:"bytes"`
	NumComplBegin  uint32 `unit:"bytes"`
	AdjLimitBegin  uint32 `unit:"bytes"`
	NumQueuedEnd   uint32 `unit:"bytes"`
	NumComplEnd    uint32 `unit:"bytes"`
	AdjLimitEnd    uint32 `unit:"bytes"`
	Foreign        uint32 `unit:"bytes"` // charged to the queue since the hand-over before by others; ForeignUnknown
	TxqStateBegin  uint8
	TxqStateLast   uint8 // after the last attempt; at the end where the list was one packet
	TxqStateEnd    uint8
	More           uint8 // the kernel's own xmit_more at the end, MoreUnknown
}

// ForeignUnknown is Hand.Foreign of the first hand-over on a queue.
const ForeignUnknown = 1<<32 - 1

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

// Handover is a dev_hard_start_xmit outside of any sch_direct_xmit of its
// queue: a device without a qdisc, or a direct send. The one inside a Direct
// is part of that record.
type Handover struct {
	Header
	Hand
}

// Where a completion was noticed (Complete.Source).
const (
	SourceSnapshot = iota // another record's program found num_completed moved
	SourceNAPI            // tracepoint napi_poll
	SourceHardirq         // end of a hard interrupt
	SourceXmit            // inside ndo_start_xmit
)

// Complete is a snapshot of a queue's whole struct dql, taken when
// num_completed moved since the last one. FlagTorn marks one whose two copies
// of the completion half disagree.
type Complete struct {
	Header
	SlackStartTime uint64 `unit:"jiffies"`
	Jiffies        uint64 `unit:"jiffies"` // when the snapshot was taken
	NumQueued      uint32 `unit:"bytes"`
	AdjLimit       uint32 `unit:"bytes"`
	LastObjCnt     uint32 `unit:"bytes"`
	Limit          uint32 `unit:"bytes"`
	NumCompleted   uint32 `unit:"bytes"`
	PrevOvlimit    uint32 `unit:"bytes"`
	PrevNumQueued  uint32 `unit:"bytes"`
	PrevLastObjCnt uint32 `unit:"bytes"`
	LowestSlack    uint32 `unit:"bytes"`
	MaxLimit       uint32 `unit:"bytes"`
	MinLimit       uint32 `unit:"bytes"`
	SlackHoldTime  uint32 `unit:"jiffies"`
	TxqState       uint8
	Source         uint8 // Source*
	Pad            [6]uint8
}

// How many skbs wait in the retransmit queue (Throttle.Rtx*).
const (
	RtxEmpty = iota
	RtxOne
	RtxMore
)

// Throttle is a tcp_write_xmit in which TSQ_THROTTLED was newly set: absent at
// the begin, and it or TSQ_QUEUED present at the end. The skb that was held
// back is still the head of the write queue.
type Throttle struct {
	Header
	Sock         uint64 `unit:"addr"`
	Birth        uint64 `unit:"ns"`          // when the recorder first saw this socket: address and birth are its identity
	PacingRate   uint64 `unit:"bytes_per_s"` // sk_pacing_rate
	WmemBegin    uint32 `unit:"bytes"`       // sk_wmem_alloc, which starts at 1
	WmemEnd      uint32 `unit:"bytes"`
	Freed        uint32 `unit:"bytes"` // truesize handed to tcp_wfree for this socket during the call
	Truesize     uint32 `unit:"bytes"` // of the head of the write queue at the end
	LimitSysctl  uint32 `unit:"bytes"` // net.ipv4.tcp_limit_output_bytes of the socket's namespace
	TxDelay      uint32 `unit:"us"`    // tcp_tx_delay
	PacingStatus uint8  // SK_PACING_*
	PacingShift  uint8
	Rtx          uint8 // Rtx* at the end
	TSQBegin     uint8 // TSQ*
	TSQEnd       uint8
	Overlap      uint8 // 1: a tcp_wfree of this socket was under way at the begin
	QueueEmpty   uint8 // 1: nothing left in the write queue at the end
	Factor       uint8 // log2 factor of the limit (0 in tcp_write_xmit)
}

// Wfree is a tcp_wfree that met TSQ_THROTTLED without TSQ_QUEUED and either
// changed the flags or had no excuse not to.
type Wfree struct {
	Header
	Sock      uint64 `unit:"addr"`
	Birth     uint64 `unit:"ns"`
	WmemBegin uint32 `unit:"bytes"` // before the subtraction
	WmemEnd   uint32 `unit:"bytes"` // at the end; 0 when it may not be read
	Truesize  uint32 `unit:"bytes"`
	TSQBegin  uint8
	TSQEnd    uint8
	Ksoftirqd uint8 // 1: current is this CPU's ksoftirqd
	Overlap   uint8 // 1: another tcp_wfree or tcp_write_xmit of the socket overlapped
}

// Who resumed a throttled socket (Resume.Source).
const (
	ResumeHandler = iota // TSQ tasklet or work
	ResumeRelease        // tcp_release_cb with TSQ_DEFERRED
)

// Resume is the TSQ handler, or tcp_release_cb doing its work, on one socket.
type Resume struct {
	Header
	Sock   uint64 `unit:"addr"`
	Birth  uint64 `unit:"ns"`
	Wmem   uint32 `unit:"bytes"`
	TSQ    uint8
	Source uint8 // Resume*
	Pad    [2]uint8
}

// Bits of Pick.Maps.
const (
	MapsCPUs    = 1 << iota // XPS by CPU is set up on the device
	MapsRxQueue             // XPS by receive queue is
	MapsChanged             // one of them was replaced meanwhile
)

// Pick is one choice of a transmit queue (netdev_core_pick_tx) that is worth a
// record: a socket was met or has kept its queue long, what it keeps changed,
// or the choice is not the plain one. Others are counted, see Picks. Txq is
// the queue chosen. Queue numbers are NoQueue where there is none.
type Pick struct {
	Header
	Sock         uint64 `unit:"addr"`
	Birth        uint64 `unit:"ns"` // when the recorder met the socket, which is not when it did for Throttle
	Since        uint64 `unit:"ns"` // no earlier was its queue last chosen: the recorder saw no choice since then
	JiffiesBegin uint64 `unit:"jiffies"`
	JiffiesEnd   uint64 `unit:"jiffies"`
	StampBegin   uint64 `unit:"jiffies"` // sk_tx_queue_mapping_jiffies before, when Stamped
	StampEnd     uint64 `unit:"jiffies"` // and after
	Index        uint32 // of the queue, from its pointer
	Len          uint32 `unit:"bytes"` // of the skb
	Wmem         uint32 `unit:"bytes"` // sk_wmem_alloc, this skb and one byte included
	Truesize     uint32 `unit:"bytes"` // of the skb
	Hash         uint32 // skb->hash after, which is what was used
	SenderCPU    uint32 // skb->sender_cpu after: the CPU and one
	Reselect     uint32 `unit:"jiffies"` // net.core.txq_reselection_ms of the socket's namespace, when Stamped
	QueuesBegin  uint32 // real_num_tx_queues before
	QueuesEnd    uint32 // and after
	Before       uint16 // sk_tx_queue_mapping before
	After        uint16 // and after
	Mapping      uint16 // skb->queue_mapping after
	RxMapping    uint16 // skb->queue_mapping before: the receive queue and one, 0 when none is recorded
	SkRx         uint16 // sk_rx_queue_mapping
	XpsRx        uint16 // queue that XPS by receive queue names, whether it is there or not
	XpsCPU       uint16 // queue that XPS by CPU names
	Last         uint16 // queue of the socket's pick before, NoQueue when that was on another device
	OOO          uint8  // skb->ooo_okay
	Full         uint8  // a full socket: no request, no TIME_WAIT; else there is no Sock
	Route        uint8  // sk_dst_cache is set
	Rerouted     uint8  // sk_dst_cache changed meanwhile
	Select       uint8  // the driver has ndo_select_queue
	Overlap      uint8  // another pick of the socket overlapped
	Maps         uint8  // Maps*
	Classes      uint8  // traffic classes, or XPS of another shape, have a part in it
	Sub          uint8  // chosen for a subordinate device
	Stamped      uint8  // sockets of this kernel hold the time of their queue (6.19 and later)
	Exact        uint8  // the queue's pointer is that of an element of the device's array
	State        uint8  // skc_state, 0 without a socket
}

// Picks counts the picks of one queue, on all CPUs, that had no record: the
// queue is one that the device has, the skb was given its number, and nothing
// changed in the socket. Dur is the time in which they were.
type Picks struct {
	Header
	PickCounts
}

// PickCounts are the counts of Picks.
type PickCounts struct {
	Bytes  uint64 `unit:"bytes"` // sum of skb->len
	Only   uint32 // the device has one queue
	Kept   uint32 // the socket's queue
	Driver uint32 // ndo_select_queue
	Again  uint32 // chosen anew, since nothing was on its way (ooo_okay), and the same
	Unkept uint32 // chosen for a skb whose socket, if any, keeps no queue
	Hashed uint32 // of the two above: by the hash, without XPS, and what the hash says
	Mapped uint32 // of them: on a device with XPS by CPU, and what XPS and the hash say
	Hinted uint32 // of Hashed: by the queue that the skb says it was received on
}

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

// Bits of Sample.Held.
const (
	HeldLock   = 1 << 0 // the qdisc's lock
	HeldRun    = 1 << 1 // __qdisc_run, or a bypass send
	HeldByWhom = 1 << 7 // not known: PREEMPT_RT
)

// Bits of Sample.Device, as enum netdev_state_t spells them.
const (
	DeviceStart     = 1 << 0
	DevicePresent   = 1 << 1
	DeviceNoCarrier = 1 << 2
)

// DequeuedUnknown is Sample.Dequeued where it cannot be read, before 5.16.
const DequeuedUnknown = 1<<64 - 1

// Sample is a look at a queue and its qdisc that nothing but time asked for.
// FlagTorn says that something moved meanwhile. Counts of a qdisc that keeps
// them per CPU are the sums.
type Sample struct {
	Header
	Qdisc      uint64 `unit:"addr"`
	First      uint64 `unit:"addr"` // the skb that would go next, 0 where that cannot be told
	Jiffies    uint64 `unit:"jiffies"`
	TransStart uint64 `unit:"jiffies"` // when the driver last took something
	Dequeued   uint64 `unit:"packets"` // bstats: dequeued, or gone past the empty qdisc
	QdiscFlags uint32
	Handle     uint32
	Qlen       uint32 `unit:"packets"`
	Backlog    uint32 `unit:"bytes"`
	GsoQlen    uint32 `unit:"packets"` // in q->gso_skb
	BadQlen    uint32 `unit:"packets"` // in q->skb_bad_txq
	Requeues   uint32
	NumQueued  uint32 `unit:"bytes"`
	NumCompl   uint32 `unit:"bytes"`
	AdjLimit   uint32 `unit:"bytes"`
	Watchdog   uint32 `unit:"jiffies"` // dev->watchdog_timeo
	TxqState   uint8
	QdiscState uint8
	Held       uint8 // Held*: somebody had the qdisc then
	Device     uint8 // Device*
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

// Packet is one call of a driver, from net_dev_start_xmit to net_dev_xmit. It is
// part of the hand-over that Parent names; a bypass send that is only counted
// has no record.
type Packet struct {
	Header
	Skb            uint64 `unit:"addr"`
	JiffiesBegin   uint64 `unit:"jiffies"`
	JiffiesEnd     uint64 `unit:"jiffies"`
	TransStart     uint64 `unit:"jiffies"` // of the queue, after the call
	Len            uint32 `unit:"bytes"`
	Segs           uint32 `unit:"packets"` // max(gso_segs, 1)
	RC             int32
	NumQueuedBegin uint32 `unit:"bytes"`
	NumQueuedEnd   uint32 `unit:"bytes"`
	TxqStateBegin  uint8
	TxqStateEnd    uint8
	More           uint8 // the xmit_more that the driver was told, MoreUnknown
	Pad            uint8
}

// What a notice tells (Notice.Subtype).
const (
	NoticeInvalid    = iota
	NoticeArmed      // every program is attached: the window opens
	NoticeDisarmed   // the window is closed; programs detach after it
	NoticeWatchdog   // net_dev_xmit_timeout; After is the queue
	NoticeDevAdded   // Name is the device, After its MTU; a new generation of (netns, ifindex)
	NoticeDevRemoved // Name is the device; also when its namespace ended
	NoticeDevChanged // Name is the device, Before and After its MTU; its name, state or MTU changed
	NoticeQdisc      // Name is the qdisc kind, empty when it is gone; After is its handle, Before its parent
	NoticeSysctl     // Name is the sysctl; Before and After its values
	NoticeQueueLimit // Name is limit_min or limit_max; Before and After its values; of a simulator only
	NoticeDisk       // the output could not take more; Name says why
)

// Notice is a change of the world that rules must know of.
type Notice struct {
	Header
	Before  uint64
	After   uint64
	Name    [32]byte
	Subtype uint8
	Pad     [7]uint8
}

// Ledger is the running total of one program on one CPU:
// Seen = Submitted + Filtered + Lost holds.
type Ledger struct {
	Header
	Seen      uint64
	Submitted uint64
	Filtered  uint64
	Lost      uint64
	Missed    uint64 // recursion misses of the program, all CPUs, in the CPU 0 row only
	Program   uint32 // index into the capture header's programs
	OfCPU     uint32 // the CPU that the row is of; Header.CPU is the recorder's
}
