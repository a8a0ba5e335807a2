// SPDX-License-Identifier: Apache-2.0

package rules

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/txtrace/txtrace/internal/analysis"
	"github.com/txtrace/txtrace/internal/event"
	"github.com/txtrace/txtrace/internal/model"
)

// goUp adds a list of skbs with so many segments each, charged as today.
func (t *trace) goUp(segs ...uint32) *event.GRO {
	g := &event.GRO{NAPI: 0x77, Batch: 8, NapiID: 8193, Within: event.WithinPoll, RxQueue: 0}
	for _, n := range segs {
		g.Skbs++
		g.Segs += n
		g.RxCount += n
		g.LastSegs = n
		g.Bytes += n * 1448
	}
	t.put(g, 0)
	g.Txq = event.NoQueue
	return g
}

// receiving is what a right kernel does: full lists, one that GRO filled by a
// single skb, the rest of a poll.
func (t *trace) receiving() {
	t.goUp(1, 1, 1, 1, 1, 1, 1, 1)
	t.goUp(44)
	t.goUp(3, 4, 44)
	t.goUp(1, 1).Within |= event.WithinDone
	t.goUp(7)
}

// listed is a trace of one list.
func listed(change func(*event.GRO), segs ...uint32) func(*trace) {
	return func(t *trace) {
		if g := t.goUp(segs...); change != nil {
			change(g)
		}
	}
}

// bySkbs charges one for each skb, as before 5.12.
func bySkbs(g *event.GRO) { g.RxCount = g.Skbs }

// merging is the same on a device whose packets may come merged.
func merging(build func(*trace)) func(*trace) {
	return func(t *trace) {
		t.header.Devices[0].Driver = "virtio_net"
		build(t)
	}
}

func init() {
	cases = append(cases, listCases...)
}

var listCases = []judged{
	{rule: "G1", name: "full", build: listed(nil, 1, 1, 1, 1, 1, 1, 1, 1), want: counts{1, 0, 0, 0, 0}},
	{rule: "G1", name: "not full", build: listed(nil, 1, 1, 1), want: counts{1, 0, 0, 0, 0}},
	{rule: "G1", name: "one too many", build: listed(nil, 1, 1, 1, 1, 1, 1, 1, 1, 1), want: counts{0, 1, 0, 0, 0}},
	{rule: "G1", name: "full before the last", build: listed(nil, 4, 4, 1), want: counts{0, 1, 0, 0, 0}},
	{rule: "G1", name: "nearly full before the last", build: listed(nil, 4, 3, 44), want: counts{1, 0, 0, 0, 0}},
	{rule: "G1", name: "one not counted", build: listed(func(g *event.GRO) { g.RxCount-- }, 3, 2), want: counts{0, 1, 0, 0, 0}},
	{rule: "G1", name: "nothing in it", build: listed(func(g *event.GRO) { g.RxCount = 1 }), want: counts{0, 1, 0, 0, 0}},
	{rule: "G1", name: "cut", build: listed(func(g *event.GRO) { g.Flags |= event.FlagWalkCut }, 4, 4, 1), want: counts{0, 0, 0, 0, 1}, reason: analysis.Cut},
	{rule: "G1", name: "the batch was written", build: listed(func(g *event.GRO) { g.Batch = 2 }, 1, 1, 1), want: counts{0, 0, 0, 0, 1}, reason: analysis.Changed},
	{rule: "G1", name: "the batch was written before", build: func(t *trace) {
		t.goUp(1).Batch = 2
		t.goUp(1, 1).Batch = 2
		t.goUp(1, 1, 1).Batch = 2
	}, want: counts{1, 1, 0, 0, 1}, reason: analysis.Changed},
	{rule: "G1", name: "under a batch that was lost", build: func(t *trace) {
		t.goUp(1)
		t.goUp(1).Batch = 32
		t.goUp(20, 1)
	}, lose: func(r event.Any) bool { g, ok := r.(*event.GRO); return ok && g.Batch == 32 }, want: counts{1, 0, 0, 0, 1}, reason: analysis.Lost},
	{rule: "G1", name: "by skbs", variant: "gro-batch=skbs", build: listed(bySkbs, 44, 44, 44), want: counts{0, 0, 0, 1, 0}},
	{rule: "G1", name: "by skbs, held to segments", build: listed(bySkbs, 44, 44, 44), want: counts{0, 1, 0, 0, 0}},
	{rule: "G1", name: "by segments, held to skbs", variant: "gro-batch=skbs", build: listed(nil, 44), want: counts{0, 1, 0, 0, 0}},
	{rule: "G1", name: "merged by GRO, held to what drivers gave", variant: "gro-batch=frags", build: listed(bySkbs, 44), want: counts{0, 1, 0, 0, 0}},
	{rule: "G1", name: "as drivers gave it", variant: "gro-batch=frags", build: listed(bySkbs, 1, 1), want: counts{1, 0, 0, 0, 0}},
	{rule: "G1", name: "merged by the device", build: merging(listed(bySkbs, 44, 44)), want: counts{1, 0, 0, 0, 0}},
	{rule: "G1", name: "merged by the device, and then by GRO", build: merging(listed(func(g *event.GRO) { g.RxCount = 1 + 44 }, 20, 44)), want: counts{1, 0, 0, 0, 0}},
	{rule: "G1", name: "merged by GRO, and then by the device", build: merging(listed(func(g *event.GRO) { g.RxCount = 7 + 1 }, 7, 44)), want: counts{1, 0, 0, 0, 0}},
	{rule: "G1", name: "merged by both, full before the last", build: merging(listed(func(g *event.GRO) { g.RxCount = 8 + 1 }, 8, 44)), want: counts{0, 1, 0, 0, 0}},
	{rule: "G1", name: "merged by the device, one too many", build: merging(listed(bySkbs, 44, 1, 1, 1, 1, 1, 1, 1, 1)), want: counts{0, 1, 0, 0, 0}},
	{rule: "G1", name: "merged by GRO for such a device", build: merging(listed(nil, 1, 44)), want: counts{1, 0, 0, 0, 0}},
	{rule: "G1", name: "more counted than there are", build: merging(listed(func(g *event.GRO) { g.RxCount++ }, 1, 1)), want: counts{0, 1, 0, 0, 0}},
	{rule: "G2", name: "none waiting", build: listed(nil, 1), want: counts{1, 0, 0, 0, 0}},
	{rule: "G2", name: "some waiting", build: listed(func(g *event.GRO) { g.Held = 2 }, 1, 1, 1), want: counts{0, 0, 1, 0, 0}},
	{rule: "G2", name: "no poll", build: listed(func(g *event.GRO) { g.Held, g.Within = event.HeldUnknown, 0 }, 1)},
}

func TestGROReport(t *testing.T) {
	tr := newTrace()
	tr.receiving()
	tr.cpu = 1
	g := tr.goUp(1, 1)
	g.Within, g.Held, g.RxQueue, g.Batch = 0, event.HeldUnknown, event.NoQueue, 16
	want := []analysis.GROReport{{
		DeviceRef: analysis.DeviceRef{Netns: 7, Ifindex: 2, Ifname: "eth0"}, Lists: 6, Skbs: 17, Segs: 114, Bytes: 114 * 1448, BatchMin: 8, BatchMax: 16,
		Why:    map[string]analysis.U64{"threshold": 3, "complete": 1, "poll": 1, "busy": 1},
		Size:   []analysis.Count{{N: 1, Count: 2}, {N: 2, Count: 2}, {N: 3, Count: 1}, {N: 8, Count: 1}},
		Count:  []analysis.Count{{N: 2, Count: 2}, {N: 7, Count: 1}, {N: 8, Count: 1}, {N: 44, Count: 1}, {N: 51, Count: 1}},
		Queues: []analysis.GROPart{{N: 0, Lists: 5, Skbs: 15, Bytes: 112 * 1448}, {N: event.NoQueue, Lists: 1, Skbs: 2, Bytes: 2 * 1448}},
		CPUs:   []analysis.GROPart{{N: 0, Lists: 5, Skbs: 15, Bytes: 112 * 1448}, {N: 1, Lists: 1, Skbs: 2, Bytes: 2 * 1448}},
	}}
	if d := cmp.Diff(want, tr.analyze(t, "auto", nil).GRO); d != "" {
		t.Errorf("-want +got\n%s", d)
	}
}

// Lists of merged packets prove what fills a batch, and only they do.
func TestGROBatchIsFound(t *testing.T) {
	for _, c := range []struct {
		name  string
		build func(*trace)
		state string
		want  model.Variant
	}{
		{"single packets", listed(nil, 1, 1, 1), analysis.StateUndecided, model.GROBatchSegs},
		{"merged, counted by segments", listed(nil, 3, 44), analysis.StateProven, model.GROBatchSegs},
		{"merged, counted by skbs", listed(bySkbs, 3, 44), analysis.StateProven, model.GROBatchSkbs},
		{"merged by who knows", merging(listed(bySkbs, 3, 44)), analysis.StateUndecided, model.GROBatchSegs},
	} {
		tr := newTrace()
		c.build(tr)
		res := tr.analyze(t, "auto", nil)
		for _, v := range res.Verify.Variants {
			if v.Switch == string(model.SwitchGROBatch) && (v.State != c.state || v.Variant+v.JudgedAs != string(c.want)) {
				t.Errorf("%s: %s %s, want %s %s", c.name, v.State, v.Variant+v.JudgedAs, c.state, c.want)
			}
		}
	}
}

// What breaks every variant is shown, however many before it wait that speak
// against other variants only.
func TestShownAfterMany(t *testing.T) {
	tr := newTrace()
	for range 201 {
		tr.goUp(3, 44) // counted by segments
	}
	tr.goUp(1).RxCount = 1000
	r := ruling(t, tr.analyze(t, "auto", nil), "G1")
	if r.Verdict != analysis.VerdictFail || len(r.Evidence) == 0 {
		t.Errorf("%+v", r)
	}
}
