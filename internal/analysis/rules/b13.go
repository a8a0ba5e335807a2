// SPDX-License-Identifier: Apache-2.0

package rules

import (
	"fmt"
	"math/bits"

	"github.com/txtrace/txtrace/internal/analysis"
	"github.com/txtrace/txtrace/internal/model"
)

var b13 = analysis.Rule{
	ID:         "B13",
	Sentence:   "A completion leaves struct dql as the algorithm of dql_completed does.",
	Why:        "The limit grows when the queue ran dry and shrinks by what was in excess for a while. Every field feeds the next step, so one wrong value lasts.",
	Documents:  []string{"lib/dynamic_queue_limits.c", "0cfd32b736ae", "25426b794efd"},
	Kernel:     "dql_completed",
	Needs:      []string{"bql", "complete.napi"},
	Hooks:      []string{"napi_poll", "__handle_irq_event_percpu"},
	Strength:   analysis.Exact,
	Antecedent: "a snapshot in which num_completed moved since the one before",
	Floor:      0.5,
	New: func(j *analysis.Judge) analysis.Checks {
		c := &checkB13{j: j}
		return analysis.Checks{Completion: c.completion, End: c.end}
	},
}

// A write to the sysfs file limit cannot be hooked, and one between a snapshot
// and the next completion looks like a wrong kernel. It acts on that completion
// alone, so each step that differs needs a write of its own. What tells the two
// apart is how often, and when:
//
// Decision: at most 8 of 64 consecutive completions of a queue may need a write
// to explain them; one more is a fault. No administrator, and no test, writes
// another limit in every eighth completion. If it does all the same, some
// writes fall between a completion and its snapshot, where they are seen: such
// a queue's steps stay suspect.
//
// Decision: four steps are a fault, however rare, if all of them are steps in
// which the algorithm moves the limit, and such steps are at most one in 32 of
// the queue's: writes do not wait for them (by chance once in 32^4). A wrong
// growth shows this way, for the limit of a busy queue moves a few times only.
const (
	mostWrites = 8
	moveSteps  = 4
	moveShare  = 32
)

// stepsB13 are the steps of one queue. A step is odd if one completion does not
// explain it, but a write to limit, a completion that was not seen or a
// half-written snapshot may.
type stepsB13 struct {
	queue   *analysis.Queue
	recent  uint64                 // the last 64 steps: which were odd
	starts  [mostWrites + 1]uint64 // when the last odd ones began
	steps   int                    // odd, or held
	moves   int                    // of those, the ones in which the algorithm moves the limit
	odd     int
	still   int // odd, and the algorithm keeps the limit
	unclear int // neither held nor odd, and the algorithm moves the limit
	writes  int // writes to limit that were seen

	first *analysis.Evidence // of the first odd step
	over  analysis.Span      // of the first odd steps, up to moveSteps
}

type checkB13 struct {
	j      *analysis.Judge
	queues analysis.PerQueue[stepsB13]
	all    []*stepsB13
}

// completion reads what model.Explain found when the snapshots were linked. The
// first one has no step, and in an idle one nothing is completed.
func (c *checkB13) completion(s *analysis.Completion) {
	if s.Torn() {
		c.j.Undecided(analysis.Torn)
		return
	}
	q := c.queues.At(s.Queue)
	if q.queue == nil {
		q.queue = s.Queue
		c.all = append(c.all, q)
	}
	if s.Step.Reason == model.LimitWritten {
		q.writes++
	}
	switch s.Step.Outcome {
	case model.OutcomeEqual, model.OutcomeSplit:
		q.step(s, 0)
		c.j.Held()
	case model.OutcomeReset:
		c.j.Undecided(analysis.Reset)
	case model.OutcomeAdmin:
		c.j.Undecided(analysis.Changed)
	case model.OutcomeUndecided:
		c.undecided(q, s)
	case model.OutcomeUnequal:
		if s.Step.Write == nil && !s.Single {
			c.j.BrokenIf(claimB13(s), func() *analysis.Evidence { return showB13(s, "") })
		} else if !c.frequent(q, s) {
			c.j.SuspectIf(claimB13(s), func() *analysis.Evidence { return showOddB13(s) })
		}
	}
}

func (c *checkB13) undecided(q *stepsB13, s *analysis.Completion) {
	switch {
	case s.Step.Field == "":
		if s.Step.Moves {
			q.unclear++
		}
	case c.frequent(q, s):
		return
	}
	c.j.Undecided(s.Step.Reason)
}

// frequent counts an odd step, and says that it is broken because there are too
// many of them.
func (c *checkB13) frequent(q *stepsB13, s *analysis.Completion) bool {
	q.step(s, 1)
	if q.odd == 0 {
		q.first, q.over.From = showOddB13(s), s.From()
	}
	if q.odd < moveSteps {
		q.over.To = s.Time
	}
	q.starts[q.odd%len(q.starts)] = s.From()
	q.odd++
	if !s.Step.Moves {
		q.still++
	}
	n := bits.OnesCount64(q.recent)
	if n <= mostWrites || q.writes > 0 {
		return false
	}
	claim := claimB13(s)
	claim.Over.From = q.starts[q.odd%len(q.starts)] // the one too many is the last of these
	c.j.BrokenIf(claim, func() *analysis.Evidence {
		return showOddB13(s).With("odd_of_last_64", "", int64(n))
	})
	return true
}

// step counts one that is held, or odd.
func (q *stepsB13) step(s *analysis.Completion, odd uint64) {
	q.steps++
	q.recent = q.recent<<1 | odd
	if s.Step.Moves {
		q.moves++
	}
}

// end looks at the queues with few odd steps, and at those of which it is not
// known whether the limit moves as it should.
func (c *checkB13) end(*analysis.End) {
	for _, q := range c.all {
		switch {
		case q.writes > 0:
		case q.odd >= moveSteps && q.still == 0 && q.moves*moveShare <= q.steps:
			c.j.BrokenIf(analysis.Claim{Over: q.over}, func() *analysis.Evidence {
				return q.first.With("odd", "", int64(q.odd)).With("moves", "", int64(q.moves)).With("steps", "", int64(q.steps))
			})
		case q.unclear >= moveSteps && q.unclear > q.moves:
			c.j.Short(fmt.Sprintf("of %d steps in which the limit of a queue should have moved, %d are undecided", q.moves+q.unclear, q.unclear))
		}
	}
}

func claimB13(s *analysis.Completion) analysis.Claim {
	return analysis.Claim{Over: analysis.Span{From: s.From(), To: s.Time}}
}

func showOddB13(s *analysis.Completion) *analysis.Evidence {
	if s.Step.Write == nil {
		return showB13(s, "; a completion that was not seen may explain it")
	}
	return showB13(s, "; a write of %d to limit would explain it", *s.Step.Write)
}

func showB13(c *analysis.Completion, more string, args ...any) *analysis.Evidence {
	args = append([]any{c.Step.Field, c.Step.Saw, c.Step.Want}, args...)
	e := analysis.Show(c.Queue, &c.Header, "after a completion %s is %d, the algorithm gives %d"+more, args...)
	return e.With("saw_"+c.Step.Field, "", int64(c.Step.Saw)).With("want_"+c.Step.Field, "", int64(c.Step.Want)).
		With("num_completed_before", "bytes", int64(c.Before.NumCompleted)).With("num_completed", "bytes", int64(c.NumCompleted)).
		With("prev_num_queued", "bytes", int64(c.PrevNumQueued)).With("prev_last_obj_cnt", "bytes", int64(c.PrevLastObjCnt)).
		With("limit_before", "bytes", int64(c.Before.Limit)).With("limit", "bytes", int64(c.Limit))
}
