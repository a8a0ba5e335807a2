// SPDX-License-Identifier: Apache-2.0

package analysis

import (
	"testing"

	"github.com/txtrace/txtrace/internal/event"
	"github.com/txtrace/txtrace/internal/model"
)

// Two completions at a limit held by limit_max look like a reset and one
// completion (from a real capture). What the step counts for is then how far
// num_completed moved, not all that was ever completed.
func TestStepLooksLikeReset(t *testing.T) {
	at := func(numCompleted, ovlimit uint32) *event.Complete {
		r := &event.Complete{
			NumQueued: numCompleted, AdjLimit: numCompleted + 3000, LastObjCnt: 142, Limit: 3000,
			NumCompleted: numCompleted, PrevOvlimit: ovlimit, PrevNumQueued: numCompleted, PrevLastObjCnt: 142,
			LowestSlack: 1<<32 - 1, MaxLimit: 3000, SlackHoldTime: 250, SlackStartTime: 4294897450, Jiffies: 4294897450,
			Source: event.SourceHardirq,
		}
		r.CPU = 1
		return r
	}
	var c dqlChain
	c.step(at(218924, 124), true)
	if s := c.step(at(222048, 0), true); s.Step.Outcome != model.OutcomeReset || s.Bytes != 222048-218924 {
		t.Errorf("%s, %d bytes", s.Step.Outcome, s.Bytes)
	}
	// One that goes back is a reset indeed.
	back := at(284, 0)
	back.Limit, back.AdjLimit = 284, 2*284
	if s := c.step(back, true); s.Step.Outcome != model.OutcomeReset || s.Bytes != 284 {
		t.Errorf("%s, %d bytes", s.Step.Outcome, s.Bytes)
	}
}

// look is a snapshot of a queue that completed so much.
func look(cpu uint16, source uint8, numCompleted, adjLimit uint32) *event.Complete {
	r := &event.Complete{
		NumQueued: numCompleted + 500, NumCompleted: numCompleted, AdjLimit: adjLimit, Limit: adjLimit - numCompleted,
		PrevNumQueued: numCompleted + 500, LowestSlack: 1<<32 - 1, MaxLimit: 1 << 30, SlackHoldTime: 250, Jiffies: 1000, SlackStartTime: 1000,
		Source: source,
	}
	r.CPU = cpu
	return r
}

// A snapshot may be half written if another CPU looked at the queue within the
// last 64, or what this one may have interrupted, or if it, or the one before,
// is not the completing code's own. It shows finished completions if nobody else
// looked for eight.
func TestForeign(t *testing.T) {
	type seen struct {
		cpu     uint16
		source  uint8
		times   int
		context uint8
	}
	const napi, other = event.SourceNAPI, event.SourceSnapshot
	const task, soft, hard, thread = event.ContextTask, event.ContextSoftirq, event.ContextHardirq, event.ContextKsoftirqd
	for name, c := range map[string]struct {
		seen              []seen
		foreign, finished bool
	}{
		"one CPU":                    {[]seen{{1, napi, 5, soft}}, false, false},
		"one CPU, seven times":       {[]seen{{1, napi, 7, soft}}, false, false},
		"one CPU, eight times":       {[]seen{{1, napi, 8, soft}}, false, true},
		"the first one":              {[]seen{{1, napi, 1, soft}}, false, false},
		"another's record":           {[]seen{{1, napi, 5, soft}, {1, other, 1, soft}}, true, false},
		"after another's record":     {[]seen{{1, other, 1, soft}, {1, napi, 1, soft}}, true, false},
		"later":                      {[]seen{{1, other, 1, soft}, {1, napi, 2, soft}}, false, false},
		"two CPUs":                   {[]seen{{1, napi, 5, soft}, {2, napi, 1, soft}}, true, false},
		"back again":                 {[]seen{{1, napi, 5, soft}, {2, napi, 1, soft}, {1, napi, 1, soft}}, true, false},
		"63 after another":           {[]seen{{2, napi, 1, soft}, {1, napi, 63, soft}}, true, false},
		"64 after another":           {[]seen{{2, napi, 1, soft}, {1, napi, 64, soft}}, false, true},
		"64 after two others":        {[]seen{{3, napi, 1, soft}, {2, napi, 1, soft}, {1, napi, 64, soft}}, false, true},
		"63 after the second other":  {[]seen{{3, napi, 1, soft}, {2, napi, 1, soft}, {1, napi, 63, soft}}, true, false},
		"the second other is recent": {[]seen{{1, napi, 9, soft}, {2, napi, 1, soft}, {3, napi, 1, soft}, {1, napi, 1, soft}}, true, false},

		"interrupts a poll":         {[]seen{{1, napi, 9, soft}, {1, napi, 1, hard}}, true, false},
		"interrupts a thread":       {[]seen{{1, napi, 9, thread}, {1, napi, 1, hard}}, true, false},
		"interrupts a task":         {[]seen{{1, napi, 9, task}, {1, napi, 1, soft}}, true, false},
		"may be interrupted":        {[]seen{{1, napi, 9, hard}, {1, napi, 1, soft}}, false, true},
		"in turn":                   {[]seen{{1, napi, 9, soft}, {1, napi, 1, hard}, {1, napi, 1, soft}}, false, true},
		"a thread goes on":          {[]seen{{1, napi, 9, soft}, {1, napi, 1, thread}}, false, true},
		"63 after what they stop":   {[]seen{{1, napi, 1, soft}, {1, napi, 63, hard}}, true, false},
		"64 after what they stop":   {[]seen{{1, napi, 1, soft}, {1, napi, 64, hard}}, false, true},
		"another CPU and all ranks": {[]seen{{2, napi, 1, soft}, {1, napi, 1, task}, {1, napi, 1, hard}, {1, napi, 1, soft}, {1, napi, 1, task}}, true, false},
	} {
		var d dqlChain
		var last Completion
		n := uint32(0)
		for _, s := range c.seen {
			for range s.times {
				n++
				r := look(s.cpu, s.source, n*100, n*100+4000)
				r.Context = s.context
				last = d.step(r, false)
			}
		}
		if last.Foreign != c.foreign || last.Finished != c.finished {
			t.Errorf("%s: %t, %t", name, last.Foreign, last.Finished)
		}
	}
}

// One completion lies between two own looks of a driver that completes once,
// if the queue was looked at all the time.
func TestSingle(t *testing.T) {
	own, other := uint8(event.SourceNAPI), uint8(event.SourceSnapshot)
	for _, c := range []struct {
		before, after uint8
		once, flying  bool
		want          bool
	}{
		{own, own, true, true, true}, {own, own, false, true, false}, {own, own, true, false, false},
		{other, own, true, true, false}, {own, other, true, true, false},
	} {
		var d dqlChain
		first := look(1, c.before, 100, 4100)
		if !c.flying {
			first.NumQueued = first.NumCompleted
		}
		d.step(first, c.once)
		if got := d.step(look(1, c.after, 200, 4200), c.once); got.Single != c.want {
			t.Errorf("%+v: %t", c, got.Single)
		}
	}
}

// A snapshot that is older than the one before is stale; four in a row are a
// reset that was not recognized, and begin anew.
func TestStale(t *testing.T) {
	for stale := 1; stale <= 4; stale++ {
		var d dqlChain
		d.step(look(1, event.SourceNAPI, 10_000, 14_000), false)
		for i := range uint32(stale) {
			r := look(1, event.SourceNAPI, 5000+i, 9000+i)
			r.SlackStartTime = 1 // of no reset
			if s := d.step(r, false); !s.Stale || s.Linked || s.Step.Outcome != "" {
				t.Errorf("%d of %d: %+v", i, stale, s)
			}
		}
		if s := d.step(look(1, event.SourceNAPI, 10_100, 14_100), false); s.Linked != (stale < 4) || s.Stale {
			t.Errorf("after %d: %+v", stale, s)
		}
		r := look(1, event.SourceNAPI, 5000, 9000)
		r.SlackStartTime = 1
		if s := d.step(r, false); !s.Stale { // the count begins anew
			t.Errorf("after %d: %+v", stale, s)
		}
	}
}

// The states between two snapshots are known if each step is one completion.
func TestBetween(t *testing.T) {
	var d dqlChain
	adj := []uint32{4000, 9000, 4100, 2000, 6000}
	for i, a := range adj {
		d.ring[d.n%snapshots] = dqlState{numCompleted: uint32(i) * 100, adjLimit: a, single: i != 3}
		d.n++
	}
	for _, c := range []struct {
		from, to    int
		least, most uint32
		ok          bool
	}{
		{0, 1, 4000, 9000, true}, {0, 2, 4000, 9000, true}, {1, 2, 4100, 9000, true}, {3, 4, 2000, 6000, true},
		{2, 3, 0, 0, false}, {0, 4, 0, 0, false}, {1, 0, 0, 0, false},
	} {
		least, most, ok := d.between(uint32(c.from)*100, adj[c.from], uint32(c.to)*100, adj[c.to])
		if least != c.least || most != c.most || ok != c.ok {
			t.Errorf("%d to %d: %d %d %t", c.from, c.to, least, most, ok)
		}
	}
	for _, c := range [][4]uint32{{0, 4000, 100, 9001}, {0, 4000, 101, 9000}, {0, 4001, 100, 9000}, {1, 4000, 100, 9000}} {
		if _, _, ok := d.between(c[0], c[1], c[2], c[3]); ok {
			t.Errorf("%v is known", c)
		}
	}
	// What the ring no longer holds is not.
	for i := range snapshots {
		d.ring[d.n%snapshots] = dqlState{numCompleted: uint32(500 + i*100), adjLimit: 7000, single: true}
		d.n++
	}
	if _, _, ok := d.between(400, 6000, 500, 7000); ok {
		t.Error("the forgotten is known")
	}
	if _, _, ok := d.between(500, 7000, 600, 7000); !ok {
		t.Error("the last 64 are not known")
	}
}
