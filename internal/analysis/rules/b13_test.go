// SPDX-License-Identifier: Apache-2.0

package rules

import (
	"strings"
	"testing"

	"github.com/txtrace/txtrace/internal/analysis"
	"github.com/txtrace/txtrace/internal/event"
	"github.com/txtrace/txtrace/internal/model"
)

// stepB13 is a completion of so many bytes, after which something else may
// change the state: a wrong kernel, or somebody who writes to limit.
func (t *trace) stepB13(bytes uint32, change func(before model.DQL, d *model.DQL)) *event.Complete {
	t.tick(500)
	before := t.dql
	if err := t.dql.Completed(bytes, t.jiffies); err != nil {
		panic(err)
	}
	if change != nil {
		change(before, &t.dql)
	}
	return t.snapshot()
}

// steady makes n completions at a limit that stays, with bytes left in flight.
func (t *trace) steady(n int, change func(before model.DQL, d *model.DQL)) {
	for range n {
		t.dql.NumQueued += 5000
		t.stepB13(5000, change)
	}
}

// grow makes one completion that leaves the queue above its limit, and one in
// which that grows, because the queue ran dry.
func (t *trace) grow(change func(before model.DQL, d *model.DQL)) {
	t.dql.NumQueued += t.dql.Limit
	t.stepB13(1000, change)
	t.dql.NumQueued += 1000
	t.stepB13(t.dql.InFlight()-1000, change)
}

// wrongGrowth adds to each growth of the limit.
func wrongGrowth(before model.DQL, d *model.DQL) {
	if d.Limit > before.Limit {
		d.Limit += 700
		d.AdjLimit += 700
	}
}

// drift adds a little to every limit.
func drift(_ model.DQL, d *model.DQL) {
	d.Limit += 3
	d.AdjLimit += 3
}

// begunB13 is a queue with bytes in flight, and a first snapshot.
func begunB13() *trace {
	t := newTrace()
	t.dql.NumQueued, t.dql.LastObjCnt = 2000, 1000
	t.snapshot()
	return t
}

// A wrong limit is a fail, however a write to limit might explain each step. A
// write now and then is none.
func TestWrongLimits(t *testing.T) {
	writes := func(every int, value uint32) func(model.DQL, *model.DQL) {
		n := 0
		return func(_ model.DQL, d *model.DQL) {
			if n++; n%every == 0 { // takes effect at the completion after it
				d.Limit = value + uint32(n)
				d.AdjLimit = d.NumCompleted + d.Limit
			}
		}
	}
	twoCPUs := func(t *trace) {
		for i, r := range t.recs {
			if c, ok := r.(*event.Complete); ok {
				c.CPU = uint16(i & 1)
			}
		}
		for cpu := range uint16(2) { // renumber
			t.seq[cpu] = 0
		}
		for _, r := range t.recs {
			if h := r.Head(); h.CPU < 2 {
				h.Seq = t.seq[h.CPU]
				t.seq[h.CPU]++
			}
		}
	}
	for name, c := range map[string]struct {
		build func(*trace)
		want  analysis.Verdict
		fails int
		also  [2]int // suspect, undecided
	}{
		"right":            {func(t *trace) { t.steady(300, nil); t.grow(nil); t.grow(nil) }, analysis.VerdictPass, 0, [2]int{0, 0}},
		"drift":            {func(t *trace) { t.steady(300, drift) }, analysis.VerdictFail, 300 - 8, [2]int{8, 0}},
		"drift, two CPUs":  {func(t *trace) { t.steady(300, drift); twoCPUs(t) }, analysis.VerdictFail, 300 - 8, [2]int{0, 8}},
		"one write":        {func(t *trace) { t.steady(300, writes(200, 40_000)) }, analysis.VerdictSuspect, 0, [2]int{1, 0}},
		"eight in a row":   {func(t *trace) { t.steady(100, nil); t.steady(8, drift); t.steady(100, nil) }, analysis.VerdictSuspect, 0, [2]int{8, 0}},
		"nine in a row":    {func(t *trace) { t.steady(100, nil); t.steady(9, drift); t.steady(100, nil) }, analysis.VerdictFail, 1, [2]int{8, 0}},
		"every eighth":     {func(t *trace) { t.steady(300, writes(8, 40_000)) }, analysis.VerdictSuspect, 0, [2]int{37, 0}},
		"every seventh":    {func(t *trace) { t.steady(63, writes(7, 40_000)) }, analysis.VerdictFail, 1, [2]int{8, 0}},
		"every step, seen": {func(t *trace) { t.steady(3, nil); t.dql.Limit = 7; t.snapshot(); t.steady(300, drift) }, analysis.VerdictSuspect, 0, [2]int{300, 1}},
		"every step, one seen after a completion": {func(t *trace) {
			t.steady(3, nil)
			t.steady(1, func(_ model.DQL, d *model.DQL) { d.Limit = 70_000 })
			t.steady(300, drift)
		}, analysis.VerdictSuspect, 0, [2]int{300, 0}},
		"wrong growth": {func(t *trace) {
			for range 4 {
				t.steady(64, nil)
				t.grow(wrongGrowth)
			}
		}, analysis.VerdictFail, 1, [2]int{4, 0}},
		"wrong growth, two CPUs": {func(t *trace) {
			for range 4 {
				t.steady(64, nil)
				t.grow(wrongGrowth)
			}
			twoCPUs(t)
		}, analysis.VerdictFail, 1, [2]int{0, 4}},
		"wrong growth, too few": {func(t *trace) {
			for range 3 {
				t.steady(64, nil)
				t.grow(wrongGrowth)
			}
		}, analysis.VerdictSuspect, 0, [2]int{3, 0}},
		"wrong growth, and a write": {func(t *trace) {
			for range 4 {
				t.steady(64, nil)
				t.grow(wrongGrowth)
			}
			t.steady(1, drift)
		}, analysis.VerdictSuspect, 0, [2]int{5, 0}},
		"the limit moves all the time": {func(t *trace) {
			for range 4 {
				t.steady(20, nil)
				t.grow(wrongGrowth)
			}
		}, analysis.VerdictSuspect, 0, [2]int{4, 0}},
		"wrong growth of an unknown driver": {func(t *trace) {
			t.header.Devices[0].Driver = "tg3"
			for range 4 {
				t.steady(64, nil)
				t.grow(wrongGrowth)
			}
		}, analysis.VerdictInconclusive, 0, [2]int{0, 4}},
		"too few for an unknown driver": {func(t *trace) {
			t.header.Devices[0].Driver = "tg3"
			for range 3 {
				t.steady(64, nil)
				t.grow(wrongGrowth)
			}
		}, analysis.VerdictPass, 0, [2]int{0, 3}},
		"mostly right for an unknown driver": {func(t *trace) {
			t.header.Devices[0].Driver = "tg3"
			for range 4 {
				t.grow(nil)
				t.grow(wrongGrowth)
			}
		}, analysis.VerdictPass, 0, [2]int{0, 4}},
		"wrong growth, and a write that is seen": {func(t *trace) {
			for range 4 {
				t.steady(64, nil)
				t.grow(wrongGrowth)
			}
			t.steady(1, func(_ model.DQL, d *model.DQL) { d.Limit = 70_000 })
		}, analysis.VerdictSuspect, 0, [2]int{4, 0}},
		"wrong growth in one of 32": {func(t *trace) {
			for range 4 {
				t.steady(30, nil)
				t.grow(wrongGrowth)
			}
		}, analysis.VerdictFail, 1, [2]int{4, 0}},
		"wrong growth in one of 31": {func(t *trace) {
			for i := range 4 {
				t.steady(30-i&1, nil)
				t.grow(wrongGrowth)
			}
		}, analysis.VerdictSuspect, 0, [2]int{4, 0}},
		"one write, unknown driver": {func(t *trace) {
			t.header.Devices[0].Driver = "tg3"
			t.steady(10, nil)
			t.tick(20 * nsPerJiffy)
			t.steady(300, writes(200, 40_000))
		}, analysis.VerdictSuspect, 0, [2]int{1, 0}},
		"unclear where the limit stays": {func(t *trace) {
			t.header.Devices[0].Driver = "tg3"
			t.steady(20, nil)
			for range 9 {
				t.steady(1, func(_ model.DQL, d *model.DQL) { d.LowestSlack -= 9 })
			}
		}, analysis.VerdictPass, 0, [2]int{0, 9}},
		"used unseen while empty": {func(t *trace) {
			t.steady(10, nil)
			t.stepB13(t.dql.InFlight(), nil)
			t.dql.NumQueued += 90_000 // over the limit, and no look between the two completions
			if t.dql.Completed(10_000, t.jiffies) != nil {
				panic("too much")
			}
			t.stepB13(t.dql.InFlight()-100, nil)
		}, analysis.VerdictPass, 0, [2]int{0, 0}},
	} {
		tr := begunB13()
		c.build(tr)
		r := tr.expect(t, "B13", "auto", c.want)
		if got := [2]int{int(r.Suspects), int(r.Inconclusive)}; int(r.Fails) != c.fails || got != c.also || r.Verdict != c.want {
			t.Errorf("%s: %s, %d fails, %v, want %d, %v: held %d, undecided %+v", name, r.Verdict, r.Fails, got, c.fails, c.also, r.Held, r.Undecided)
		}
		for _, e := range r.Evidence {
			if !strings.Contains(e.Says, "explain it") || strings.Contains(e.Says, "%!") {
				t.Errorf("%s: %s", name, e.Says)
			}
		}
	}
}

// What fails because several steps together are odd rests on all the records
// from the first of them to the last.
func TestWrongLimitsLost(t *testing.T) {
	mark := func(t *trace) int { // a record of another CPU
		t.cpu = 1
		t.put(&event.Wfree{TSQBegin: 1, TSQEnd: 2, WmemBegin: 2305, Truesize: 2304}, 0)
		t.cpu = 0
		return len(t.recs) - 1
	}
	grows := func(t *trace, n int) {
		for range n {
			t.steady(64, nil)
			t.grow(wrongGrowth)
		}
	}
	for name, build := range map[string]func(*trace) (before, in, after int){
		"nine in a row": func(t *trace) (before, in, after int) {
			t.steady(20, nil)
			mark(t)
			before = mark(t)
			mark(t)
			t.steady(70, nil) // a snapshot of another CPU is forgotten
			t.steady(5, drift)
			mark(t)
			in = mark(t)
			mark(t)
			t.steady(1, nil) // whose window the gap is in
			t.steady(4, drift)
			mark(t)
			after = mark(t)
			mark(t)
			return before, in, after
		},
		"wrong growth": func(t *trace) (before, in, after int) {
			mark(t)
			before = mark(t)
			mark(t)
			grows(t, 3)
			in = mark(t)
			grows(t, 1)
			mark(t)
			after = mark(t)
			mark(t)
			grows(t, 1)
			return before, in, after
		},
	} {
		tr := begunB13()
		before, in, after := build(tr)
		for what, c := range map[string]struct {
			lost  int
			fails uint64
		}{"nothing": {-1, 1}, "before": {before, 1}, "in": {in, 0}, "after": {after, 1}} {
			r := ruling(t, tr.analyze(t, "auto", func(i int) bool { return i == c.lost }), "B13")
			if uint64(r.Fails) != c.fails {
				t.Errorf("%s, %s is lost: %d fails, undecided %+v", name, what, r.Fails, r.Undecided)
			}
			if c.fails > 0 && len(r.Evidence) != 1 {
				t.Errorf("%s, %s is lost: %+v", name, what, r.Evidence)
			}
		}
	}
	// Two completions that look like one because a record is lost.
	tr := begunB13()
	tr.steady(3, nil)
	tr.grow(nil)
	n := len(tr.recs)
	tr.steady(3, nil)
	res := tr.analyze(t, "auto", func(i int) bool { return i == n-2 })
	if r := ruling(t, res, "B13"); r.Suspects != 0 || r.Fails != 0 || r.Inconclusive != 1 {
		t.Errorf("%+v", r)
	}
}

// The evidence of steps that are odd together is that of the first.
func TestWrongGrowthShown(t *testing.T) {
	tr := begunB13()
	var first uint64
	for i := range 4 {
		tr.steady(64, nil)
		tr.grow(wrongGrowth)
		if i == 0 {
			first = last[event.Complete](tr, 0).Time
		}
	}
	r := tr.expect(t, "B13", "auto", analysis.VerdictFail)
	if len(r.Evidence) != 1 || uint64(r.Evidence[0].TimeNS) != first {
		t.Errorf("%+v, want %d", r.Evidence, first)
	}
}
