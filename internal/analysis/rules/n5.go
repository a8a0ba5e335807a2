// SPDX-License-Identifier: Apache-2.0

package rules

import (
	"github.com/txtrace/txtrace/internal/analysis"
)

var n5 = analysis.Rule{
	ID:         "N5",
	Sentence:   "A lockless qdisc is not emptied while it is dequeued from.",
	Why:        "Its rings have one consumer at a time, by the lock that runs exclude each other by. A reset that does not take that lock frees a packet that a run has just taken, which is sent or freed twice.",
	Documents:  []string{"net/sched/sch_generic.c", "a90c57f2cedd"},
	Kernel:     "dev_reset_queue",
	Needs:      []string{"reset", "dequeue"},
	Strength:   analysis.Interval,
	Antecedent: "a reset of a lockless qdisc",
	New: func(j *analysis.Judge) analysis.Checks {
		c := checkN5{j: j, of: make(map[uint64]*resetsN5)}
		return analysis.Checks{Schedule: c.schedule, Batch: c.batch, End: func(*analysis.End) { c.end() }}
	},
}

// resetsN5 is the last reset of a qdisc, and its last batch.
type resetsN5 struct {
	reset  analysis.Schedule
	is     bool // reset is valid, and not judged
	dequed uint64
	cpu    uint16
}

type checkN5 struct {
	j  *analysis.Judge
	of map[uint64]*resetsN5 // by qdisc
}

func (c *checkN5) at(qdisc uint64) *resetsN5 {
	r := c.of[qdisc]
	if r == nil && len(c.of) < maxQdiscs {
		r = new(resetsN5)
		c.of[qdisc] = r
	}
	return r
}

// schedule: a batch of a run is told of when that is over, maybe after the
// reset.
func (c *checkN5) schedule(s *analysis.Schedule) {
	if !s.Emptied() {
		return
	}
	r := c.at(s.Qdisc)
	if r == nil {
		return
	}
	c.over(r)
	r.reset, r.is = *s, true
	c.look(r)
}

func (c *checkN5) batch(b *analysis.Batch) {
	if !b.NoLock() {
		return
	}
	if r := c.at(b.Qdisc); r != nil {
		r.dequed, r.cpu = b.Time, b.CPU
		c.look(r)
	}
}

// look: a batch is told of when it has been taken.
func (c *checkN5) look(r *resetsN5) {
	if !r.is || r.cpu == r.reset.CPU || r.dequed <= r.reset.Begin() || r.dequed >= r.reset.Time {
		return
	}
	r.is = false
	if r.dequed-r.reset.Begin() <= clockError || r.reset.Time-r.dequed <= clockError {
		c.j.Undecided(analysis.Race)
		return
	}
	reset, at, cpu := r.reset, r.dequed, r.cpu
	c.j.Broken(func() *analysis.Evidence {
		return analysis.Show(reset.Queue, &reset.Header, "CPU %d took packets out of the qdisc %d us after CPU %d began to empty it, and %d us before it was done", cpu, (at-reset.Begin())/1000, reset.CPU, (reset.Time-at)/1000).
			With("dequeued", "ns", int64(at)).With("begin", "ns", int64(reset.Begin())).With("end", "ns", int64(reset.Time)).With("held", "", int64(reset.Held))
	})
}

func (c *checkN5) over(r *resetsN5) {
	if r.is {
		c.j.Held()
	}
	r.is = false
}

func (c *checkN5) end() {
	for _, r := range c.of {
		c.over(r)
	}
}
