// SPDX-License-Identifier: Apache-2.0

package analysis

import "strconv"

// Metric is one number of a report. Text, compare and export all print this
// list; the structs it comes from are for laying out a page.
type Metric struct {
	Name  string  `json:"name"` // dotted, as in batches.size.65
	Unit  string  `json:"unit,omitempty"`
	Value float64 `json:"value"`
}

// Count is one line of a histogram: Count observations of size N.
type Count struct {
	N     uint32 `json:"n"`
	Count U64    `json:"count"`
}

// Dist sums up a distribution.
type Dist struct {
	Count U64     `json:"count"`
	Sum   U64     `json:"sum"`
	Min   U64     `json:"min"`
	Max   U64     `json:"max"`
	Mean  float64 `json:"mean"`
}

// QueueReport is what happened on one queue. Txq is event.NoQueue for the runs
// of a qdisc that serves several queues.
type QueueReport struct {
	Netns      uint32 `json:"netns"`
	Ifindex    uint32 `json:"ifindex"`
	Generation uint32 `json:"generation,omitempty"`
	Ifname     string `json:"ifname"`
	Txq        uint16 `json:"txq"`
	Qdisc      string `json:"qdisc,omitempty"` // the kind that was run last
	Handle     uint32 `json:"handle,omitempty"`

	Qdiscs    []QdiscReport  `json:"qdiscs"` // all that were there, in order
	Batches   BatchReport    `json:"batches"`
	Runs      RunReport      `json:"runs"`
	Handovers HandoverReport `json:"handovers"`
	Requeues  RequeueReport  `json:"requeues"`
	Bypass    BypassReport   `json:"bypass"`
	BQL       BQLReport      `json:"bql"`
	Latency   LatencyReport  `json:"latency"`
}

// QdiscReport is what went through one qdisc of a queue, as the kernel counts
// it (bstats and qstats): an skb as many packets as its segments.
type QdiscReport struct {
	Kind     string `json:"kind"` // empty when nothing names it
	Handle   uint32 `json:"handle,omitempty"`
	Batches  U64    `json:"batches"` // not requeued ones
	Packets  U64    `json:"packets"`
	Bytes    U64    `json:"bytes"`
	Requeues U64    `json:"requeues"`
}

// BatchReport counts dequeues.
type BatchReport struct {
	Count   U64            `json:"count"`
	Packets U64            `json:"packets"`
	Bytes   U64            `json:"bytes"`
	Size    []Count        `json:"size"`   // packets per batch, every size that occurred
	Stop    map[string]U64 `json:"stop"`   // why they ended: qdisc bytes budget slow gso_skb nobql
	Origin  map[string]U64 `json:"origin"` // fresh gso_skb bad_txq unknown
	// AvailUsed is the share of dql_avail at the begin of its bracket that a
	// batch took, in percent, in steps of 10; N is the lower end, 100 is full
	// or over.
	AvailUsed []Count `json:"avail_used_percent,omitempty"`
	Avail     Dist    `json:"avail_bytes"` // dql_avail when a batch began
	// First-time batches only, as the kernel's bstats count them.
	GsoSegs     U64 `json:"gso_segs"`
	PktLenBytes U64 `json:"pkt_len_bytes"`
}

// RunReport counts runs of the qdisc.
type RunReport struct {
	Count      U64            `json:"count"`
	Partial    U64            `json:"partial"`
	Packets    []Count        `json:"packets"`  // per run
	Restarts   []Count        `json:"restarts"` // per run
	QuotaEnded U64            `json:"quota_ended"`
	QuotaMin   uint32         `json:"quota_min_packets,omitempty"` // least and most that was in force
	QuotaMax   uint32         `json:"quota_max_packets,omitempty"`
	Who        map[string]U64 `json:"who"` // enqueue bypass net_tx_action unknown
	DurationNS Times          `json:"duration_ns"`
}

// HandoverReport counts calls of dev_hard_start_xmit.
type HandoverReport struct {
	Count     U64     `json:"count"`
	Packets   U64     `json:"packets"` // offered, after segmentation
	Bytes     U64     `json:"bytes"`
	Size      []Count `json:"size"` // packets per hand-over
	Rest      U64     `json:"rest"` // packets not taken
	Taken     U64     `json:"taken"`
	Busy      U64     `json:"busy"`      // attempts that returned NETDEV_TX_BUSY
	Uncharged U64     `json:"uncharged"` // taken without a charge to BQL
	OwedAny   U64     `json:"doorbells_owed_any_stop"`
	OwedDrv   U64     `json:"doorbells_owed_drv_stop"`
	Deferred  uint32  `json:"deferred_max"`                 // packets given at any time whose doorbell was not owed yet, the most (xmit_more_inflight of 000)
	LeftOwing U64     `json:"deferred_left"`                // hand-overs that ended with such packets
	Calls     U64     `json:"calls,omitempty"`              // of the driver that have a record each
	Elsewhere U64     `json:"enqueued_elsewhere,omitempty"` // packets that another CPU than their sender's enqueued, of those calls
}

// RequeueReport counts requeues and why they happened.
type RequeueReport struct {
	Events  U64            `json:"events"`  // sch_direct_xmit calls that put something back
	Packets U64            `json:"packets"` // qstats.requeues
	Cause   map[string]U64 `json:"cause"`   // events by cause: busy drv stack stopped other
}

// Causes of a requeue.
const (
	CauseBusy    = "busy"    // the driver returned NETDEV_TX_BUSY
	CauseDrv     = "drv"     // DRV set in the middle of the list
	CauseStack   = "stack"   // STACK set in the middle of the list (old kernels)
	CauseStopped = "stopped" // stopped or frozen before the hand-over
	CauseOther   = "other"   // xfrm, or not seen
)

// BypassReport counts packets that never sat in the qdisc.
type BypassReport struct {
	Count       U64 `json:"count"`
	Packets     U64 `json:"packets"`
	Bytes       U64 `json:"bytes"`
	GsoSegs     U64 `json:"gso_segs"`
	PktLenBytes U64 `json:"pkt_len_bytes"`
}

// BQLReport is the life of a queue's byte queue limit.
type BQLReport struct {
	Used         bool    `json:"used"` // the driver charges bytes
	Completions  U64     `json:"completions"`
	LimitFirst   uint32  `json:"limit_first_bytes"`
	LimitLast    uint32  `json:"limit_last_bytes"`
	LimitMin     uint32  `json:"limit_min_bytes"` // least and most that was seen
	LimitMax     uint32  `json:"limit_max_bytes"`
	Series       []Point `json:"series,omitempty"` // limit and in-flight over time
	MeanLen      float64 `json:"mean_len_bytes"`   // of the packets handed over
	LimitPackets float64 `json:"limit_packets"`    // last limit divided by the mean length
	Quota        uint32  `json:"quota_packets"`    // dev_tx_weight, of the last run
	ForeignBytes U64     `json:"foreign_bytes"`    // charged by others
	Foreign      U64     `json:"foreign"`          // how often
	// B13's coverage: bytes by which num_completed advanced, and those of
	// steps that the model decided.
	AdvancedBytes U64 `json:"advanced_bytes"`
	DecidedBytes  U64 `json:"decided_bytes"`
}

// Point is one bucket of a series over time.
type Point struct {
	BeginNS      U64    `json:"begin_ns"` // CLOCK_MONOTONIC
	EndNS        U64    `json:"end_ns"`
	LimitMin     uint32 `json:"limit_min_bytes"`
	LimitMax     uint32 `json:"limit_max_bytes"`
	LimitLast    uint32 `json:"limit_last_bytes"`
	InflightMin  uint32 `json:"inflight_min_bytes"`
	InflightMax  uint32 `json:"inflight_max_bytes"`
	InflightLast uint32 `json:"inflight_last_bytes"`
}

// LatencyReport is where packets of a queue wait. Once the driver has them,
// only hand-overs with a record and a charge to BQL are followed.
type LatencyReport struct {
	// SojournNS is from when a packet was in the qdisc to when it was dequeued,
	// of those that were stamped.
	SojournNS Times       `json:"sojourn_ns"`
	Stamps    StampReport `json:"stamps"`
	// DriverNS is how long the driver had each packet, with --detail packet.
	DriverNS Times `json:"driver_ns"`
	// RingNS is from the end of a hand-over, or of the sch_direct_xmit around
	// it, to the completion that covers its last byte: 0 when that came first.
	RingNS Times `json:"ring_ns"`
	// OldestNS is for each completion how long the oldest bytes in flight had
	// been with the driver just before it.
	OldestNS Times `json:"oldest_ns"`
	Late     U64   `json:"late"` // hand-overs whose completion was noticed some time after it
	Lost     U64   `json:"lost"` // whose completion is not known: records are missing, or a reset
	Left     U64   `json:"left"` // not completed when recording ended
}

// StampReport is what became of the stamps of packets that entered a qdisc. A
// CPU tells of its stamps when it dequeues one that has one, whatever the queue.
type StampReport struct {
	OneIn    uint32 `json:"one_in"` // 0: none were given
	Given    U64    `json:"given"`
	Replaced U64    `json:"replaced"` // by one of another packet
	Gone     U64    `json:"gone"`     // of packets that were not seen to leave: dropped
}

// TSQReport is what TCP small queues did in one network namespace.
type TSQReport struct {
	Netns      uint32 `json:"netns"`
	Throttles  U64    `json:"throttles"`
	Sockets    U64    `json:"sockets"` // that were ever throttled, up to a bound
	Resumed    U64    `json:"resumed"` // by the TSQ handler or tcp_release_cb
	DurationNS Times  `json:"duration_ns"`
	// ThrottledNS is how long TSQ_THROTTLED was set, of all sockets; FollowedNS
	// is from when each was met to when it was last throttled or let go.
	ThrottledNS U64 `json:"throttled_ns"`
	FollowedNS  U64 `json:"followed_ns"`
	// CompletionNS is LatencyReport.RingNS of all queues of the namespace.
	CompletionNS Times          `json:"completion_ns"`
	LimitBytes   Dist           `json:"limit_bytes"` // in force at a throttle
	LimitBy      map[string]U64 `json:"limit_by"`    // what decided it: truesize rate sysctl
	Deferred     U64            `json:"deferred"`    // frees that ksoftirqd left alone although below the threshold
}

// DeviceRef names a device in a report.
type DeviceRef struct {
	Netns      uint32 `json:"netns"`
	Ifindex    uint32 `json:"ifindex"`
	Generation uint32 `json:"generation,omitempty"`
	Ifname     string `json:"ifname"`
}

// PickReport is how queues of one device were chosen (netdev_core_pick_tx).
type PickReport struct {
	DeviceRef

	Picks         U64            `json:"picks"`
	Bytes         U64            `json:"bytes"` // of the skbs, headers counted once for each
	Why           map[string]U64 `json:"why"`   // hit, or for a choice: only driver new expired shrunk ooo
	By            map[string]U64 `json:"by"`    // what chose: hash, hint (the receive queue that the skb names), xps (and the hash after it)
	Moves         U64            `json:"moves"` // a socket's queue became another one
	MovesInFlight U64            `json:"moves_in_flight"`
	InFlight      Dist           `json:"in_flight_bytes"` // at those moves, in other skbs of the socket
	Flows         Spread         `json:"flows"`           // sockets that keep a queue, by the one they kept last
	QueueBytes    Spread         `json:"queue_bytes"`
	Queues        []PickQueue    `json:"queues"` // by number, those that were chosen
}

// PickQueue is what went to one queue.
type PickQueue struct {
	Txq   uint16 `json:"txq"`
	Picks U64    `json:"picks"`
	Bytes U64    `json:"bytes"`
	Flows U64    `json:"flows"`
}

// Spread is how evenly something lies on the queues of a device. Mean is over
// all that the device has, as far as the capture says how many.
type Spread struct {
	Sum  U64     `json:"sum"`
	Max  U64     `json:"max"`
	Mean float64 `json:"mean"`
}

// GROReport is how received packets of one device went up to the protocols.
type GROReport struct {
	DeviceRef

	Lists    U64            `json:"lists"`
	Skbs     U64            `json:"skbs"`
	Segs     U64            `json:"segs"` // that GRO made the skbs of
	Bytes    U64            `json:"bytes"`
	BatchMin uint32         `json:"batch_min"` // net.core.gro_normal_batch, least and most
	BatchMax uint32         `json:"batch_max"`
	Why      map[string]U64 `json:"why"`   // threshold complete poll busy
	Size     []Count        `json:"size"`  // skbs per list
	Count    []Count        `json:"count"` // what was held against the batch, per list
	Queues   []GROPart      `json:"queues"`
	CPUs     []GROPart      `json:"cpus"`
}

// GROPart is the share of one receive queue, or of one CPU.
type GROPart struct {
	N     uint16 `json:"n"` // event.NoQueue: none is recorded
	Lists U64    `json:"lists"`
	Skbs  U64    `json:"skbs"`
	Bytes U64    `json:"bytes"`
}

// Comparison sets one of our sums beside the kernel's own counter of the same
// time. Exact agreement is to be expected only between two quiet moments.
type Comparison struct {
	Netns   uint32  `json:"netns"`
	Ifindex uint32  `json:"ifindex"`
	Ifname  string  `json:"ifname"`
	Txq     *uint16 `json:"txq,omitempty"` // set when it is of one queue's qdisc
	Qdisc   string  `json:"qdisc,omitempty"`
	Name    string  `json:"name"` // qdisc_packets qdisc_bytes qdisc_requeues tx_packets bql_limit
	Unit    string  `json:"unit"`
	Ours    U64     `json:"ours"`
	Kernel  U64     `json:"kernel"`
	Equal   bool    `json:"equal"`
	Note    string  `json:"note,omitempty"` // why they may differ
}

// itoa is for the names of metrics.
func itoa(n uint32) string { return strconv.FormatUint(uint64(n), 10) }
