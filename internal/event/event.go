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
	KindSchedule
	KindDelivery
	KindEnqueue
	KindFree
	KindTransmit
	KindSteer
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

// FlagUnlocked, on a hand-over or a packet, which are never torn: the CPU did not
// hold the queue's transmit lock (netdev_queue.xmit_lock_owner), as for a driver
// that does without it (NETIF_F_LLTX; dev->lltx from 6.12, 00d066a4d4ed, where no
// offload tells any more).
const FlagUnlocked = FlagTorn

// Queue state bits, as enum netdev_queue_state_t spells them.
const (
	DrvXoff    = 1 << 0
	StackXoff  = 1 << 1
	Frozen     = 1 << 2
	AnyXoff    = DrvXoff | StackXoff
	XoffFrozen = AnyXoff | Frozen
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
