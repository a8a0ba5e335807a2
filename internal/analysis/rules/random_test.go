// SPDX-License-Identifier: Apache-2.0

package rules

import (
	"testing"

	"pgregory.net/rapid"

	"github.com/txtrace/txtrace/internal/analysis"
	"github.com/txtrace/txtrace/internal/event"
	"github.com/txtrace/txtrace/internal/model"
)

// random plays a kernel of given variants: it dequeues, hands over, requeues
// and completes as the model does, with chance deciding what comes and when.
type random struct {
	*trace
	d     *rapid.T
	bulk  model.Variant
	queue []uint32 // lengths of the packets in the qdisc

	socks [2]model.PickSocket
	rx    model.RxList
	batch int  // gro_normal_batch
	wrote bool // it was written since the last list went up
}

func newRandom(d *rapid.T) *random {
	g := &random{trace: newTrace(), d: d, batch: 8}
	g.scale = 1000 // chance lets seconds pass
	for i := range g.socks {
		g.socks[i] = model.PickSocket{Queue: model.NoQueue, Full: true, Route: rapid.Bool().Draw(d, "route")}
	}
	g.bulk = rapid.SampledFrom([]model.Variant{model.BulkBytes, model.BulkBudget}).Draw(d, "bulk")
	g.head = rapid.Bool().Draw(d, "head")
	g.dql.Limit = uint32(rapid.IntRange(0, 40_000).Draw(d, "limit"))
	g.dql.AdjLimit = g.dql.Limit
	return g
}

func (g *random) chance(percent int) bool {
	return rapid.IntRange(1, 100).Draw(g.d, "chance") <= percent
}

func (g *random) below(n int, what string) int { return rapid.IntRange(0, n).Draw(g.d, what) }

// step does one thing.
func (g *random) step() {
	g.cpu = uint16(g.below(1, "cpu"))
	switch g.below(9, "step") {
	case 0, 1:
		for range g.below(120, "enqueue") {
			g.queue = append(g.queue, uint32(60+g.below(1454, "len")))
		}
	case 2, 3, 4:
		g.play()
	case 5:
		g.completes()
		if g.chance(60) {
			g.state &^= event.DrvXoff
		}
	case 6:
		if len(g.queue) == 0 && g.gso() == 0 && g.state == 0 {
			g.qlen = 0
			g.bypass(1000, g.driver(1))
		}
	case 8:
		g.picks()
	case 9:
		g.receives()
	case 7:
		w := g.wfree()
		g.resume()
		if g.chance(30) {
			w.Ksoftirqd, w.WmemBegin, w.WmemEnd = 1, 1100, 101
		}
	}
}

func (g *random) completes() {
	if n := int(g.dql.InFlight()); n > 0 {
		c := g.complete(uint32(1 + g.below(n-1, "completed")))
		c.Source = uint8(g.below(3, "source"))
	}
}

// driver decides how a hand-over of n frames ends.
func (g *random) driver(n uint32) sent {
	s := sent{n: n}
	switch {
	case g.chance(10):
		s.rest, s.busy = uint32(1+g.below(int(n)-1, "refused")), true
		if g.chance(50) {
			s.stop = event.DrvXoff
		}
	case n > 1 && g.chance(10):
		s.rest, s.stop = uint32(1+g.below(int(n)-2, "rest")), event.DrvXoff
	case g.chance(10):
		s.stop = event.DrvXoff
	}
	return s
}

// play is one __qdisc_run.
func (g *random) play() {
	r := g.run()
	for left := 64; left > 0 && r.sent && g.state == 0; {
		n, ok := g.restart(r, left)
		if !ok {
			break
		}
		left -= n
		if g.chance(20) {
			g.completes()
		}
	}
	rec := r.end()
	if rec.Empty == 1 && g.state != 0 {
		rec.Empty = 0 // stopped: no dequeue was tried
	}
}

func (g *random) restart(r *runB, left int) (packets int, ok bool) {
	if g.gso() > 0 {
		r.fromGSO(1514)
		r.send(g.driver(1))
		return 1, true
	}
	if len(g.queue) == 0 {
		return 0, false
	}
	d := model.Dequeue{Bulk: g.bulk, Quota: model.QuotaAfter, OneTxQueue: true, BQL: g.dql.AdjLimit|g.dql.NumQueued != 0, Avail: g.dql.Avail(), Left: left}
	i := 1
	b, _, _ := d.Take(model.Packet{Len: g.queue[0]}, func() (model.Packet, bool) {
		if i >= len(g.queue) {
			return model.Packet{}, false
		}
		i++
		return model.Packet{Len: g.queue[i-1]}, true
	})
	head := g.queue[0]
	g.queue = g.queue[b.N:]
	if g.chance(10) {
		g.completes() // while the batch is being made
	}
	rec := r.dequeue(uint32(b.N), 1, uint32(len(g.queue)))
	rec.Bytes, rec.FirstLen, rec.LastLen, rec.PktLen = uint32(b.Bytes), head, b.Last, uint32(b.Bytes)
	n := uint32(b.N)
	if b.N == 1 && g.chance(20) {
		n = uint32(2 + g.below(40, "segments"))
	}
	r.send(g.driver(n))
	return b.N, true
}

// A right kernel never fails, whatever comes when.
func TestRandomLegal(t *testing.T) {
	rapid.Check(t, func(d *rapid.T) {
		g := newRandom(d)
		for range 40 {
			g.step()
		}
		variant := "bulk=" + string(g.bulk) + ",requeue=tail"
		if g.head {
			variant = "bulk=" + string(g.bulk) + ",requeue=head"
		}
		for _, v := range []string{"auto", variant} {
			for _, r := range g.analyze(t, v, nil).Verify.Rules {
				if r.Verdict == analysis.VerdictFail || r.Verdict == analysis.VerdictSuspect {
					d.Fatalf("%s under %s: %s: %s", r.ID, v, r.Verdict, r.Evidence[0].Says)
				}
			}
		}
	})
}

// failed lists the rules that fail.
func failed(res *analysis.Result) map[string]bool {
	ids := make(map[string]bool)
	for _, r := range res.Verify.Rules {
		if r.Verdict == analysis.VerdictFail {
			ids[r.ID] = true
		}
	}
	return ids
}

// Loss never makes a fail: of a right kernel's trace and of one that breaks a
// rule, whatever records are missing.
func TestRandomLoss(t *testing.T) {
	var all []func(*trace)
	for _, rule := range All() {
		for _, s := range spoils[rule.ID] {
			if !rule.Gate { // a gate that fails hides what the others say
				all = append(all, s.on)
			}
		}
	}
	all = append(all, func(*trace) {})
	rapid.Check(t, func(d *rapid.T) {
		var tr *trace
		if rapid.Bool().Draw(d, "random") {
			g := newRandom(d)
			for range 20 {
				g.step()
			}
			tr = g.trace
		} else {
			tr = legal()
			rapid.SampledFrom(all).Draw(d, "spoil")(tr)
		}
		tr.footer = nil // so that the ledger fits what is missing
		percent := rapid.IntRange(1, 60).Draw(d, "lost")
		lost := make(map[int]bool)
		for i := range tr.recs {
			if rapid.IntRange(1, 100).Draw(d, "drop") <= percent {
				lost[i] = true
			}
		}
		for _, v := range []string{"latest", "auto", "bulk=bytes"} {
			whole := failed(tr.analyze(t, v, nil))
			for id := range failed(tr.analyze(t, v, func(i int) bool { return lost[i] })) {
				if !whole[id] {
					d.Fatalf("%s fails under %s only because records are missing", id, v)
				}
			}
		}
	})
}
