// SPDX-License-Identifier: Apache-2.0

package rules

import (
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
	}{
		"right":            {func(t *trace) { t.steady(300, nil); t.grow(nil); t.grow(nil) }, analysis.VerdictPass, 0},
		"drift":            {func(t *trace) { t.steady(300, drift) }, analysis.VerdictFail, 300 - 8},
		"drift, two CPUs":  {func(t *trace) { t.steady(300, drift); twoCPUs(t) }, analysis.VerdictFail, 300 - 8},
		"one write":        {func(t *trace) { t.steady(300, writes(200, 40_000)) }, analysis.VerdictSuspect, 0},
		"eight in a row":   {func(t *trace) { t.steady(100, nil); t.steady(8, drift); t.steady(100, nil) }, analysis.VerdictSuspect, 0},
		"nine in a row":    {func(t *trace) { t.steady(100, nil); t.steady(9, drift); t.steady(100, nil) }, analysis.VerdictFail, 1},
		"every eighth":     {func(t *trace) { t.steady(300, writes(8, 40_000)) }, analysis.VerdictSuspect, 0},
		"every seventh":    {func(t *trace) { t.steady(63, writes(7, 40_000)) }, analysis.VerdictFail, 1},
		"every step, seen": {func(t *trace) { t.steady(3, nil); t.dql.Limit = 7; t.snapshot(); t.steady(300, drift) }, analysis.VerdictSuspect, 0},
		"every step, one seen after a completion": {func(t *trace) {
			t.steady(3, nil)
			t.steady(1, func(_ model.DQL, d *model.DQL) { d.Limit = 70_000 })
			t.steady(300, drift)
		}, analysis.VerdictSuspect, 0},
		"wrong growth": {func(t *trace) {
			for range 4 {
				t.steady(64, nil)
				t.grow(wrongGrowth)
			}
		}, analysis.VerdictFail, 1},
		"wrong growth, two CPUs": {func(t *trace) {
			for range 4 {
				t.steady(64, nil)
				t.grow(wrongGrowth)
			}
			twoCPUs(t)
		}, analysis.VerdictFail, 1},
		"wrong growth, too few": {func(t *trace) {
			for range 3 {
				t.steady(64, nil)
				t.grow(wrongGrowth)
			}
		}, analysis.VerdictSuspect, 0},
		"wrong growth, and a write": {func(t *trace) {
			for range 4 {
				t.steady(64, nil)
				t.grow(wrongGrowth)
			}
			t.steady(1, drift)
		}, analysis.VerdictSuspect, 0},
		"the limit moves all the time": {func(t *trace) {
			for range 4 {
				t.steady(20, nil)
				t.grow(wrongGrowth)
			}
		}, analysis.VerdictSuspect, 0},
		"wrong growth of an unknown driver": {func(t *trace) {
			t.header.Devices[0].Driver = "tg3"
			for range 4 {
				t.steady(64, nil)
				t.grow(wrongGrowth)
			}
		}, analysis.VerdictInconclusive, 0},
		"too few for an unknown driver": {func(t *trace) {
			t.header.Devices[0].Driver = "tg3"
			for range 3 {
				t.steady(64, nil)
				t.grow(wrongGrowth)
			}
		}, analysis.VerdictPass, 0},
		"mostly right for an unknown driver": {func(t *trace) {
			t.header.Devices[0].Driver = "tg3"
			for range 4 {
				t.grow(nil)
				t.grow(wrongGrowth)
			}
		}, analysis.VerdictPass, 0},
		"used unseen while empty": {func(t *trace) {
			t.steady(10, nil)
			t.stepB13(t.dql.InFlight(), nil)
			t.dql.NumQueued += 90_000 // over the limit, and no look between the two completions
			if t.dql.Completed(10_000, t.jiffies) != nil {
				panic("too much")
			}
			t.stepB13(t.dql.InFlight()-100, nil)
		}, analysis.VerdictPass, 0},
	} {
		tr := begunB13()
		c.build(tr)
		r := tr.expect(t, "B13", "auto", c.want)
		if int(r.Fails) != c.fails {
			t.Errorf("%s: %d fails, want %d: held %d, suspect %d, undecided %+v", name, r.Fails, c.fails, r.Held, r.Suspects, r.Undecided)
		}
		if r.Verdict != c.want {
			t.Errorf("%s: %s", name, r.Verdict)
		}
	}
}

// A lost record withdraws what is suspect, and the fail that rests on it.
func TestWrongLimitsLost(t *testing.T) {
	tr := begunB13()
	tr.steady(3, nil)
	tr.grow(nil) // two completions
	n := len(tr.recs)
	tr.steady(3, nil)
	res := tr.analyze(t, "auto", func(i int) bool { return i == n-2 })
	if r := ruling(t, res, "B13"); r.Suspects != 0 || r.Fails != 0 || r.Inconclusive != 1 {
		t.Errorf("%+v", r)
	}
}
