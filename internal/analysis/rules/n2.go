// SPDX-License-Identifier: Apache-2.0

package rules

import (
	"cmp"
	"maps"
	"slices"

	"github.com/txtrace/txtrace/internal/analysis"
)

var n2 = analysis.Rule{
	ID:         "N2",
	Sentence:   "What was enqueued while a lockless qdisc ran is taken by that run or by one that follows.",
	Why:        "The sender that finds the qdisc taken sets MISSED, tries once more and goes. Whoever holds it looks for MISSED when it lets go. A packet that neither takes stays until another is sent.",
	Fate:       analysis.Suspicion,
	Documents:  []string{"a90c57f2cedd", "89837eb4b246"},
	Kernel:     "qdisc_run_end",
	Needs:      []string{"packet", "packet.life", "packet.enqueue"},
	Hooks:      lifeHooks,
	Strength:   analysis.Heuristic,
	Antecedent: "a packet enqueued in a lockless qdisc of a queue that is not stopped",
	New: func(j *analysis.Judge) analysis.Checks {
		c := checkN2{
			j: j, limit: j.Limit(patience), wait: make(map[analysis.LifeID]enqueueN2),
			came: make(map[uint16]*[256]uint32), moved: make(map[uint64]uint64),
		}
		return analysis.Checks{Life: c.life, Run: c.run, Notice: c.notice, End: c.end}
	},
}

// enqueueN2 is what is waited for.
type enqueueN2 struct {
	analysis.Mark
	qdisc uint64
	state uint8
	turn  uint32
	queue *analysis.Queue
}

// checkN2: a packet may have left before its enqueue is told, so the last turns
// of each CPU that did are remembered.
type checkN2 struct {
	j     *analysis.Judge
	limit uint64
	wait  map[analysis.LifeID]enqueueN2
	came  map[uint16]*[256]uint32
	moved map[uint64]uint64 // when a qdisc's queue was stopped last, ns
}

// life: what is taken is given to a driver, or dropped, or cut in segments and
// freed.
func (c *checkN2) life(l *analysis.Life) {
	id := l.ID()
	if !id.Known() {
		return
	}
	turns := c.came[id.Sender]
	if turns == nil {
		if len(c.came) >= maxQdiscs {
			return
		}
		turns = new([256]uint32)
		c.came[id.Sender] = turns
	}
	last := &turns[id.Turn%256]
	switch e := l.Enqueue; {
	case e == nil:
		*last = id.Turn
		if w, ok := c.wait[id]; ok {
			delete(c.wait, id)
			c.judge(&w, l.Time())
		}
	case !l.Lockless() || analysis.Stopped(e.TxqState):
	case *last == id.Turn:
		c.j.Held()
	case len(c.wait) < maxAwaits:
		c.wait[id] = enqueueN2{l.Mark(), e.Qdisc, e.QdiscState, e.Turn, l.Queue}
	}
}

// run: a queue that a driver or BQL stops may stay so.
func (c *checkN2) run(r *analysis.Run) {
	if _, ok := c.moved[r.Qdisc]; r.NoLock() && analysis.Stopped(r.TxqStateEnd) && (ok || len(c.moved) < maxQdiscs) {
		c.moved[r.Qdisc] = r.Time
	}
}

// notice: a device that changes gets other qdiscs.
func (c *checkN2) notice(n *analysis.Notice) {
	if n.Device != nil {
		maps.DeleteFunc(c.wait, func(_ analysis.LifeID, e enqueueN2) bool { return e.queue.Device == n.Device })
	}
}

func (c *checkN2) judge(e *enqueueN2, at uint64) {
	switch {
	case at <= e.Time || at-e.Time <= c.limit:
		c.j.Held()
	case c.moved[e.qdisc] >= e.Time:
		c.j.Undecided("the queue was stopped")
	default:
		c.late(e, at)
	}
}

func (c *checkN2) late(e *enqueueN2, at uint64) {
	c.j.SuspectIf(during(e.Time, at), func() *analysis.Evidence {
		return analysis.Show(e.queue, &e.Header, "a packet was enqueued in a lockless qdisc, and for %d ms nobody took it out", ms(at-e.Time)).
			With("turn", "", int64(e.turn)).With("qdisc_state", "", int64(e.state)).With("waited", "ns", int64(at-e.Time))
	})
}

func (c *checkN2) end(e *analysis.End) {
	left := slices.SortedFunc(maps.Values(c.wait), func(a, b enqueueN2) int {
		return cmp.Or(cmp.Compare(a.Time, b.Time), cmp.Compare(a.CPU, b.CPU), cmp.Compare(a.Seq, b.Seq))
	})
	for i := range left {
		if e.LastNS > left[i].Time+c.limit {
			c.judge(&left[i], e.LastNS)
		}
	}
}
