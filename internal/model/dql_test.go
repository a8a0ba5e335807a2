// SPDX-License-Identifier: Apache-2.0

package model

import (
	"errors"
	"testing"

	"pgregory.net/rapid"
)

// The vectors of rule B13: the kernel's own code of 6.12.117, compiled in user
// space, on a fresh queue without bounds.
func TestDQLGolden(t *testing.T) {
	type state struct {
		nq, nc, limit, adj, ov uint32
		avail                  int32
	}
	steps := []struct {
		op    string
		count uint32
		times int
		want  state
	}{
		{"queue", 1514, 1, state{1514, 0, 0, 0, 0, -1514}},
		{"complete", 1514, 1, state{1514, 1514, 1514, 3028, 0, 1514}},
		{"queue", 1514, 2, state{4542, 1514, 1514, 3028, 0, -1514}},
		{"complete", 3028, 1, state{4542, 4542, 4542, 9084, 0, 4542}},
		{"queue", 1514, 4, state{10598, 4542, 4542, 9084, 0, -1514}},
		{"complete", 1514, 1, state{10598, 6056, 4542, 10598, 1514, 0}},
		{"complete", 4542, 1, state{10598, 10598, 6056, 16654, 0, 6056}},
		{"queue", 66000, 1, state{76598, 10598, 6056, 16654, 0, -59944}},
		{"complete", 66000, 1, state{76598, 76598, 72056, 148654, 0, 72056}},
		{"reset", 0, 1, state{0, 0, 0, 148654, 0, 148654}},
	}
	// The same must hold wherever the totals stand, across 2^32 too.
	for _, base := range []uint32{0, 1<<31 - 3000, 1<<32 - 1, 1<<32 - 5000, 1<<32 - 70000} {
		d := NewDQL(1000, 50)
		d.NumQueued, d.NumCompleted, d.PrevNumQueued, d.AdjLimit = base, base, base, base
		for i, s := range steps {
			var err error
			for range s.times {
				switch s.op {
				case "queue":
					err = d.Queued(DQLObjectWarn, s.count)
				case "complete":
					err = d.Completed(s.count, 60)
				case "reset":
					d.Reset(DQLResetMin, 60)
				}
			}
			got := state{d.NumQueued - base, d.NumCompleted - base, d.Limit, d.AdjLimit - base, d.PrevOvlimit, d.Avail()}
			want := s.want
			if s.op == "reset" {
				got.nq, got.nc = d.NumQueued, d.NumCompleted
				got.avail = int32(d.AdjLimit - base)
			}
			if err != nil || got != want {
				t.Fatalf("base %d, step %d: %s %d: got %+v, %v, want %+v", base, i, s.op, s.count, got, err, want)
			}
		}
	}
}

// adj_limit survives a reset, and with it what BQL allows until the first
// completion (invariants B13).
func TestDQLResetKeepsAdjLimit(t *testing.T) {
	d := NewDQL(1000, 0)
	d.AdjLimit, d.NumQueued, d.NumCompleted = 3330803028, 3330730000, 3330730000
	d.Reset(DQLResetMin, 5)
	if d.Avail() != -964164268 {
		t.Errorf("avail after reset = %d, want -964164268", d.Avail())
	}
	if d.Settled() {
		t.Error("settled after a reset with a stale adj_limit")
	}
}

// A reset with bytes in flight, then their completion: cases C-A1.
func TestDQLBug(t *testing.T) {
	d := NewDQL(1000, 0)
	if err := d.Queued(DQLObjectWarn, 1000); err != nil {
		t.Fatal(err)
	}
	d.Reset(DQLResetMin, 1)
	before := d
	if err := d.Completed(1000, 2); !errors.Is(err, ErrBug) || d != before {
		t.Errorf("completing 1000 of 0 in flight: %v, state changed %t; want ErrBug, unchanged", err, d != before)
	}
}

func TestDQLResetVariants(t *testing.T) {
	for reset, want := range map[Variant]uint32{DQLResetZero: 0, DQLResetMin: 3000} {
		d := NewDQL(1000, 0)
		d.MinLimit, d.Limit = 3000, 90000
		d.Reset(reset, 7)
		if d.Limit != want || d.SlackStartTime != 7 {
			t.Errorf("%s: limit %d at %d, want %d at 7", reset, d.Limit, d.SlackStartTime, want)
		}
	}
}

func TestDQLObjectVariants(t *testing.T) {
	for object, want := range map[Variant]error{DQLObjectBug: ErrBug, DQLObjectWarn: nil} {
		d := NewDQL(1000, 0)
		if err := d.Queued(object, DQLMaxObject+1); !errors.Is(err, want) || d.NumQueued != 0 {
			t.Errorf("%s: queueing DQLMaxObject+1: %v, %d queued; want %v, 0", object, err, d.NumQueued, want)
		}
		if err := d.Queued(object, DQLMaxObject); err != nil || d.NumQueued != DQLMaxObject {
			t.Errorf("%s: queueing DQLMaxObject: %v, %d queued", object, err, d.NumQueued)
		}
	}
}

// The limit shrinks by the least slack seen, and only after the hold time.
func TestDQLSlack(t *testing.T) {
	d := NewDQL(10, 100)
	d.Limit, d.AdjLimit = 10000, 10000
	queue := func(n uint32) {
		t.Helper()
		if err := d.Queued(DQLObjectWarn, n); err != nil {
			t.Fatal(err)
		}
	}
	complete := func(n uint32, now uint64, limit, lowest uint32) {
		t.Helper()
		if err := d.Completed(n, now); err != nil || d.Limit != limit || d.LowestSlack != lowest {
			t.Errorf("completed %d at %d: limit %d, lowest slack %d, %v; want %d, %d", n, now, d.Limit, d.LowestSlack, err, limit, lowest)
		}
	}
	queue(10000)
	complete(1000, 101, 10000, dqlNoSlack) // nothing was in flight after the last one
	complete(1000, 102, 10000, 8000)
	complete(2000, 110, 10000, 6000) // 10 jiffies are not more than the hold time
	complete(1000, 111, 4000, dqlNoSlack)
	if d.SlackStartTime != 111 {
		t.Errorf("slack_start_time %d, want 111", d.SlackStartTime)
	}
}

// Each branch of a completion once, on a queue with limit 4000 of which the
// last completion left inFlight bytes, over by ov, the last object being last.
func TestDQLBranches(t *testing.T) {
	cases := []struct {
		name                   string
		inFlight, ov, last     uint32
		queued, count          uint32 // since
		limit, lowest, ovAfter uint32
		step                   Step
		clamp                  Clamp
		minLimit, maxLimit     uint32
		holdOver               bool
	}{
		{name: "drained, never held back", step: StepKeep, inFlight: 1000, queued: 1000, count: 2000, limit: 4000, lowest: 900},
		{name: "drained, held back now", step: StepGrow, inFlight: 1000, queued: 4000, count: 5000, limit: 4000 + 4000, lowest: dqlNoSlack},
		{name: "held back then, all of it done", step: StepGrow, inFlight: 1000, ov: 300, queued: 2000, count: 1500, limit: 4000 + 500 + 300, lowest: dqlNoSlack},
		{name: "held back then, exactly that done", step: StepGrow, inFlight: 1000, ov: 300, queued: 2000, count: 1000, limit: 4000 + 300, lowest: dqlNoSlack},
		{name: "not held back, all of it done, still busy", step: StepKeep, inFlight: 1000, queued: 2000, count: 1500, limit: 4000, lowest: 900},
		{name: "nothing was in flight", step: StepKeep, queued: 3000, count: 100, limit: 4000, lowest: 900},
		{name: "over, still busy", step: StepSlack, inFlight: 3000, queued: 2000, count: 100, limit: 4000, lowest: 900, ovAfter: 1000},
		{name: "slack of twice the count", step: StepSlack, inFlight: 3000, queued: 100, count: 1900, limit: 4000, lowest: 200},
		{name: "slack with what was over", step: StepSlack, inFlight: 3000, ov: 50, last: 60, queued: 100, count: 1900, limit: 4000, lowest: 250},
		{name: "slack of the last object", step: StepSlack, inFlight: 3000, ov: 50, last: 750, queued: 100, count: 1900, limit: 4000, lowest: 700},
		{name: "last object counts only if over", step: StepSlack, inFlight: 3000, last: 750, queued: 100, count: 1900, limit: 4000, lowest: 200},
		{name: "slack no lower than before", step: StepSlack, inFlight: 3000, queued: 100, count: 1000, limit: 4000, lowest: 900},
		{name: "given back", step: StepShrink, inFlight: 3000, queued: 100, count: 1900, holdOver: true, limit: 3800, lowest: dqlNoSlack},
		{name: "given back down to limit_min", step: StepShrink, clamp: ClampMin, inFlight: 3000, queued: 100, count: 1900, holdOver: true, minLimit: 3900, limit: 3900, lowest: dqlNoSlack},
		{name: "grown up to limit_max", step: StepGrow, clamp: ClampMax, inFlight: 1000, queued: 4000, count: 5000, maxLimit: 5000, limit: 5000, lowest: dqlNoSlack},
		{name: "limit_max lowered; the over-limit is forgotten", step: StepSlack, clamp: ClampMax, inFlight: 3000, queued: 2000, count: 100, maxLimit: 3000, limit: 3000, lowest: 900},
	}
	for _, c := range cases {
		done := uint32(1<<32 - 900) // the totals wrap
		d := DQL{
			NumQueued: done + c.inFlight + c.queued, NumCompleted: done, PrevNumQueued: done + c.inFlight,
			Limit: 4000, AdjLimit: done + 4000, PrevOvlimit: c.ov, PrevLastObjCnt: c.last, LowestSlack: 900,
			SlackStartTime: 50, SlackHoldTime: 10, MinLimit: c.minLimit, MaxLimit: DQLMaxLimit,
		}
		if c.maxLimit != 0 {
			d.MaxLimit = c.maxLimit
		}
		now, start := uint64(60), uint64(50)
		if c.holdOver {
			now = 61
		}
		if c.step == StepGrow || c.step == StepShrink {
			start = now
		}
		before := d
		if err := d.Completed(c.count, now); err != nil {
			t.Errorf("%s: %v", c.name, err)
		}
		if e := Explain(before, d, Window{From: now, To: now}); e.Outcome != OutcomeEqual || e.Step != c.step || e.Clamp != c.clamp {
			t.Errorf("%s: %s, step %s, clamp %q; want equal, %s, %q", c.name, e.Outcome, e.Step, e.Clamp, c.step, c.clamp)
		}
		if d.Limit != c.limit || d.LowestSlack != c.lowest || d.PrevOvlimit != c.ovAfter || d.SlackStartTime != start {
			t.Errorf("%s: limit %d, lowest slack %d, over %d, start %d; want %d, %d, %d, %d", c.name,
				d.Limit, d.LowestSlack, d.PrevOvlimit, d.SlackStartTime, c.limit, c.lowest, c.ovAfter, start)
		}
	}
}

// endless returns a qdisc that never runs empty of packets of one length.
func endless(length uint32) func() (Packet, bool) {
	return func() (Packet, bool) { return Packet{Len: length}, true }
}

// world is a queue under a random load.
type world struct {
	*rapid.T
	d   DQL
	now uint64
}

// newWorld starts a queue at random totals, so that they wrap in some runs.
func newWorld(t *rapid.T) *world {
	w := &world{T: t, now: rapid.Uint64Range(1000, 1<<33).Draw(t, "now")}
	w.d = NewDQL(rapid.SampledFrom([]uint32{1, 10, 250}).Draw(t, "hold"), w.now)
	base := rapid.SampledFrom([]uint32{0, 1 << 31, 1<<32 - 1, 1<<32 - 40000}).Draw(t, "base")
	w.d.NumQueued, w.d.NumCompleted, w.d.PrevNumQueued, w.d.AdjLimit = base, base, base, base
	w.d.MinLimit = rapid.SampledFrom([]uint32{0, 0, 3000, 20000}).Draw(t, "min")
	w.d.MaxLimit = rapid.SampledFrom([]uint32{DQLMaxLimit, DQLMaxLimit, 20000, 60000}).Draw(t, "max")
	return w
}

// tick lets time pass, mostly little.
func (w *world) tick() {
	w.now += rapid.SampledFrom([]uint64{0, 0, 0, 1, 1, 2, 9, 11, 300}).Draw(w.T, "tick")
}

// queue hands over a few packets.
func (w *world) queue() {
	for range rapid.IntRange(0, 8).Draw(w.T, "packets") {
		n := rapid.SampledFrom([]uint32{60, 1514, 1514, 9014, 64000}).Draw(w.T, "length")
		if err := w.d.Queued(DQLObjectWarn, n); err != nil {
			w.Fatal(err)
		}
	}
}

// complete sends some of what is in flight, if there is any.
func (w *world) complete() bool {
	in := w.d.InFlight()
	if in == 0 {
		return false
	}
	n := in
	if rapid.Bool().Draw(w.T, "part") {
		n = rapid.Uint32Range(1, in).Draw(w.T, "bytes")
	}
	if err := w.d.Completed(n, w.now); err != nil {
		w.Fatal(err)
	}
	return true
}

// reset resets the queue, by either variant.
func (w *world) reset() {
	w.d.Reset(rapid.SampledFrom([]Variant{DQLResetZero, DQLResetMin}).Draw(w.T, "reset"), w.now)
}

// warm runs the queue for a while.
func (w *world) warm() {
	for range rapid.IntRange(0, 25).Draw(w.T, "warm") {
		w.queue()
		w.tick()
		w.complete()
	}
}

// What holds after every completion (rules B1, B11, B12 and the identity of
// AdjLimit).
func TestDQLInvariants(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w := newWorld(t)
		for range 40 {
			w.queue()
			w.tick()
			before := w.d
			if !w.complete() {
				continue
			}
			d := w.d
			switch {
			case d.Limit < d.MinLimit || d.Limit > d.MaxLimit:
				t.Fatalf("limit %d outside %d..%d", d.Limit, d.MinLimit, d.MaxLimit)
			case !d.Settled():
				t.Fatalf("adj_limit %d is not limit %d + num_completed %d", d.AdjLimit, d.Limit, d.NumCompleted)
			case d.Avail() != int32(d.Limit-d.InFlight()):
				t.Fatalf("avail %d, limit %d, in flight %d", d.Avail(), d.Limit, d.InFlight())
			case d.PrevNumQueued != before.NumQueued || d.PrevLastObjCnt != before.LastObjCnt:
				t.Fatal("a completion does not keep what it read")
			case d.PrevOvlimit != 0 && (d.Limit != before.Limit || d.PrevOvlimit != before.InFlight()-d.Limit):
				t.Fatalf("prev_ovlimit %d, in flight %d, limit %d", d.PrevOvlimit, before.InFlight(), d.Limit)
			case d.Limit > max(before.Limit, d.MinLimit) && d.SlackStartTime != w.now:
				t.Fatal("the limit grew and the slack clock did not start again")
			}
		}
	})
}

// The algorithm sees differences only: moving all totals changes nothing.
func TestDQLModular(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w := newWorld(t)
		w.warm()
		shift := rapid.Uint32().Draw(t, "shift")
		moved := w.d
		for _, p := range []*uint32{&moved.NumQueued, &moved.NumCompleted, &moved.PrevNumQueued, &moved.AdjLimit} {
			*p += shift
		}
		n := rapid.Uint32Range(0, w.d.InFlight()).Draw(t, "bytes")
		if err := errors.Join(w.d.Completed(n, w.now), moved.Completed(n, w.now)); err != nil {
			t.Fatal(err)
		}
		for _, p := range []*uint32{&moved.NumQueued, &moved.NumCompleted, &moved.PrevNumQueued, &moved.AdjLimit} {
			*p -= shift
		}
		if moved != w.d {
			t.Fatalf("moved by %d: %+v, want %+v", shift, moved, w.d)
		}
	})
}
