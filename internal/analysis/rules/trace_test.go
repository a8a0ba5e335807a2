// SPDX-License-Identifier: Apache-2.0

package rules

import (
	"io"
	"testing"

	"github.com/txtrace/txtrace/internal/analysis"
	"github.com/txtrace/txtrace/internal/capture"
	"github.com/txtrace/txtrace/internal/event"
	"github.com/txtrace/txtrace/internal/model"
)

// trace builds a capture record by record, the way a kernel with one BQL queue
// would make them. Tests change single fields to make a rule break.
type trace struct {
	header capture.Header
	footer *capture.Footer
	cut    bool
	scale  float64 // of time limits
	recs   []event.Any
	seq    map[uint16]uint32
	now    uint64
	cpu    uint16

	ifindex uint32
	txq     uint16
	kind    string
	qflags  uint32
	dql     model.DQL
	state   uint8
	qlen    uint32   // left in the qdisc, parked ones included
	parked  []uint64 // gso_skb, by address
	head    bool     // requeue at its head
	bad     uint32   // of them in skb_bad_txq
	skb     uint64   // last address given
	requeue uint32   // qstats.requeues
	jiffies uint64
	turns   uint32 // that CPU 0 sent
}

const nsPerJiffy = 4_000_000

// newTrace begins a capture of an fq_codel queue with 64 KiB of BQL.
func newTrace() *trace {
	t := &trace{
		header: capture.Header{
			Tool:   "test",
			Kernel: capture.Kernel{Release: "6.1.0-test", CPUs: 2, PossibleCPUs: 2, HZ: 250, SkbTruesize: 577},
			Clock:  capture.Clock{Monotonic: 1_000_000_000},
			Programs: []capture.Program{
				{Name: "run_begin", Hook: "fentry:__qdisc_run", Pair: "run_end"}, {Name: "run_end", Hook: "fexit:__qdisc_run"},
				{Name: "direct_begin", Hook: "fentry:sch_direct_xmit", Pair: "direct_end"}, {Name: "direct_end", Hook: "fexit:sch_direct_xmit"},
				{Name: "handover_begin", Hook: "fentry:dev_hard_start_xmit", Pair: "handover_end"}, {Name: "handover_end", Hook: "fexit:dev_hard_start_xmit"},
				{Name: "other", Hook: "tp_btf:qdisc_dequeue"}, {Name: "attempt", Hook: "tp_btf:net_dev_xmit"},
				{Name: "wfree_end", Hook: "fexit:tcp_wfree"},
			},
			Settings: capture.Settings{DevWeight: 64, DevWeightTxBias: 1, Sysctls: map[string]string{"net.core.gro_normal_batch": "8"}},
			Devices:  []capture.Device{{Netns: 7, Ifindex: 2, Ifname: "eth0", Driver: "e1000e", TxQueues: 1, Offloads: map[string]bool{"esp-hw-offload": false, "esp-tx-csum-hw-offload": false}}},
		},
		seq: map[uint16]uint32{}, now: 1_000_001_000,
		ifindex: 2, kind: "fq_codel", qflags: event.QdiscOneTxQueue, skb: 0x1000,
		jiffies: 1_000_000,
	}
	t.dql = model.NewDQL(250, t.jiffies)
	t.dql.Limit, t.dql.MinLimit = 65536, 0
	t.dql.AdjLimit = t.dql.Limit
	t.dql.SlackStartTime = t.jiffies
	t.own(&event.Notice{Subtype: event.NoticeArmed})
	return t
}

// tick passes ns.
func (t *trace) tick(ns uint64) {
	t.now += ns
	t.jiffies = 1_000_000 + (t.now-t.header.Clock.Monotonic)/nsPerJiffy
}

// put adds a record of the current CPU; begin is that of a span.
func (t *trace) put(r event.Any, begin uint64) {
	t.tick(100)
	h := r.Head()
	h.Kind = kindOf(r)
	h.CPU, h.Seq, h.Time = t.cpu, t.seq[t.cpu], t.now
	t.seq[t.cpu]++
	if h.Context == 0 {
		h.Context = event.ContextSoftirq
	}
	if h.Parent != 0 {
		h.Depth = 1
	}
	if begin != 0 {
		h.Dur = uint32(t.now - begin)
	}
	if t.ifindex != 0 {
		h.Ifindex, h.Netns, h.Txq = t.ifindex, 7, t.txq
	}
	t.recs = append(t.recs, r)
}

// own adds a record of the recorder.
func (t *trace) own(r event.Any) {
	cpu, dev := t.cpu, t.ifindex
	t.cpu, t.ifindex = event.UserCPU, 0
	t.put(r, 0)
	t.cpu, t.ifindex = cpu, dev
}

// sock adds a record of a socket.
func (t *trace) sock(r event.Any) {
	dev := t.ifindex
	t.ifindex = 0
	t.put(r, 0)
	r.Head().Netns, r.Head().Txq = 7, event.NoQueue
	t.ifindex = dev
}

func kindOf(r event.Any) event.Kind {
	switch r.(type) {
	case *event.Run:
		return event.KindRun
	case *event.Dequeue:
		return event.KindDequeue
	case *event.Direct:
		return event.KindDirect
	case *event.Handover:
		return event.KindHandover
	case *event.Complete:
		return event.KindComplete
	case *event.Throttle:
		return event.KindThrottle
	case *event.Wfree:
		return event.KindWfree
	case *event.Resume:
		return event.KindResume
	case *event.Notice:
		return event.KindNotice
	case *event.Ledger:
		return event.KindLedger
	case *event.Pick:
		return event.KindPick
	case *event.Picks:
		return event.KindPicks
	case *event.GRO:
		return event.KindGRO
	case *event.Sample:
		return event.KindSample
	case *event.Packet:
		return event.KindPacket
	case *event.Sojourn:
		return event.KindSojourn
	case *event.Schedule:
		return event.KindSchedule
	case *event.Delivery:
		return event.KindDelivery
	case *event.Enqueue:
		return event.KindEnqueue
	case *event.Free:
		return event.KindFree
	case *event.Transmit:
		return event.KindTransmit
	case *event.Steer:
		return event.KindSteer
	}
	return event.KindInvalid
}

// runB builds one run.
type runB struct {
	t     *trace
	rec   event.Run
	begin uint64
	last  *event.Dequeue
	again bool // it came from gso_skb
	sent  bool // the last restart said go on
}

func (t *trace) run() *runB {
	t.tick(1000)
	r := &runB{t: t, begin: t.now, sent: true}
	copy(r.rec.QdiscKind[:], t.kind)
	r.rec.Qdisc, r.rec.QdiscFlags, r.rec.Handle = 0xabc0, t.qflags, 0x80010000
	r.rec.QlenBegin, r.rec.TxqStateBegin, r.rec.Who = t.qlen, t.state, event.WhoEnqueue
	r.rec.NumQueuedBegin, r.rec.NumComplBegin, r.rec.AdjLimitBegin = t.dql.NumQueued, t.dql.NumCompleted, t.dql.AdjLimit
	return r
}

func (r *runB) parent() uint32 { return uint32(r.begin) }

// dequeue adds a batch of n packets of length bytes each; left stay in the
// qdisc beside what is parked.
func (r *runB) dequeue(n, length, left uint32) *event.Dequeue {
	r.t.skb += 0x1000
	return r.take(r.t.skb, n, length, left)
}

// fromGSO adds a batch of one packet from gso_skb.
func (r *runB) fromGSO(length uint32) *event.Dequeue {
	first := r.t.parked[0]
	r.t.parked = r.t.parked[1:]
	left := r.t.qlen - 1 - r.t.gso() - r.t.bad
	r.again = true
	return r.take(first, 1, length, left)
}

func (r *runB) take(first uint64, n, length, left uint32) *event.Dequeue {
	t := r.t
	t.tick(500)
	t.qlen = left + t.gso() + t.bad
	d := &event.Dequeue{
		Qdisc: r.rec.Qdisc, First: first, Last: first + uint64(n-1)*2,
		Packets: n, Walked: n, Bytes: n * length, FirstLen: length, LastLen: length, GsoSegs: n, PktLen: n * length,
		Qlen: t.qlen, GsoQlen: t.gso(), BadQlen: t.bad, QdiscFlags: t.qflags,
		Before: r.rec.Packets, Order: r.rec.Dequeues, TxqState: t.state,
	}
	if t.qflags&event.QdiscNoLock != 0 {
		d.Flags |= event.FlagPerCPU
		d.Qlen = 0
	}
	if t.qflags&event.QdiscOneTxQueue != 0 {
		d.NumQueued, d.NumCompl, d.AdjLimit = t.dql.NumQueued, t.dql.NumCompleted, t.dql.AdjLimit
	}
	d.Parent = r.parent()
	t.put(d, 0)
	r.rec.Packets += n
	r.rec.Dequeues++
	r.rec.LastPackets = n
	r.last = d
	return d
}

// gso is the length of gso_skb.
func (t *trace) gso() uint32 { return uint32(len(t.parked)) }

// sent is what a hand-over is to do.
type sent struct {
	n       uint32 // packets after validation, 0: as dequeued
	rest    uint32 // of them left
	busy    bool   // the driver refused the one after those it took
	stop    uint8  // state bits the driver set
	noBQL   bool
	stopped bool // the queue was stopped before: no hand-over
}

// send hands the last batch to the driver.
func (r *runB) send(s sent) (*event.Direct, *event.Hand) {
	d := &event.Direct{Qdisc: r.rec.Qdisc, First: r.last.First, Packets: r.last.Packets, Bytes: r.last.Bytes,
		GsoSegs: r.last.GsoSegs, PktLen: r.last.PktLen, Validate: 1, From: event.FromDequeue}
	d.Parent = r.parent()
	if r.again {
		d.Validate, r.again = 0, false
	}
	if s.n > d.Packets { // GSO packets, which validation makes segments of
		d.GsoSegs, r.last.GsoSegs = s.n, s.n
	}
	r.rec.Directs++
	d, h := r.t.direct(d, s)
	r.sent = d.Result != 0
	return d, h
}

// bypass sends a packet of length bytes that never sat in the qdisc.
func (t *trace) bypass(length uint32, s sent) (*event.Direct, *event.Hand) {
	t.skb += 0x1000
	return t.direct(&event.Direct{Qdisc: 0xabc0, First: t.skb, Packets: 1, Bytes: length, GsoSegs: 1, PktLen: length,
		Validate: 1, From: event.FromBypass}, s)
}

func (t *trace) direct(d *event.Direct, s sent) (*event.Direct, *event.Hand) {
	t.tick(200)
	begin := t.now
	d.QdiscFlags, d.Handle = t.qflags, 0x80010000
	d.RequeuesBegin, d.GsoQlenBegin, d.TxqStateBegin = t.requeue, t.gso(), t.state
	if s.n == 0 {
		s.n = d.Packets
	}
	if s.stopped {
		s.rest = s.n
	} else {
		d.Hand, d.Handovers = t.hand(d.First, d.Bytes, s), 1
	}
	d.Result = 1
	if s.rest > 0 {
		d.Result = 0
		var rest []uint64
		for i := range s.rest {
			rest = append(rest, d.First+uint64(s.n-s.rest+i)*2)
		}
		if t.head {
			t.parked = append(rest, t.parked...)
		} else {
			t.parked = append(t.parked, rest...)
		}
		t.qlen += s.rest
		t.requeue += s.rest
	}
	d.RequeuesEnd, d.GsoQlenEnd, d.BadQlenEnd, d.TxqStateEnd = t.requeue, t.gso(), t.bad, t.state
	t.put(d, begin)
	return d, &d.Hand
}

// alone hands a list over on a device without a qdisc.
func (t *trace) alone(bytes uint32, s sent) *event.Handover {
	t.tick(200)
	begin := t.now
	t.skb += 0x1000
	h := &event.Handover{Hand: t.hand(t.skb, bytes, s)}
	t.put(h, begin)
	return h
}

// hand plays one dev_hard_start_xmit.
func (t *trace) hand(first uint64, bytes uint32, s sent) event.Hand {
	h := event.Hand{First: first, Packets: s.n, Bytes: bytes, Rest: s.rest,
		NumQueuedBegin: t.dql.NumQueued, NumComplBegin: t.dql.NumCompleted, AdjLimitBegin: t.dql.AdjLimit, TxqStateBegin: t.state}
	taken := s.n - s.rest
	each := bytes / s.n
	h.Attempts = taken
	if s.busy {
		h.Attempts, h.Busy = taken+1, 1
		h.DriverRC, h.RC = 16, 16
	}
	if s.rest > 0 {
		h.RestFirst, h.RC = first+uint64(taken)*2, 16
	}
	if taken > 0 {
		h.OwedAny, h.OwedDrv = 1, 1
	}
	if s.noBQL {
		h.Uncharged = taken
	} else {
		for range taken {
			t.dql.LastObjCnt = each
			t.dql.NumQueued += each
			h.Charged += each
		}
		if taken > 0 && t.dql.Avail() < 0 {
			t.state |= event.StackXoff
		}
	}
	t.state |= s.stop
	h.TxqStateLast = t.state
	if s.rest > 0 && !(s.busy && s.rest == 1) {
		h.More = 1
	}
	t.tick(300)
	h.NumQueuedEnd, h.NumComplEnd, h.AdjLimitEnd, h.TxqStateEnd = t.dql.NumQueued, t.dql.NumCompleted, t.dql.AdjLimit, t.state
	return h
}

// end writes the run.
func (r *runB) end() *event.Run {
	t := r.t
	if r.sent && r.rec.Packets < 64 {
		r.rec.Empty = 1
	}
	if r.sent && r.rec.Packets >= 64 {
		r.rec.Rescheduled = 1
		r.rec.QdiscStateEnd = event.QdiscStateSched
	}
	r.rec.QlenEnd, r.rec.GsoQlenEnd, r.rec.TxqStateEnd = t.qlen, t.gso(), t.state
	r.rec.NumQueuedEnd, r.rec.NumComplEnd, r.rec.AdjLimitEnd = t.dql.NumQueued, t.dql.NumCompleted, t.dql.AdjLimit
	rec := r.rec
	t.put(&rec, r.begin)
	if t.qflags&event.QdiscOneTxQueue == 0 {
		rec.Txq = event.NoQueue
	}
	return &rec
}

// complete lets the driver report bytes as sent.
func (t *trace) complete(bytes uint32) *event.Complete {
	t.tick(500)
	if err := t.dql.Completed(bytes, t.jiffies); err != nil {
		panic(err)
	}
	if t.dql.Avail() >= 0 {
		t.state &^= event.StackXoff
	}
	return t.snapshot()
}

// completes completes the queue as often as it takes to be known for what does.
func (t *trace) completes() {
	for range 8 {
		t.dql.NumQueued, t.dql.LastObjCnt = t.dql.NumQueued+1000, 1000
		t.complete(1000)
	}
}

// halts completes some of a queue that BQL stopped, not enough to start it.
func (t *trace) halts() {
	t.completes()
	t.dql.LastObjCnt = t.dql.Limit + 100_000
	t.dql.NumQueued += t.dql.LastObjCnt
	t.state |= event.StackXoff
	t.complete(1000)
}

func (t *trace) snapshot() *event.Complete {
	d := t.dql
	c := &event.Complete{
		SlackStartTime: d.SlackStartTime, Jiffies: t.jiffies, NumQueued: d.NumQueued, AdjLimit: d.AdjLimit,
		LastObjCnt: d.LastObjCnt, Limit: d.Limit, NumCompleted: d.NumCompleted, PrevOvlimit: d.PrevOvlimit,
		PrevNumQueued: d.PrevNumQueued, PrevLastObjCnt: d.PrevLastObjCnt, LowestSlack: d.LowestSlack,
		MaxLimit: d.MaxLimit, MinLimit: d.MinLimit, SlackHoldTime: d.SlackHoldTime,
		TxqState: t.state, Source: event.SourceNAPI,
	}
	t.put(c, 0)
	return c
}

// source plays the records, without those that drop says are lost, with the
// gaps that a capture's reader would report.
type source struct {
	t       *trace
	drop    func(i int) bool
	dropped map[uint16]uint64
	i       int
	next    map[uint16]uint32
	lastNS  map[uint16]uint64
	pending event.Any
	gap     capture.Gap
	stats   capture.ReaderStats
}

func (t *trace) source(drop func(int) bool) *source {
	return &source{t: t, drop: drop, dropped: map[uint16]uint64{}, next: map[uint16]uint32{}, lastNS: map[uint16]uint64{}}
}

func (s *source) Header() *capture.Header    { return &s.t.header }
func (s *source) Footer() *capture.Footer    { return s.t.foot(s.dropped) }
func (s *source) Cut() *capture.CutInfo      { return nil }
func (s *source) Stats() capture.ReaderStats { return s.stats }

func (s *source) Next() (capture.Item, error) {
	if r := s.pending; r != nil {
		s.pending = nil
		return s.deliver(r)
	}
	for s.i < len(s.t.recs) {
		r := s.t.recs[s.i]
		s.i++
		h := r.Head()
		if s.drop != nil && s.drop(s.i-1) {
			s.dropped[h.CPU]++
			continue
		}
		if want := s.next[h.CPU]; h.Seq != want {
			from, seen := s.lastNS[h.CPU]
			if !seen {
				from = s.t.header.Clock.Monotonic
			}
			s.gap = capture.Gap{CPU: h.CPU, AfterSeq: want - 1, BeforeSeq: h.Seq, Lost: h.Seq - want, FromNS: from, ToNS: h.Time, Start: !seen}
			s.stats.Gaps++
			s.stats.Lost += uint64(s.gap.Lost)
			s.pending = r
			return capture.Item{Gap: &s.gap}, nil
		}
		return s.deliver(r)
	}
	return s.tail()
}

func (s *source) deliver(r event.Any) (capture.Item, error) {
	h := r.Head()
	s.next[h.CPU], s.lastNS[h.CPU] = h.Seq+1, h.Time
	return capture.Item{Record: r}, nil
}

// tail reports what is missing after the last record of a CPU.
func (s *source) tail() (capture.Item, error) {
	for cpu, want := range s.t.seq {
		if n := want - s.next[cpu]; n > 0 {
			from, seen := s.lastNS[cpu]
			if !seen {
				from = s.t.header.Clock.Monotonic
			}
			s.gap = capture.Gap{CPU: cpu, AfterSeq: s.next[cpu] - 1, BeforeSeq: want, Lost: n, FromNS: from, ToNS: s.t.now + 1, Start: !seen, End: true}
			s.next[cpu] = want
			s.stats.Gaps++
			s.stats.Lost += uint64(n)
			return capture.Item{Gap: &s.gap}, nil
		}
	}
	return capture.Item{}, io.EOF
}

// foot is the footer: the test's, or one whose ledger fits the records.
func (t *trace) foot(dropped map[uint16]uint64) *capture.Footer {
	if t.footer != nil || t.cut {
		return t.footer
	}
	f := &capture.Footer{Clock: capture.Clock{Monotonic: t.now + 1}, Ended: "child"}
	calls := make(map[[2]int]uint64)
	for _, r := range t.recs {
		h := r.Head()
		if h.CPU == event.UserCPU {
			continue
		}
		end := map[event.Kind]int{event.KindRun: 1, event.KindDirect: 3, event.KindHandover: 5}[h.Kind]
		if end == 0 {
			end = 6
		} else {
			calls[[2]int{end - 1, int(h.CPU)}]++
		}
		calls[[2]int{end, int(h.CPU)}]++
	}
	for cpu := range 2 {
		for program := range t.header.Programs {
			n := calls[[2]int{program, cpu}]
			f.Ledger = append(f.Ledger, capture.LedgerRow{Program: program, CPU: cpu, Seen: n, Submitted: n})
		}
		// All that is missing is booked on one program.
		row := &f.Ledger[len(f.Ledger)-1]
		row.Lost = dropped[uint16(cpu)]
		row.Seen += row.Lost
	}
	return f
}

// analyze checks the trace by all rules.
func (t *trace) analyze(tb testing.TB, variant string, drop func(int) bool) *analysis.Result {
	tb.Helper()
	v, err := analysis.ParseVariants(variant)
	if err != nil {
		tb.Fatal(err)
	}
	res, err := analysis.Analyze(t.source(drop), analysis.Options{Rules: All(), Variant: v, TimeScale: t.scale})
	if err != nil {
		tb.Fatal(err)
	}
	return res
}

// ruling is the verdict on one rule.
func ruling(tb testing.TB, res *analysis.Result, id string) analysis.RuleVerdict {
	tb.Helper()
	for _, r := range res.Verify.Rules {
		if r.ID == id {
			return r
		}
	}
	tb.Fatalf("no rule %s", id)
	return analysis.RuleVerdict{}
}

// expect holds one rule's verdict under a variant, and says why it differs.
func (t *trace) expect(tb testing.TB, id, variant string, want analysis.Verdict) analysis.RuleVerdict {
	tb.Helper()
	res := t.analyze(tb, variant, nil)
	r := ruling(tb, res, id)
	if r.Verdict != want {
		tb.Errorf("%s under %s: %s, want %s: %+v", id, variant, r.Verdict, want, r)
	}
	return r
}
