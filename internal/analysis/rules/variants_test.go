// SPDX-License-Identifier: Apache-2.0

package rules

import (
	"strings"
	"testing"

	"github.com/txtrace/txtrace/internal/analysis"
	"github.com/txtrace/txtrace/internal/event"
	"github.com/txtrace/txtrace/internal/model"
)

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
