// SPDX-License-Identifier: Apache-2.0

package rules

import (
	"github.com/txtrace/txtrace/internal/analysis"
)

// Decision: N3 is suspect from a thousand times on while the queue stays
// stopped and gives nothing. No document names a number: since dcad9ee9e067
// (5.14) once is enough, but whoever finds the qdisc taken meanwhile may ask for
// one more run each time, and none of those is seen. The fault was seen to make
// tens of thousands a second.
const maxIdleRuns = 1000

var n3 = analysis.Rule{
	ID:         "N3",
	Sentence:   "A stopped queue's qdisc is not run over and over for nothing.",
	Why:        "A lockless qdisc remembers that somebody wants it run (MISSED). If a run that may not send leaves the mark, it schedules itself again at its end, and net_tx_action keeps its CPU busy until the queue is started.",
	Fate:       analysis.Suspicion,
	Documents:  []string{"dcad9ee9e067"},
	Kernel:     "qdisc_run_end",
	Needs:      []string{"schedule", "run"},
	Strength:   analysis.Heuristic,
	Antecedent: "a qdisc of a stopped queue that net_tx_action came to and listed again, until it gave something or the queue was started",
	New: func(j *analysis.Judge) analysis.Checks {
		c := checkN3{j: j, of: make(map[uint64]*idleN3)}
		return analysis.Checks{Schedule: c.schedule, Run: c.run, End: func(*analysis.End) { c.end() }}
	},
}

// idleN3 counts the runs of a qdisc for nothing.
type idleN3 struct {
	n     uint32
	since uint64
	told  bool
}

type checkN3 struct {
	j  *analysis.Judge
	of map[uint64]*idleN3 // by qdisc
}

func (c *checkN3) schedule(s *analysis.Schedule) {
	if !s.Again() {
		if s.Listed() {
			c.over(s.Qdisc)
		}
		return
	}
	i := c.of[s.Qdisc]
	if i == nil {
		if len(c.of) >= maxQdiscs {
			return
		}
		i = &idleN3{since: s.Time}
		c.of[s.Qdisc] = i
	}
	if i.n++; i.n <= maxIdleRuns || i.told {
		return
	}
	i.told = true
	c.j.SuspectIf(analysis.Claim{Over: analysis.Span{From: i.since, To: s.Time}}, func() *analysis.Evidence {
		return analysis.Show(s.Queue, &s.Header, "net_tx_action came to the qdisc of a stopped queue %d times in %d ms, and it gave nothing", i.n, ms(s.Time-i.since)).
			With("times", "", int64(i.n)).With("qdisc_state", "", int64(s.QdiscState)).With("txq_state", "", int64(s.TxqState))
	})
}

// run: one that gives nothing is not recorded.
func (c *checkN3) run(r *analysis.Run) { c.over(r.Qdisc) }

func (c *checkN3) over(qdisc uint64) {
	if i := c.of[qdisc]; i != nil {
		if !i.told {
			c.j.Held()
		}
		delete(c.of, qdisc)
	}
}

func (c *checkN3) end() {
	for qdisc := range c.of {
		c.over(qdisc)
	}
}
