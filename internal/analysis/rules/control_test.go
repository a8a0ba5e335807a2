// SPDX-License-Identifier: Apache-2.0

package rules

import (
	"strings"
	"testing"

	"github.com/txtrace/txtrace/internal/analysis"
	"github.com/txtrace/txtrace/internal/event"
	"github.com/txtrace/txtrace/internal/model"
)

// Negative controls: what looks wrong to a naive rule and is legal.
var controls = map[string]func() *trace{
	"NC1 one packet although BQL allows none": func() *trace {
		t := newTrace()
		t.dql.NumQueued = t.dql.AdjLimit + 5000
		r := t.run()
		r.dequeue(1, 1514, 20)
		r.send(sent{})
		r.end()
		return t
	},
	"NC2 a train goes over the limit": func() *trace {
		t := newTrace()
		r := t.run()
		r.dequeue(1, 64_000, 0)
		r.send(sent{n: 45})
		r.end()
		r = t.run()
		r.dequeue(2, 1_500, 0) // 1500 in hand < the 1536 that are left
		r.send(sent{n: 54})
		r.end()
		return t
	},
	"NC3 nine packets of a shared qdisc": func() *trace {
		t := newTrace()
		t.shared()
		return t
	},
	"NC7 the same skb is sent twice": func() *trace {
		t := newTrace()
		r := t.run()
		r.dequeue(1, 1514, 0)
		r.send(sent{n: 1, rest: 1, busy: true})
		r.end()
		r = t.run()
		r.fromGSO(1514)
		r.send(sent{n: 1, rest: 1, busy: true})
		r.end()
		t.drain(1)
		return t
	},
	"NC8 counters wrap": func() *trace {
		t := newTrace()
		t.dql.NumQueued, t.dql.NumCompleted, t.dql.PrevNumQueued = 0xfffff000, 0xfffff000, 0xfffff000
		t.dql.AdjLimit = t.dql.NumCompleted + t.dql.Limit
		for range 5 {
			r := t.run()
			r.dequeue(20, 142, 0)
			r.send(sent{})
			r.end()
			t.complete(t.dql.InFlight())
		}
		return t
	},
	"NC9 a driver without BQL": func() *trace {
		t := newTrace()
		t.dummy()
		return t
	},
	"NC10 a reset leaves adj_limit": func() *trace {
		t := newTrace()
		r := t.run()
		r.dequeue(20, 142, 0)
		r.send(sent{})
		r.end()
		t.complete(1000)
		t.dql.Reset(model.DQLResetMin, t.jiffies)
		t.state = 0
		t.snapshot()
		t.dql.AdjLimit = 400_000 // as after many bytes
		r = t.run()
		r.dequeue(64, 5000, 0) // far more than any limit
		r.send(sent{})
		r.end()
		t.complete(5000)
		return t
	},
	"NC10 a reset leaves adj_limit negative": func() *trace {
		t := newTrace()
		t.dql.Reset(model.DQLResetMin, t.jiffies)
		t.dql.AdjLimit = 3330803028
		r := t.run()
		r.dequeue(1, 1514, 5)
		_, h := r.send(sent{})
		h.TxqStateEnd |= event.StackXoff // on the first packet
		r.end()
		return t
	},
	"NC11 STACK set while a completion makes room": func() *trace {
		t := newTrace()
		r := t.run()
		r.dequeue(20, 142, 0)
		_, h := r.send(sent{})
		h.TxqStateEnd |= event.StackXoff // to be cleared by the recheck, or by the completion
		h.NumComplEnd, h.AdjLimitEnd = h.NumComplEnd+500, h.AdjLimitEnd+500
		r.end()
		return t
	},
	"NC12 others charge the queue": func() *trace {
		t := newTrace()
		for range 3 {
			r := t.run()
			r.dequeue(20, 142, 0)
			r.send(sent{})
			t.dql.NumQueued += 9000 // pktgen
			r.dequeue(5, 142, 0)
			r.send(sent{})
			r.end()
			t.dql.NumQueued += 9000
		}
		return t
	},
	"NC15 pure ACKs were freed unseen": func() *trace {
		t := newTrace()
		e := t.throttle()
		e.WmemEnd = 2*e.Truesize - 40
		return t
	},
	"NC20 MISSED instead of a schedule": func() *trace {
		t := newTrace()
		t.kind, t.qflags = "pfifo_fast", event.QdiscOneTxQueue|event.QdiscNoLock|event.QdiscCPUStats
		r := t.run()
		r.dequeue(65, 142, 0)
		r.send(sent{})
		rec := r.end()
		rec.Rescheduled, rec.QdiscStateEnd = 0, event.QdiscStateMissed
		return t
	},
	"a completion in the bracket": func() *trace {
		t := newTrace()
		r := t.run()
		r.dequeue(30, 1514, 0)
		r.send(sent{})
		t.complete(40_000)
		r.dequeue(30, 1514, 0)
		r.send(sent{})
		r.end()
		return t
	},
	"DRV set between the test and the hand-over": func() *trace {
		t := newTrace()
		r := t.run()
		r.dequeue(5, 142, 0)
		_, h := r.send(sent{})
		h.TxqStateBegin |= event.DrvXoff // e1000e_down stops without the lock
		r.end()
		return t
	},
	"stopped and started again around the test": func() *trace {
		t := newTrace()
		r := t.run()
		r.dequeue(5, 142, 0)
		r.send(sent{stopped: true})
		r.end()
		t.drain(5)
		return t
	},
	"validation drops the whole list": func() *trace {
		t := newTrace()
		r := t.run()
		r.dequeue(5, 142, 0)
		d := &event.Direct{Qdisc: r.rec.Qdisc, QdiscFlags: t.qflags, First: r.last.First, Packets: 5, Bytes: 5 * 142, GsoSegs: 5, PktLen: 5 * 142, Validate: 1, Result: 1, From: event.FromDequeue}
		d.Parent = r.parent()
		r.rec.Directs++
		t.put(d, t.now)
		r.end()
		return t
	},
	"a stacked device writes xmit_more": func() *trace {
		t := newTrace()
		h := t.alone(142, sent{n: 1})
		h.Flags, h.More = event.FlagNested, 1
		return t
	},
	"the qdisc is reset while something is parked": func() *trace {
		t := newTrace()
		r := t.run()
		r.dequeue(5, 142, 0)
		r.send(sent{n: 5, rest: 3, stop: event.DrvXoff})
		r.end()
		t.parked, t.state = nil, 0
		r = t.run()
		r.dequeue(5, 142, 0)
		r.send(sent{})
		r.end()
		return t
	},
	"an administrator writes limit": func() *trace {
		t := bulk(5, 20, 0)
		t.dql.NumQueued += 9000
		t.dql.Limit = 1 << 20
		t.complete(3000)
		t.dql.Limit = 77
		t.complete(3000)
		return t
	},
}

func TestControls(t *testing.T) {
	for name, build := range controls {
		for _, variant := range []string{"auto", "latest"} {
			for _, r := range build().analyze(t, variant, nil).Verify.Rules {
				if r.Verdict == analysis.VerdictFail {
					t.Errorf("%s: %s fails under %s: %s", name, r.ID, variant, r.Evidence[0].Says)
				}
			}
		}
	}
}

// Kernels that show a variant which a later commit mended are reported as
// expected under auto, and fail under latest.
func TestExpected(t *testing.T) {
	for name, c := range map[string]struct {
		rule, sw, variant, lacks string
		build                    func() *trace
	}{
		"C-A13 STACK ends a hand-over": {"X5", "xmit-stop", "any", "fe60faa50638", func() *trace {
			t := newTrace()
			for range 3 {
				h := t.list(false)
				h.TxqStateLast, h.TxqStateEnd = event.StackXoff, event.StackXoff
			}
			return t
		}},
		"C-A9 a reset forgets limit_min": {"B11", "dql-reset", "zero", "3a17f23f7c36", func() *trace {
			t := newTrace()
			t.dql.MinLimit = 30_000
			for range 3 {
				t.dql.NumQueued += 5000
				t.complete(5000)
			}
			t.dql.Reset(model.DQLResetZero, t.jiffies)
			t.snapshot()
			return t
		}},
		"C-G2 a batch counts merged packets": {"G1", "gro-batch", "skbs", "8dc1c444df19", func() *trace {
			t := newTrace()
			for range 3 {
				bySkbs(t.goUp(44, 44, 44, 44, 44, 44, 44, 44))
			}
			return t
		}},
		"C-Q8 the quota counts restarts": {"D4", "quota", "restarts", "b8358d70ce10", func() *trace {
			t := newTrace()
			r := t.run()
			for range 10 {
				r.dequeue(64, 142, 50)
				r.send(sent{})
			}
			r.end().Rescheduled = 0
			r = t.run()
			for range 64 {
				r.dequeue(2, 142, 50)
				r.send(sent{})
			}
			r.end()
			return t
		}},
		"O2 a requeue goes to the tail": {"X6", "requeue", "tail", "net/sched: fix packet reordering on requeue", func() *trace {
			t := newTrace()
			r := t.run()
			r.dequeue(5, 142, 0)
			r.send(sent{n: 5, rest: 3, stop: event.DrvXoff})
			r.end()
			t.state = 0
			r = t.run()
			r.fromGSO(142)
			r.send(sent{n: 1, rest: 1, busy: true})
			r.end()
			t.drain(5)
			return t
		}},
	} {
		tr := c.build()
		res := tr.analyze(t, "auto", nil)
		r := ruling(t, res, c.rule)
		if r.Verdict != analysis.VerdictExpected || !strings.Contains(r.Reason, c.lacks) || len(r.Evidence) == 0 {
			t.Errorf("%s: %s is %s: %s", name, c.rule, r.Verdict, r.Reason)
		}
		if v := variantOf(t, res, c.sw); v.State != analysis.StateProven || v.Variant != c.variant || v.MendedBy != c.lacks || v.By == nil {
			t.Errorf("%s: %+v", name, v)
		}
		tr.expect(t, c.rule, "latest", analysis.VerdictFail)
		tr.expect(t, c.rule, c.sw+"="+c.variant, analysis.VerdictExpected)
	}
}

// The newer variants are proven by what only they allow.
func TestProven(t *testing.T) {
	tr := newTrace()
	tr.head = true
	tr.list(true) // goes on after BQL stopped the queue
	r := tr.run()
	r.dequeue(5, 142, 0)
	r.send(sent{n: 5, rest: 3, stop: event.DrvXoff})
	r.end()
	tr.state = 0
	r = tr.run()
	r.fromGSO(142)
	r.send(sent{n: 1, stopped: true})
	r.end()
	tr.drain(5)
	res := tr.analyze(t, "auto", nil)
	for sw, want := range map[string]string{"xmit-stop": "drv", "requeue": "head"} {
		if v := variantOf(t, res, sw); v.State != analysis.StateProven || v.Variant != want {
			t.Errorf("%s: %+v", sw, v)
		}
	}
}

// What an old variant allows because it lacks a check is a fault, unless the
// kernel was seen to do what only that variant does.
func TestLackOfChecksProvesNothing(t *testing.T) {
	many := func(strange ...func(*event.Throttle)) *trace {
		tr := newTrace()
		for range 50 {
			tr.throttle()
		}
		for _, change := range strange {
			change(tr.throttle())
		}
		return tr
	}
	empty := func(e *event.Throttle) { e.Rtx = event.RtxEmpty }
	low := func(e *event.Throttle) { e.WmemEnd, e.PacingRate = e.Truesize+1, 1000 } // above one skb, below two
	for name, c := range map[string]struct {
		t       *trace
		rule    string
		want    analysis.Verdict
		sw      string
		state   string
		variant string
	}{
		"empty retransmit queue":                {many(empty), "T2", analysis.VerdictFail, "tsq-limit", analysis.StateUndecided, "always"},
		"one, exempted since 6.6":               {many(func(e *event.Throttle) { e.Rtx = event.RtxOne }), "T2", analysis.VerdictExpected, "tsq-exempt", analysis.StateProven, "empty"},
		"below two skbs":                        {many(low), "T2", analysis.VerdictExpected, "tsq-limit", analysis.StateProven, "rate"},
		"both":                                  {many(low, empty), "T2", analysis.VerdictExpected, "tsq-limit", analysis.StateProven, "rate"},
		"a run goes on past the quota":          {past(60), "D4", analysis.VerdictFail, "quota", analysis.StateUndecided, "after"},
		"as many restarts, and nothing is left": {past(64), "D4", analysis.VerdictFail, "quota", analysis.StateUndecided, "after"},
		"as many restarts, and it is scheduled": {past(64, func(r *event.Run) { r.Rescheduled = 1 }), "D4", analysis.VerdictExpected, "quota", analysis.StateProven, "restarts"},
		"fewer restarts, yet it is scheduled":   {past(63, func(r *event.Run) { r.Rescheduled = 1 }), "D4", analysis.VerdictFail, "quota", analysis.StateUndecided, "after"},
		"one packet each, as many as the quota": {past(0), "D4", analysis.VerdictPass, "quota", analysis.StateUndecided, "after"},
	} {
		res := c.t.analyze(t, "auto", nil)
		r := ruling(t, res, c.rule)
		if v := variantOf(t, res, c.sw); r.Verdict != c.want || v.State != c.state || v.Variant+v.JudgedAs != c.variant {
			t.Errorf("%s: %s %s; %+v", name, r.Verdict, r.Reason, v)
		}
		if (r.Verdict == analysis.VerdictPass) != (len(r.Evidence) == 0) {
			t.Errorf("%s: evidence %+v", name, r.Evidence)
		}
		if r.Verdict == analysis.VerdictExpected && r.Expected > 2 {
			t.Errorf("%s: %d expected", name, r.Expected)
		}
	}
	rate := many(low)
	if r := rate.expect(t, "T2", "auto", analysis.VerdictExpected); !strings.Contains(r.Reason, "tsq-limit=rate") || r.Held != 50 {
		t.Errorf("%+v", r)
	}
	many(low, empty).expect(t, "T2", "tsq-limit=rate", analysis.VerdictPass)
	rate.expect(t, "T2", "latest", analysis.VerdictFail)
}

// past is a run of 64 batches of one packet, and one of n batches of two
// packets that leaves the qdisc unscheduled.
func past(n int, change ...func(*event.Run)) *trace {
	t := newTrace()
	for _, size := range []uint32{1, 2} {
		batches := n
		if size == 1 {
			batches = 64
		}
		if batches == 0 {
			continue
		}
		r := t.run()
		for range batches {
			r.dequeue(size, 142, 50)
			r.send(sent{})
		}
		rec := r.end()
		if size == 2 {
			rec.Rescheduled, rec.QdiscStateEnd = 0, 0
			for _, c := range change {
				c(rec)
			}
		}
	}
	return t
}

// A contradiction shows the events that contradict each other.
func TestContradictionShown(t *testing.T) {
	for name, c := range map[string]struct {
		rule, sw string
		build    func(*trace)
		says     []string
	}{
		"bulk": {"D2", "bulk", func(t *trace) {
			for range 5 {
				batch(65, 10, sent{}, nil)(t)
			}
			batch(66, 10, sent{}, nil)(t)
		}, []string{"66 packets with a quota of 64 left: more than bulk=budget allows", "ended at 65 packets with a quota of 64 left, although"}},
		"quota": {"D4", "quota", func(t *trace) {
			for range 5 {
				batch(65, 10, sent{}, nil)(t)
			}
			r := t.run()
			for range 64 {
				r.dequeue(2, 142, 50)
				r.send(sent{})
			}
			r.end()
		}, []string{"128 packets, 126 of them before its last restart (quota=after)", "65 packets and scheduled the qdisc again (0 before its last restart, quota=restarts)"}},
	} {
		tr := newTrace()
		c.build(tr)
		res := tr.analyze(t, "auto", nil)
		r := ruling(t, res, c.rule)
		if r.Verdict != analysis.VerdictInconclusive || variantOf(t, res, c.sw).State != analysis.StateContradicted || len(r.Evidence) != len(c.says) {
			t.Errorf("%s: %+v", name, r)
			continue
		}
		for i, e := range r.Evidence {
			if !strings.Contains(e.Says, c.says[i]) {
				t.Errorf("%s: %s, want %s", name, e.Says, c.says[i])
			}
		}
	}
}

// The limit of TSQ: what tells its variants apart.
func TestTSQVariants(t *testing.T) {
	throttle := func(change func(*event.Throttle)) *trace {
		tr := newTrace()
		change(tr.throttle())
		return tr
	}
	// Above the sysctl, below two skbs, paced: only the capped limit says so.
	capped := throttle(func(e *event.Throttle) { e.PacingStatus, e.LimitSysctl, e.WmemEnd = 2, 16384, 30000 })
	if v := variantOf(t, capped.analyze(t, "auto", nil), "tsq-limit"); strings.Join(v.Left, " ") != "constant always" {
		t.Errorf("%+v", v)
	}
	capped.expect(t, "T2", "tsq-limit=unpaced", analysis.VerdictFail)
	// The same in the first call of a socket that fq has just begun to pace.
	first := throttle(func(e *event.Throttle) { e.PacingStatus, e.LimitSysctl, e.WmemEnd = 2, 16384, 30000 })
	e := last[event.Throttle](first, 0)
	e.Birth = e.Begin()
	first.expect(t, "T2", "tsq-limit=unpaced", analysis.VerdictInconclusive)
	// One skb to be acknowledged exempts newer kernels.
	one := throttle(func(e *event.Throttle) { e.Rtx = event.RtxOne })
	one.expect(t, "T2", "tsq-exempt=empty", analysis.VerdictExpected)
	one.expect(t, "T2", "latest", analysis.VerdictFail)
	// Older limits knew no exemption, so neither switch is decided alone; the
	// newest of both together cannot be.
	one.expect(t, "T2", "auto", analysis.VerdictExpected)
	// Freed meanwhile: above the limit before, so held by the bound.
	freed := throttle(func(e *event.Throttle) { e.WmemEnd, e.Freed = 100<<10, 200<<10 })
	freed.expect(t, "T2", "latest", analysis.VerdictPass)
	little := throttle(func(e *event.Throttle) { e.WmemEnd, e.Freed = 100<<10, 5<<10 })
	little.expect(t, "T2", "latest", analysis.VerdictInconclusive)
	overlap := throttle(func(e *event.Throttle) { e.WmemEnd, e.Overlap = 100, 1 })
	overlap.expect(t, "T2", "latest", analysis.VerdictInconclusive)
}

// T3 row by row, after the table of measured cases.
func TestT3(t *testing.T) {
	for name, c := range map[string]struct {
		change func(*event.Wfree)
		want   analysis.Verdict
	}{
		"queued":                          {func(w *event.Wfree) {}, analysis.VerdictPass},
		"queued, throttled again":         {func(w *event.Wfree) { w.TSQEnd |= event.TSQThrottled }, analysis.VerdictPass},
		"ksoftirqd, little in flight":     {func(w *event.Wfree) { w.Ksoftirqd, w.WmemBegin, w.WmemEnd = 1, 1100, 101 }, analysis.VerdictPass},
		"ksoftirqd, much in flight":       {func(w *event.Wfree) { w.Ksoftirqd, w.TSQEnd, w.WmemEnd = 1, w.TSQBegin, 99001 }, analysis.VerdictPass},
		"ksoftirqd, moved meanwhile":      {func(w *event.Wfree) { w.Ksoftirqd, w.WmemEnd = 1, 100 }, analysis.VerdictInconclusive},
		"ksoftirqd, unexcused":            {func(w *event.Wfree) { w.Ksoftirqd, w.WmemBegin, w.WmemEnd, w.TSQEnd = 1, 1100, 100, w.TSQBegin }, analysis.VerdictFail},
		"ksoftirqd at the very threshold": {func(w *event.Wfree) { w.Ksoftirqd, w.WmemBegin, w.WmemEnd, w.TSQEnd = 1, 1576, 576, w.TSQBegin }, analysis.VerdictPass},
		"left alone, overlapped":          {func(w *event.Wfree) { w.TSQEnd, w.Overlap = w.TSQBegin, 1 }, analysis.VerdictInconclusive},
		"left alone":                      {func(w *event.Wfree) { w.TSQEnd, w.WmemEnd = w.TSQBegin, 99001 }, analysis.VerdictFail},
		"gone":                            {func(w *event.Wfree) { w.TSQEnd, w.WmemEnd = 0, 99001 }, analysis.VerdictFail},
		"the end may not be read":         {func(w *event.Wfree) { w.WmemEnd = 0 }, analysis.VerdictPass},
	} {
		tr := newTrace()
		c.change(tr.wfree())
		if r := ruling(t, tr.analyze(t, "latest", nil), "T3"); r.Verdict != c.want {
			t.Errorf("%s: %s, want %s %+v", name, r.Verdict, c.want, r.Undecided)
		}
	}
}

// What is missing makes the instances that need it undecided, and no others.
func TestLossPoisonsWindows(t *testing.T) {
	tr := bulk(20, 65, 10)
	at := func(nth int, is func(event.Any) bool) int {
		for i, r := range tr.recs {
			if is(r) {
				if nth--; nth < 0 {
					return i
				}
			}
		}
		return -1
	}
	isDirect := func(r event.Any) bool { _, ok := r.(*event.Direct); return ok }
	lost := at(3, isDirect)
	res := tr.analyze(t, "auto", func(i int) bool { return i == lost })
	d1 := ruling(t, res, "D1")
	if d1.Held != 19 || d1.Inconclusive != 1 || d1.Undecided[0].Reason != analysis.Lost {
		t.Errorf("D1: held %d, undecided %+v", d1.Held, d1.Undecided)
	}
	if r1 := ruling(t, res, "R1"); r1.Held != 19 {
		t.Errorf("R1: held %d, undecided %+v", r1.Held, r1.Undecided)
	}
	// The bound of packets needs the dequeue's own record only.
	over := bulk(3, 224, 10)
	lost = at(1, isDirect)
	if r := ruling(t, over.analyze(t, "latest", func(i int) bool { return i == lost }), "D2"); r.Fails != 3 {
		t.Errorf("D2: %+v", r)
	}
	m1 := ruling(t, res, "M1")
	if m1.Verdict != analysis.VerdictInconclusive || res.Verify.Exit != analysis.ExitInconclusive {
		t.Errorf("M1: %s, exit %d", m1.Verdict, res.Verify.Exit)
	}
	if res.Verify.Lost.Records != 1 || res.Verify.Lost.Gaps != 1 {
		t.Errorf("%+v", res.Verify.Lost)
	}
}

// A gap that is found later than the instance it speaks against: a lost
// completion explains why a stopped queue runs again.
func TestLossFoundLater(t *testing.T) {
	tr := newTrace()
	tr.snapshot()
	tr.state |= event.StackXoff
	tr.dql.NumQueued += 100_000
	tr.complete(1000)
	tr.cpu = 1
	tr.put(&event.Wfree{TSQBegin: 1, TSQEnd: 2}, 0)
	tr.cpu = 0
	tr.state = 0
	r := tr.run()
	r.dequeue(1, 142, 0)
	r.send(sent{})
	r.end()
	tr.tick(1_000_000)
	tr.cpu = 1
	tr.put(&event.Wfree{TSQBegin: 1, TSQEnd: 2}, 0)
	tr.put(&event.Wfree{TSQBegin: 1, TSQEnd: 2}, 0)
	tr.expect(t, "B16", "auto", analysis.VerdictFail)
	n := len(tr.recs)
	res := tr.analyze(t, "auto", func(i int) bool { return i == n-2 })
	if r := ruling(t, res, "B16"); r.Fails != 0 || r.Inconclusive != 1 || r.Undecided[0].Reason != analysis.Lost {
		t.Errorf("%+v", r)
	}
}

// That no other CPU looks at a queue is seen by its snapshots alone: one that
// is lost may be of a CPU that was writing when another looked.
func TestLossOfAnotherCPU(t *testing.T) {
	tr := newTrace()
	tr.snapshot()
	at := len(tr.recs)
	tr.cpu = 1
	tr.put(&event.Wfree{TSQBegin: 1, TSQEnd: 2}, 0) // or a snapshot of the queue
	tr.put(&event.Wfree{TSQBegin: 1, TSQEnd: 2}, 0)
	tr.cpu = 0
	tr.dql.NumQueued += 100_000
	tr.complete(142)
	tr.state = event.StackXoff
	tr.snapshot()
	tr.state = 0
	tr.alone(142, sent{n: 1})
	tr.expect(t, "B16", "latest", analysis.VerdictFail)
	res := tr.analyze(t, "latest", func(i int) bool { return i == at })
	if r := ruling(t, res, "B16"); r.Fails != 0 || len(r.Undecided) == 0 || r.Undecided[0].Reason != analysis.Lost {
		t.Errorf("%+v", r)
	}
}

// Runs of a hook's program that the kernel skipped speak against rules that
// need every call.
func TestSkippedPrograms(t *testing.T) {
	tr := legal()
	spoils["X6"][0].spoil(tr)
	l := &event.Ledger{Program: 7, Missed: 3} // net_dev_xmit
	tr.own(l)
	tr.footer = tr.foot(nil)
	for i := range tr.footer.Ledger {
		if row := &tr.footer.Ledger[i]; row.Program == 7 && row.CPU == 0 {
			row.Missed = 3
		}
	}
	if r := ruling(t, tr.analyze(t, "latest", nil), "X6"); r.Fails != 0 || r.Inconclusive == 0 {
		t.Errorf("%+v", r)
	}
}
