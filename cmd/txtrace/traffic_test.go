// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"

	"github.com/txtrace/txtrace/internal/capture"
	"github.com/txtrace/txtrace/internal/event"
	"github.com/txtrace/txtrace/internal/model"
)

// traffic is a capture of one queue of a made-up kernel: enough for every verb
// to have something to say. It is no model of a kernel; internal/sim is.
type traffic struct {
	header  capture.Header
	records []event.Any
	now     uint64
	seq     map[uint16]uint32
	dql     model.DQL
	skb     uint64
	child   *capture.Child
	stacks  *capture.Stacks
}

const (
	trafficStart = 1_000_000_000
	packetLen    = 142
)

func newTraffic() *traffic {
	t := &traffic{
		header: capture.Header{
			Tool:   "test",
			Kernel: capture.Kernel{Release: "6.1.0-fake", Version: "#1 SMP", Machine: "x86_64", CPUs: 1, HZ: 250, SkbTruesize: 577},
			Clock:  capture.Clock{Monotonic: trafficStart, Boot: trafficStart, Real: 1_790_000_000_000_000_000},
			Programs: []capture.Program{
				{Name: "dequeue", Hook: "tp_btf:qdisc_dequeue"},
			},
			Settings: capture.Settings{DevWeight: 64, DevWeightTxBias: 1},
			Devices:  []capture.Device{{Netns: 7, Ifindex: 2, Ifname: "eth0", Driver: "e1000e", MTU: 1500, TxQueues: 1}},
			Detail:   "batch", RingBytes: 32 << 20, WalkBound: 4096,
		},
		now: trafficStart + 1000, seq: map[uint16]uint32{}, skb: 0x1000,
		dql: model.NewDQL(250, 1_000_000),
	}
	t.dql.Limit, t.dql.AdjLimit = 65536, 65536
	t.own(event.NoticeArmed)
	return t
}

func (t *traffic) put(r event.Any, kind event.Kind, cpu uint16, begin uint64) {
	t.now += 1000
	h := r.Head()
	h.Kind, h.CPU, h.Seq, h.Time = kind, cpu, t.seq[cpu], t.now
	t.seq[cpu]++
	if begin > 0 {
		h.Dur = uint32(t.now - begin)
	}
	if cpu != event.UserCPU {
		h.Ifindex, h.Netns, h.Context = 2, 7, event.ContextSoftirq
	}
	t.records = append(t.records, r)
}

func (t *traffic) own(subtype uint8) {
	n := &event.Notice{Subtype: subtype}
	n.Txq = event.NoQueue
	t.put(n, event.KindNotice, event.UserCPU, 0)
}

// run is a run of one batch of n packets, with left packets staying behind.
func (t *traffic) run(n, left uint32) {
	const qdisc = 0xabc0
	t.now += 1000
	begin := t.now
	r := &event.Run{Qdisc: qdisc, QdiscFlags: event.QdiscOneTxQueue, Handle: 0x80010000, QlenBegin: n + left, QlenEnd: left,
		Packets: n, Dequeues: 1, Directs: 1, LastPackets: n, Who: event.WhoEnqueue, Rescheduled: 1, QdiscStateEnd: event.QdiscStateSched}
	copy(r.QdiscKind[:], "fq_codel")
	r.NumQueuedBegin, r.NumComplBegin, r.AdjLimitBegin = t.dql.NumQueued, t.dql.NumCompleted, t.dql.AdjLimit
	t.skb += 0x100
	bytes := n * packetLen
	d := &event.Dequeue{Qdisc: qdisc, First: t.skb, Last: t.skb + uint64(n), Packets: n, Walked: n, Bytes: bytes,
		FirstLen: packetLen, LastLen: packetLen, GsoSegs: n, PktLen: bytes, Qlen: left, QdiscFlags: r.QdiscFlags,
		NumQueued: t.dql.NumQueued, NumCompl: t.dql.NumCompleted, AdjLimit: t.dql.AdjLimit}
	d.Parent, d.Depth = uint32(begin), 1
	t.put(d, event.KindDequeue, 0, 0)
	directBegin := t.now + 100
	h := event.Hand{First: t.skb, Packets: n, Bytes: bytes, Attempts: n, Charged: bytes, OwedAny: 1, OwedDrv: 1,
		NumQueuedBegin: t.dql.NumQueued, NumComplBegin: t.dql.NumCompleted, AdjLimitBegin: t.dql.AdjLimit}
	for range n {
		t.dql.NumQueued += packetLen
	}
	t.dql.LastObjCnt = packetLen
	h.NumQueuedEnd, h.NumComplEnd, h.AdjLimitEnd = t.dql.NumQueued, t.dql.NumCompleted, t.dql.AdjLimit
	x := &event.Direct{Qdisc: qdisc, First: t.skb, Packets: n, Bytes: bytes, GsoSegs: n, PktLen: bytes,
		QdiscFlags: r.QdiscFlags, Handle: r.Handle, Handovers: 1, Validate: 1, Result: 1, From: event.FromDequeue, Hand: h}
	x.Parent, x.Depth = uint32(begin), 1
	t.put(x, event.KindDirect, 0, directBegin)
	r.NumQueuedEnd, r.NumComplEnd, r.AdjLimitEnd = t.dql.NumQueued, t.dql.NumCompleted, t.dql.AdjLimit
	t.put(r, event.KindRun, 0, begin)
	t.complete()
}

// complete lets the driver report all as sent.
func (t *traffic) complete() {
	jiffies := 1_000_000 + (t.now-trafficStart)/4_000_000
	if err := t.dql.Completed(t.dql.InFlight(), jiffies); err != nil {
		panic(err)
	}
	d := t.dql
	t.put(&event.Complete{
		SlackStartTime: d.SlackStartTime, Jiffies: jiffies, NumQueued: d.NumQueued, AdjLimit: d.AdjLimit,
		LastObjCnt: d.LastObjCnt, Limit: d.Limit, NumCompleted: d.NumCompleted, PrevOvlimit: d.PrevOvlimit,
		PrevNumQueued: d.PrevNumQueued, PrevLastObjCnt: d.PrevLastObjCnt, LowestSlack: d.LowestSlack,
		MaxLimit: d.MaxLimit, MinLimit: d.MinLimit, SlackHoldTime: d.SlackHoldTime, Source: event.SourceNAPI,
	}, event.KindComplete, 0, 0)
}

// footer ends the capture.
func (t *traffic) footer() *capture.Footer {
	n := uint64(t.seq[0])
	return &capture.Footer{
		Clock: capture.Clock{Monotonic: t.now + 1000}, Ended: "signal",
		Ledger: []capture.LedgerRow{{Seen: n, Submitted: n, LastSeq: t.seq[0] - 1}},
		Self:   capture.Self{UserNS: 5_000_000, SysNS: 7_000_000, MaxRSS: 20 << 20, Written: 4096},
		Child:  t.child,
		Stacks: t.stacks,
	}
}

// measured is a run of a load, as compare reads it: batches of a size, and a
// figure that a netperf printed.
func (t *traffic) measured(kernel string, size uint32) {
	t.header.Kernel.Release = "6.1.0-" + kernel
	for range 20 {
		t.run(size, 10)
	}
	t.child = &capture.Child{
		Command: []string{"netperf", "-H", "192.0.2.2"}, BeginNS: trafficStart, EndNS: t.now,
		Output: fmt.Sprintf("bytes bytes bytes secs. 10^6bits/sec\n\n87380 16384 16384 10.00 %d.50\n", 9000+size),
	}
	t.own(event.NoticeDisarmed)
}

// traffics are the captures that scripts ask for by name; a30 is one of kernel a
// with batches of 30.
func traffics(name string) *traffic {
	t := newTraffic()
	var kernel string
	var size uint32
	if n, _ := fmt.Sscanf(name, "%1s%d", &kernel, &size); n == 2 {
		t.measured(kernel, size)
		return t
	}
	switch name {
	case "quiet":
	case "bytes": // a kernel without a bound on the packets of a batch
		for range 20 {
			t.run(224, 10)
		}
	default: // one with it
		for range 20 {
			t.run(65, 10)
		}
	}
	if name == "stacks" {
		t.stacks = &capture.Stacks{
			Functions: []capture.StackFunction{{Name: "__dev_queue_xmit"}, {Name: "__qdisc_run"}, {Name: "sch_direct_xmit"}},
			Moments:   []capture.StackMoment{{Name: "requeue", Seen: 4, Lost: 1, Stacks: []capture.Stack{{Count: 3, Packets: 9, Bytes: 900, NS: 70, Calls: []int{0, 1, 2}}}}},
		}
	}
	if name == "emulated" {
		t.header.Kernel.Emulated = true
	}
	t.own(event.NoticeDisarmed)
	return t
}
