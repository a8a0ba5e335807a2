// SPDX-License-Identifier: Apache-2.0

package rules

import (
	"github.com/txtrace/txtrace/internal/analysis"
	"github.com/txtrace/txtrace/internal/model"
)

var b13 = analysis.Rule{
	ID:         "B13",
	Sentence:   "A completion leaves struct dql as the algorithm of dql_completed does.",
	Documents:  []string{"lib/dynamic_queue_limits.c", "0cfd32b736ae", "25426b794efd"},
	Kernel:     "dql_completed",
	Needs:      []string{"bql", "complete.napi"},
	Strength:   analysis.Exact,
	Antecedent: "a snapshot in which num_completed moved since the one before",
	Floor:      0.5,
	New: func(j *analysis.Judge) analysis.Checks {
		return analysis.Checks{Completion: func(c *analysis.Completion) { judgeB13(j, c) }}
	},
}

// judgeB13 reads what model.Explain found when the snapshots were linked.
func judgeB13(j *analysis.Judge, c *analysis.Completion) {
	switch {
	case c.Torn():
		j.Undecided(analysis.Torn)
		return
	case !c.Linked:
		return
	}
	switch c.Step.Outcome {
	case model.OutcomeIdle:
	case model.OutcomeEqual, model.OutcomeSplit:
		j.Held()
	case model.OutcomeReset:
		j.Undecided(analysis.Reset)
	case model.OutcomeAdmin:
		j.Undecided(analysis.Changed)
	case model.OutcomeUndecided:
		j.Undecided(c.Step.Reason)
	case model.OutcomeUnequal:
		if c.Step.Write != nil {
			j.Suspect(func() *analysis.Evidence {
				return showB13(c, "; a write of %d to limit would explain it", *c.Step.Write)
			})
			return
		}
		over := analysis.Span{From: c.Since, To: c.Time}
		j.BrokenIf(analysis.Claim{Over: over}, func() *analysis.Evidence { return showB13(c, "") })
	}
}

func showB13(c *analysis.Completion, more string, args ...any) *analysis.Evidence {
	args = append([]any{c.Step.Field, c.Step.Saw, c.Step.Want}, args...)
	e := analysis.Show(c.Queue, &c.Header, "after a completion %s is %d, the algorithm gives %d"+more, args...)
	return e.With("saw_"+c.Step.Field, "", int64(c.Step.Saw)).With("want_"+c.Step.Field, "", int64(c.Step.Want)).
		With("num_completed_before", "bytes", int64(c.Before.NumCompleted)).With("num_completed", "bytes", int64(c.NumCompleted)).
		With("prev_num_queued", "bytes", int64(c.PrevNumQueued)).With("prev_last_obj_cnt", "bytes", int64(c.PrevLastObjCnt)).
		With("limit_before", "bytes", int64(c.Before.Limit)).With("limit", "bytes", int64(c.Limit))
}
