// SPDX-License-Identifier: Apache-2.0

package capture

import (
	"math/rand/v2"

	"github.com/txtrace/txtrace/internal/event"
)

// bulkUDP makes what eight netperf UDP_STREAM senders of 100-byte messages on
// two CPUs leave on a one-queue fq_codel device with live BQL: a stand-in with
// the fields, correlations and rates of the real thing, until real captures
// can be in the tree. Records come in ring order.
type bulkUDP struct {
	r     *rand.Rand
	now   uint64
	seq   [2]uint32
	out   [][]byte
	every float64 // ns between two packets of the senders
	carry float64

	free   []uint64 // skbs as the allocator gives them, last first
	queue  []uint64 // in the qdisc
	flight []uint64 // given to the driver

	numQueued, numCompl, adjLimit, dqlLimit uint32
	lastObj, prevNumQ, prevObj, prevOv      uint32
	slack                                   uint32
	slackTime                               uint64
	requeues                                uint32
}

const (
	genSkbs   = 300
	genLen    = 142
	genPktLen = 142
	genQdisc  = 0xffff9a3c41f0c000
)

// scramble is the keyed bijection of addresses, as bpf/state.h has it.
func scramble(a uint64) uint64 { return (a ^ 0x5ac1_66f3_0d9b_5e77) + 0x2e90_13b7_c4a5_8d21 }

// genBulkUDP returns n records (a few more to end the last run) in ring order.
// every is the mean time between two packets in ns: 30000 sends mostly one at a
// time, 2000 fills the queue.
func genBulkUDP(seed uint64, n int, every float64) [][]byte {
	g := &bulkUDP{r: rand.New(rand.NewPCG(seed, 1)), now: 90_000_000_000, every: every, dqlLimit: 19000, adjLimit: 19000, slack: 1 << 31}
	for i := range genSkbs {
		g.free = append(g.free, 0xffff9a3c50000000+uint64(i)*0x100)
	}
	g.r.Shuffle(len(g.free), func(i, j int) { g.free[i], g.free[j] = g.free[j], g.free[i] })
	for len(g.out) < n {
		g.pass(uint64(1000 + g.r.IntN(int(every))))
		cpu := g.r.IntN(2)
		if g.r.IntN(10) == 0 || g.stopped() {
			g.complete(cpu)
		}
		if len(g.queue) > 0 && !g.stopped() {
			g.run(cpu)
		}
	}
	return g.out
}

func (g *bulkUDP) avail() int32  { return int32(g.adjLimit - g.numQueued) }
func (g *bulkUDP) stopped() bool { return g.avail() < 0 || len(g.flight) > 250 }

func (g *bulkUDP) pass(ns uint64) {
	g.now += ns
	for g.carry += float64(ns) * (0.5 + g.r.Float64()); g.carry > g.every; g.carry -= g.every {
		g.enqueue(1)
	}
}

func (g *bulkUDP) enqueue(n int) {
	for range n {
		if len(g.free) == 0 {
			return
		}
		i := len(g.free) - 1
		if i > 0 && g.r.IntN(3) == 0 {
			i-- // two CPUs, two free lists
		}
		g.queue = append(g.queue, g.free[i])
		g.free = append(g.free[:i], g.free[i+1:]...)
	}
}

func (g *bulkUDP) head(cpu int, parent uint32, begin uint64, depth uint8) event.Header {
	pids := [8]uint32{1203, 1204, 1205, 1206, 1207, 1208, 1209, 1210}
	h := event.Header{CPU: uint16(cpu), Seq: g.seq[cpu], Time: g.now, Ifindex: 2, Netns: 4026532212, Parent: parent,
		Pid: pids[(g.now>>22+uint64(cpu)*3)%8], Depth: depth, Context: event.ContextTask}
	if begin != 0 {
		h.Dur = uint32(g.now - begin)
	}
	if g.now>>14%5 == 0 {
		h.Context = event.ContextSoftirq
	}
	g.seq[cpu]++
	return h
}

func genEmit[T event.Record](g *bulkUDP, r *T) { g.out = append(g.out, event.Append(nil, r)) }

func (g *bulkUDP) run(cpu int) {
	begin := g.now
	id := uint32(begin)
	g.pass(uint64(1500 + g.r.IntN(3000)))
	run := event.Run{Qdisc: scramble(genQdisc), QdiscFlags: 0x14, Handle: 0x80010000, QlenBegin: uint32(len(g.queue)),
		NumQueuedBegin: g.numQueued, NumComplBegin: g.numCompl, AdjLimitBegin: g.adjLimit, QdiscStateBegin: 1, Who: event.WhoEnqueue}
	copy(run.QdiscKind[:], "fq_codel")
	quota := 64
	for quota > 0 && !g.stopped() {
		if len(g.queue) == 0 {
			run.Empty++
			break
		}
		n := g.batch(cpu, id, &run)
		run.Packets += uint32(n)
		run.LastPackets = uint32(n)
		run.Dequeues++
		run.Directs++
		quota -= n
		if g.r.IntN(5) == 0 {
			g.complete(1 - cpu)
		}
	}
	g.pass(uint64(500 + g.r.IntN(1500)))
	run.QlenEnd = uint32(len(g.queue))
	run.NumQueuedEnd, run.NumComplEnd, run.AdjLimitEnd = g.numQueued, g.numCompl, g.adjLimit
	if g.stopped() {
		run.TxqStateEnd = event.StackXoff
	}
	if quota <= 0 {
		run.Rescheduled = 1
	}
	run.Header = g.head(cpu, 0, begin, 0)
	genEmit(g, &run)
}

func (g *bulkUDP) batch(cpu int, id uint32, run *event.Run) int {
	limit := g.avail()
	n := 1
	for limit -= genLen; limit >= 0 && n < len(g.queue) && n < 65; n++ {
		limit -= genLen
	}
	list := g.queue[:n]
	g.queue = g.queue[n:]
	bytes := uint32(n) * genLen
	g.pass(uint64(900 + 260*n + g.r.IntN(1500)))
	d := event.Dequeue{Header: g.head(cpu, id, 0, 1), Qdisc: run.Qdisc, First: scramble(list[0]), Last: scramble(list[n-1]),
		Packets: uint32(n), Walked: uint32(n), Bytes: bytes, FirstLen: genLen, LastLen: genLen, GsoSegs: uint32(n), PktLen: uint32(n) * genPktLen,
		NumQueued: g.numQueued, NumCompl: g.numCompl, AdjLimit: g.adjLimit, Qlen: uint32(len(g.queue)), QdiscFlags: 0x14,
		Before: run.Packets, Order: run.Dequeues + run.Empty, QdiscState: 1}
	genEmit(g, &d)

	g.pass(uint64(600 + g.r.IntN(700)))
	db := g.now
	dir := event.Direct{Qdisc: run.Qdisc, First: d.First, Packets: d.Packets, Bytes: bytes, GsoSegs: d.Packets, PktLen: d.PktLen,
		QdiscFlags: 0x14, Handle: run.Handle, RequeuesBegin: g.requeues, RequeuesEnd: g.requeues, Handovers: 1, Validate: 1, Result: 1, From: event.FromDequeue}
	g.pass(uint64(900 + g.r.IntN(900)))
	h := event.Hand{First: d.First, Packets: d.Packets, Bytes: bytes, Attempts: d.Packets, OwedAny: 1, OwedDrv: 1,
		NumQueuedBegin: g.numQueued, NumComplBegin: g.numCompl, AdjLimitBegin: g.adjLimit, More: event.MoreUnknown}
	g.numQueued += bytes
	g.lastObj = genLen
	g.flight = append(g.flight, list...)
	g.pass(uint64(n)*uint64(1900+g.r.IntN(250)) + uint64(g.r.IntN(800)))
	h.NumQueuedEnd, h.NumComplEnd, h.AdjLimitEnd = g.numQueued, g.numCompl, g.adjLimit
	if g.stopped() {
		h.TxqStateLast, h.TxqStateEnd = event.StackXoff, event.StackXoff
	}
	g.pass(uint64(500 + g.r.IntN(600)))
	dir.TxqStateEnd = h.TxqStateEnd
	dir.QdiscStateEnd = 1
	dir.Hand = h
	dir.Header = g.head(cpu, id, db, 2)
	genEmit(g, &dir)
	return n
}

func (g *bulkUDP) complete(cpu int) {
	if len(g.flight) == 0 {
		return
	}
	n := 1 + g.r.IntN(len(g.flight))
	g.free = append(g.free, g.flight[:n]...)
	g.flight = g.flight[n:]
	g.prevNumQ, g.prevObj = g.numQueued, g.lastObj
	g.numCompl += uint32(n) * genLen
	if g.r.IntN(60) == 0 {
		g.dqlLimit = uint32(15000 + 142*g.r.IntN(60))
		g.slack, g.slackTime = 1<<31, 4295000000+g.now/4e6
	} else {
		g.slack = min(g.slack, uint32(g.avail()))
	}
	g.adjLimit = g.dqlLimit + g.numCompl
	save := g.now
	g.pass(uint64(800 + g.r.IntN(700)))
	c := event.Complete{SlackStartTime: g.slackTime, Jiffies: 4295000000 + g.now/4e6, NumQueued: g.numQueued, AdjLimit: g.adjLimit,
		LastObjCnt: g.lastObj, Limit: g.dqlLimit, NumCompleted: g.numCompl, PrevOvlimit: g.prevOv, PrevNumQueued: g.prevNumQ,
		PrevLastObjCnt: g.prevObj, LowestSlack: g.slack, MaxLimit: 1879048192, SlackHoldTime: 250, Source: event.SourceHardirq}
	c.Header = g.head(cpu, 0, 0, 0)
	c.Context = event.ContextHardirq
	genEmit(g, &c)
	g.now = save + 300
}
