// SPDX-License-Identifier: Apache-2.0

package rules

import (
	"github.com/txtrace/txtrace/internal/analysis"
)

var n6 = analysis.Rule{
	ID:         "N6",
	Sentence:   "A qdisc is run by one CPU at a time.",
	Why:        "A run takes packets out in order and hands them over in that order, without the qdisc's lock in between. Two at once would send them in any order, and dequeue from structures that expect one reader.",
	Documents:  []string{"79640a4ca695", "6b3ba9146fe6"},
	Kernel:     "qdisc_run_begin",
	Needs:      []string{"run"},
	Hooks:      frameHooks,
	Strength:   analysis.Interval,
	Antecedent: "a run of a qdisc that another CPU ran before",
	New: func(j *analysis.Judge) analysis.Checks {
		c := checkN6{j: j, last: make(map[uint64]runN6)}
		return analysis.Checks{Run: c.run}
	},
}

// Decision: the clocks of two CPUs agree within 50 us. Where the kernel trusts
// the TSC it is far less; a run that overlaps another by less is undecided.
const clockError = 50_000

// runN6 is the last run of a qdisc.
type runN6 struct {
	cpu         uint16
	begin, time uint64
}

type checkN6 struct {
	j    *analysis.Judge
	last map[uint64]runN6 // by qdisc
}

// run: both hooks lie within what qdisc_run_begin and qdisc_run_end enclose.
func (c *checkN6) run(r *analysis.Run) {
	if r.Partial() || r.Lasting() {
		return
	}
	before, ok := c.last[r.Qdisc]
	if !ok && len(c.last) >= maxQdiscs {
		return
	}
	if r.Time >= before.time {
		c.last[r.Qdisc] = runN6{r.CPU, r.Begin(), r.Time}
	}
	if !ok || before.cpu == r.CPU {
		return
	}
	// By so much one clock would have to be wrong for the two to be apart.
	switch apart := min(int64(before.time-r.Begin()), int64(r.Time-before.begin)); {
	case apart <= 0:
		c.j.Held()
	case apart <= clockError:
		c.j.Undecided(analysis.Race)
	default:
		c.j.Broken(func() *analysis.Evidence {
			return analysis.Show(r.Queue, &r.Header, "CPU %d ran the qdisc while CPU %d did: their clocks would have to differ by %d ns", r.CPU, before.cpu, apart).
				With("begin", "ns", int64(r.Begin())).With("end", "ns", int64(r.Time)).
				With("other_begin", "ns", int64(before.begin)).With("other_end", "ns", int64(before.time))
		})
	}
}
