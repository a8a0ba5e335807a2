// SPDX-License-Identifier: Apache-2.0

package model

import (
	"testing"

	"pgregory.net/rapid"
)

// steps checks many random steps of one queue. begin runs the queue a little
// and returns the state and the time before the step.
func steps(t *testing.T, step func(w *world, begin func() (DQL, uint64))) {
	rapid.Check(t, func(t *rapid.T) {
		w := newWorld(t)
		for range 25 {
			step(w, func() (DQL, uint64) {
				for range rapid.IntRange(0, 3).Draw(t, "before") {
					w.queue()
					w.tick()
					w.complete()
				}
				w.queue()
				return w.d, w.now
			})
		}
	})
}

// A step through one completion is equal, however queueing, the clock, a reset
// and a write to limit after it interleave.
func TestExplainOneCompletion(t *testing.T) {
	steps(t, func(w *world, begin func() (DQL, uint64)) {
		before, from := begin()
		reset := rapid.SampledFrom([]string{"no", "no", "no", "before", "after"}).Draw(w.T, "when reset")
		w.tick()
		if reset == "before" {
			w.reset()
		}
		w.tick()
		w.queue()
		done := w.complete()
		w.tick()
		if reset == "after" {
			w.reset()
		}
		w.queue()
		written := rapid.IntRange(0, 4).Draw(w.T, "write") == 0
		if written {
			w.d.Limit = rapid.Uint32Range(0, 200000).Draw(w.T, "limit")
		}
		e := Explain(before, w.d, Window{From: from, To: w.now, Completions: 1})

		want := map[Outcome]bool{OutcomeEqual: done}
		if reset != "no" {
			// A queue may come back to a state it had within the same tick.
			want = map[Outcome]bool{OutcomeReset: true, OutcomeEqual: done, OutcomeIdle: true, OutcomeAdmin: true}
		}
		if !done {
			want[OutcomeIdle], want[OutcomeAdmin] = true, written || reset != "no"
			// A reset of a reset queue leaves a trace in slack_start_time only.
			want[OutcomeUndecided] = reset != "no"
		}
		if !want[e.Outcome] {
			w.Fatalf("%+v, want one of %v\nbefore %+v\nafter  %+v", e, want, before, w.d)
		}
	})
}

// Two completions of which the second found the queue over its limit are
// always explained, and the split is where the first ended.
func TestExplainTwoCompletions(t *testing.T) {
	splits := 0
	steps(t, func(w *world, begin func() (DQL, uint64)) {
		before, from := begin()
		w.tick()
		w.queue()
		if !w.complete() {
			return
		}
		mid := w.d
		w.queue()
		w.tick()
		if !w.complete() || w.d.PrevOvlimit == 0 {
			return
		}
		e := Explain(before, w.d, Window{From: from, To: w.now})
		switch {
		case e.Outcome == OutcomeReset: // that leads there as well
		case e.Outcome != OutcomeSplit || e.First != mid.NumCompleted-before.NumCompleted:
			w.Fatalf("%+v\nbefore %+v\nmid    %+v\nafter  %+v", e, before, mid, w.d)
		default:
			splits++
		}
	})
	t.Logf("%d splits", splits)
}

// However many completions and resets lie between, a right kernel is never
// called unequal if their number is not known, and a split says rightly where
// the last completion started.
func TestExplainNeverAccuses(t *testing.T) {
	steps(t, func(w *world, begin func() (DQL, uint64)) {
		before, from := begin()
		var start uint32
		reset := false
		for range rapid.IntRange(1, 5).Draw(w.T, "completions") {
			w.tick()
			w.queue()
			if rapid.IntRange(0, 15).Draw(w.T, "reset") == 0 {
				w.reset()
				reset = true
			}
			if last := w.d.NumCompleted; w.complete() {
				start = last
			}
			w.queue()
		}
		e := Explain(before, w.d, Window{From: from, To: w.now})
		if e.Outcome == OutcomeUnequal {
			w.Fatalf("%+v\nbefore %+v\nafter  %+v", e, before, w.d)
		}
		if e.Outcome == OutcomeSplit && !reset && e.First != start-before.NumCompleted {
			w.Fatalf("%+v, want first %d\nbefore %+v\nafter  %+v", e, start-before.NumCompleted, before, w.d)
		}
	})
}

// A write to limit before the completion cannot be told from a wrong kernel,
// but it is always named.
func TestExplainWriteInBetween(t *testing.T) {
	steps(t, func(w *world, begin func() (DQL, uint64)) {
		before, from := begin()
		w.tick()
		w.d.Limit = rapid.OneOf(
			rapid.Uint32Range(0, 200000),
			rapid.Uint32Range(0, DQLMaxLimit),
			rapid.SampledFrom([]uint32{0, w.d.MinLimit, w.d.MaxLimit, DQLMaxLimit}),
		).Draw(w.T, "limit")
		w.queue()
		known := rapid.SampledFrom([]int{0, 1}).Draw(w.T, "known")
		for range rapid.IntRange(1, 4-3*known).Draw(w.T, "completions") {
			w.complete()
			w.tick()
			w.queue()
		}
		e := Explain(before, w.d, Window{From: from, To: w.now, Completions: known})
		if e.Outcome != OutcomeUnequal {
			return
		}
		if e.Write == nil {
			w.Fatalf("%+v\nbefore %+v\nafter  %+v", e, before, w.d)
		}
		if known == 1 {
			before.Limit = *e.Write
			if e := Explain(before, w.d, Window{From: from, To: w.now, Completions: known}); e.Outcome != OutcomeEqual {
				w.Fatalf("with that written: %+v\nbefore %+v\nafter  %+v", e, before, w.d)
			}
		}
	})
}

// Any field of the after-state changed: equal if and only if some time of the
// window leads there.
func TestExplainPerturbed(t *testing.T) {
	var equal, unequal int
	rapid.Check(t, func(t *rapid.T) {
		w := newWorld(t)
		w.warm()
		w.queue()
		before, win := w.d, Window{From: w.now, Completions: 1}
		w.tick()
		if !w.complete() {
			return
		}
		w.tick()
		win.To = w.now
		after := w.d
		delta := rapid.OneOf(rapid.SampledFrom([]uint32{1, 2, 1 << 31, 1<<32 - 1, 1<<32 - 2, 1514}), rapid.Uint32Range(1, 1<<32-1)).Draw(t, "delta")
		field := rapid.SampledFrom([]string{"limit", "adj_limit", "prev_ovlimit", "lowest_slack", "slack_start_time", "num_completed", "prev_num_queued"}).Draw(t, "field")
		switch field {
		case "limit":
			after.Limit += delta
		case "adj_limit":
			after.AdjLimit += delta
		case "prev_ovlimit":
			after.PrevOvlimit += delta
		case "lowest_slack":
			after.LowestSlack += delta
		case "slack_start_time":
			after.SlackStartTime += uint64(int64(int32(delta)))
		case "num_completed":
			after.NumCompleted += delta
		case "prev_num_queued":
			after.PrevNumQueued += delta
		}
		e := Explain(before, after, win)
		if reachable(before, after, win) {
			equal++
			if e.Outcome != OutcomeEqual {
				t.Fatalf("%s: %+v, want equal\nbefore %+v\nafter  %+v", field, e, before, after)
			}
			return
		}
		unequal++
		// A state that a reset leaves, or in which nothing is completed, is
		// another question.
		if after.isReset() || win.afterReset(before, after) || after.NumCompleted == before.NumCompleted {
			return
		}
		if e.Outcome != OutcomeUnequal {
			t.Fatalf("%s: %+v, want unequal\nbefore %+v\nafter  %+v", field, e, before, after)
		}
	})
	t.Logf("%d explainable, %d not", equal, unequal)
}

// reachable tries every time of the window.
func reachable(before, after DQL, w Window) bool {
	for now := w.From - jiffySlop; now <= w.To+jiffySlop; now++ {
		d := before
		d.NumQueued, d.LastObjCnt = after.PrevNumQueued, after.PrevLastObjCnt
		if d.Completed(after.NumCompleted-before.NumCompleted, now) != nil {
			return false
		}
		d.NumQueued, d.LastObjCnt, d.Limit = after.NumQueued, after.LastObjCnt, after.Limit
		if d == after {
			return true
		}
	}
	return false
}

// overLimit is a queue with limit 4000 and 10000 bytes in flight, of which 1000
// are completed at a time.
func overLimit(t *testing.T, completions int) (before, after DQL) {
	d := NewDQL(1000, 100)
	d.Limit, d.AdjLimit, d.SlackStartTime, d.LowestSlack = 4000, 4000, 100, 500
	queue := func(n uint32) {
		if err := d.Queued(DQLObjectWarn, n); err != nil {
			t.Fatal(err)
		}
	}
	queue(6000)
	if err := d.Completed(1000, 200); err != nil {
		t.Fatal(err)
	}
	before = d
	for range completions {
		queue(2000)
		if err := d.Completed(1000, 200); err != nil {
			t.Fatal(err)
		}
	}
	return before, d
}

func TestExplainOutcomes(t *testing.T) {
	one := Window{From: 200, To: 201, Completions: 1}
	some := Window{From: 200, To: 201}
	foreign := Window{From: 200, To: 201, Foreign: true}
	cases := []struct {
		name        string
		completions int
		change      func(before, after *DQL)
		w           Window
		want        Outcome
		field       string
	}{
		{"nothing happened", 0, func(_, a *DQL) { a.NumQueued += 60; a.LastObjCnt = 60 }, some, OutcomeIdle, ""},
		{"one", 1, nil, one, OutcomeEqual, ""},
		{"one, number unknown", 1, nil, some, OutcomeEqual, ""},
		{"two are split where the over-limit says", 2, nil, some, OutcomeSplit, ""},
		{"three that two explain as well", 3, nil, some, OutcomeSplit, ""},
		{"two, held back in neither", 2, func(_, a *DQL) { a.PrevOvlimit = 0 }, some, OutcomeUndecided, ""},
		{"over-limit that starts where it ended", 3, func(_, a *DQL) { a.PrevOvlimit = a.PrevNumQueued - a.AdjLimit }, some, OutcomeUnequal, "prev_ovlimit"},
		{"two of which the end does not tell", 2, func(_, a *DQL) { a.PrevOvlimit = 0; a.AdjLimit += 10; a.Limit += 10; a.SlackStartTime = 200 }, some, OutcomeUndecided, ""},
		{"two where one is claimed", 2, nil, one, OutcomeUnequal, "prev_ovlimit"},
		{"limit written, nothing completed", 0, func(_, a *DQL) { a.Limit = 9 }, one, OutcomeAdmin, ""},
		{"limit written after the completion", 1, func(_, a *DQL) { a.Limit = 9 }, one, OutcomeEqual, ""},
		{"limit_min written", 1, func(_, a *DQL) { a.MinLimit = 9 }, one, OutcomeAdmin, ""},
		{"limit_max written", 1, func(_, a *DQL) { a.MaxLimit = 9 }, one, OutcomeAdmin, ""},
		{"hold_time written", 1, func(_, a *DQL) { a.SlackHoldTime = 9 }, one, OutcomeAdmin, ""},
		{"limit_min above limit_max", 1, func(b, a *DQL) { b.MinLimit, b.MaxLimit = 9, 8; a.MinLimit, a.MaxLimit = 9, 8 }, one, OutcomeUndecided, ""},
		{"limit given back before its time", 1, func(_, a *DQL) {
			a.Limit, a.AdjLimit, a.LowestSlack, a.SlackStartTime, a.PrevOvlimit = 3500, a.AdjLimit-500, dqlNoSlack, 200, 0
		}, one, OutcomeUnequal, "slack_start_time"},
		{"limit not given back at its time", 1, func(b, a *DQL) { b.SlackHoldTime, a.SlackHoldTime = 10, 10 }, one, OutcomeUnequal, "slack_start_time"},
		{"limit perhaps not yet given back", 1, func(b, a *DQL) { b.SlackHoldTime, a.SlackHoldTime = 98, 98 }, one, OutcomeEqual, ""},
		{"half written: limit and clock only", 0, func(_, a *DQL) { a.SlackStartTime = 200 }, one, OutcomeUndecided, ""},
		{"reset", 1, func(_, a *DQL) { a.Reset(DQLResetZero, 200) }, one, OutcomeReset, ""},

		// One completion is proven by the over-limit: the clock did not start
		// again, so nothing was reset.
		{"slack too low", 1, func(_, a *DQL) { a.LowestSlack-- }, some, OutcomeUnequal, "lowest_slack"},
		{"slack too low, foreign", 1, func(_, a *DQL) { a.LowestSlack-- }, foreign, OutcomeUndecided, "lowest_slack"},
		{"two, foreign", 2, nil, foreign, OutcomeUndecided, ""},
		// What any number of completions leaves alone.
		{"slack grew", 3, func(_, a *DQL) { a.LowestSlack = 501 }, some, OutcomeUnequal, "lowest_slack"},
		{"limit moved, clock did not", 3, func(_, a *DQL) { a.AdjLimit++; a.Limit++ }, some, OutcomeUnequal, "adj_limit"},
		{"clock moved to no time of the window", 3, func(_, a *DQL) { a.SlackStartTime = 150 }, some, OutcomeUnequal, "slack_start_time"},
		{"limit out of bounds", 3, func(b, a *DQL) {
			b.MaxLimit, a.MaxLimit = 4000, 4000
			a.AdjLimit++
			a.SlackStartTime = 200
		}, some, OutcomeUnequal, "adj_limit"},
		{"over-limit that starts nowhere", 3, func(_, a *DQL) { a.PrevOvlimit += 9000 }, some, OutcomeUnequal, "prev_ovlimit"},
		{"same, but the clock started again", 3, func(_, a *DQL) { a.PrevOvlimit += 9000; a.SlackStartTime = 200 }, some, OutcomeUndecided, ""},
		{"more completed than queued", 1, func(_, a *DQL) { a.NumCompleted += 90000; a.AdjLimit += 90000 }, one, OutcomeUnequal, "num_completed"},
	}
	for _, c := range cases {
		before, after := overLimit(t, c.completions)
		if c.change != nil {
			c.change(&before, &after)
		}
		e := Explain(before, after, c.w)
		if e.Outcome != c.want || e.Field != c.field {
			t.Errorf("%s: %+v, want %s %s\nbefore %+v\nafter  %+v", c.name, e, c.want, c.field, before, after)
		}
		if want := uint32(c.completions-1) * 1000; e.Outcome == OutcomeSplit && e.First != want {
			t.Errorf("%s: %d bytes before the last completion, want %d", c.name, e.First, want)
		}
	}
}

func TestExplainSaysThatLimitWasWritten(t *testing.T) {
	before, after := overLimit(t, 1)
	for _, written := range []bool{false, true} {
		if written {
			after.Limit = 9
		}
		if e := Explain(before, after, Window{From: 200, To: 201, Completions: 1}); (e.Reason != "") != written {
			t.Errorf("limit written %t: %+v", written, e)
		}
	}
}

func TestWindow(t *testing.T) {
	for _, w := range []Window{{From: 100, To: 103}, {From: 1, To: 4}} {
		for d := -5; d <= 10; d++ {
			if got, want := w.has(w.From+uint64(d)), d >= -2 && d <= 5; got != want {
				t.Errorf("%d..%d has %d: %t", w.From, w.To, w.From+uint64(d), got)
			}
		}
	}
}

// A write to limit is offered where one explains what was seen, and only there.
func TestExplainWrite(t *testing.T) {
	for _, w := range []Window{{From: 200, To: 201, Completions: 1}, {From: 200, To: 201}} {
		before, after := overLimit(t, 1)
		after.LowestSlack--
		if e := Explain(before, after, w); e.Outcome != OutcomeUnequal || e.Write != nil {
			t.Errorf("%+v: slack too low: %+v, want unequal, no write", w, e)
		}
		before, after = overLimit(t, 1)
		after.Limit++
		after.AdjLimit++
		after.PrevOvlimit--
		if e := Explain(before, after, w); e.Outcome != OutcomeUnequal || e.Write == nil || *e.Write != 4001 {
			t.Errorf("%+v: all as with a limit of 4001: %+v, want unequal, that written", w, e)
		}
	}
}

// A step says whether the algorithm moves the limit, however the kernel did.
func TestExplainMoves(t *testing.T) {
	kept, after := overLimit(t, 1)
	dry := kept
	if err := dry.Completed(5000, 200); err != nil { // over the limit before, and all is sent
		t.Fatal(err)
	}
	if dry.Limit == kept.Limit {
		t.Fatalf("the limit did not grow: %+v", dry)
	}
	for _, w := range []Window{{From: 200, To: 201, Completions: 1}, {From: 200, To: 201, Completions: 1, Foreign: true}, {From: 200, To: 201}} {
		for _, more := range []uint32{0, 700} {
			for _, c := range []struct {
				after DQL
				want  bool
			}{{after, false}, {dry, true}} {
				c.after.Limit += more
				c.after.AdjLimit += more
				if e := Explain(kept, c.after, w); e.Moves != c.want || (e.Outcome == OutcomeEqual) != (more == 0) {
					t.Errorf("%+v, %d more: %+v", w, more, e)
				}
			}
		}
	}
}

// Totals that come to 0 are no reset.
func TestExplainTotalsThroughZero(t *testing.T) {
	before, after := overLimit(t, 1)
	for _, zero := range []uint32{0, after.NumCompleted, after.PrevNumQueued, before.NumCompleted} {
		b, a := before, after
		for _, d := range []*DQL{&b, &a} {
			d.NumQueued -= zero
			d.NumCompleted -= zero
			d.PrevNumQueued -= zero
			d.AdjLimit -= zero
		}
		for _, last := range []uint32{a.PrevLastObjCnt, 0} {
			a.PrevLastObjCnt = last
			if e := Explain(b, a, Window{From: 200, To: 201, Completions: 1}); e.Outcome != OutcomeEqual {
				t.Errorf("totals less %d, last object %d: %+v, want equal", zero, last, e)
			}
		}
	}
}

func TestExplainReportsWhatWasSeen(t *testing.T) {
	before, after := overLimit(t, 1)
	after.AdjLimit++
	e := Explain(before, after, Window{From: 200, To: 200, Completions: 1})
	if e.Field != "adj_limit" || e.Want != 6000 || e.Saw != 6001 {
		t.Errorf("%+v, want adj_limit 6000 predicted, 6001 seen", e)
	}
}

func BenchmarkExplain(b *testing.B) {
	d := NewDQL(1000, 0)
	for range 20 {
		if d.Queued(DQLObjectWarn, 20000) != nil || d.Completed(15000, 5) != nil {
			b.Fatal("the queue ran dry")
		}
	}
	before := d
	if d.Queued(DQLObjectWarn, 20000) != nil || d.Completed(15000, 5) != nil {
		b.Fatal("the queue ran dry")
	}
	for b.Loop() {
		if e := Explain(before, d, Window{From: 5, To: 5, Completions: 1}); e.Outcome != OutcomeEqual {
			b.Fatal(e)
		}
	}
}
