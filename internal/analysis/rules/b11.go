// SPDX-License-Identifier: Apache-2.0

package rules

import (
	"github.com/txtrace/txtrace/internal/analysis"
	"github.com/txtrace/txtrace/internal/model"
)

var b11 = analysis.Rule{
	ID:         "B11",
	Sentence:   "After a completion the limit lies between limit_min and limit_max.",
	Why:        "limit_min and limit_max are what an administrator sets against latency or starvation. A reset that forgot limit_min left a queue at nothing after every link change.",
	Documents:  []string{"3a17f23f7c36", "lib/dynamic_queue_limits.c"},
	Kernel:     "dql_completed",
	Needs:      []string{"bql", "complete.napi"},
	Switches:   []model.Switch{model.SwitchDQLReset},
	Strength:   analysis.Exact,
	Antecedent: "a snapshot after a completion, or a reset, with the bounds unchanged since the ones before",
	New: func(j *analysis.Judge) analysis.Checks {
		c := checkB11{j: j}
		return analysis.Checks{Completion: c.completion}
	},
}

// bounds of a queue, and for how many snapshots they were the same.
type bounds struct {
	least, most uint32
	seen        int
}

type checkB11 struct {
	j      *analysis.Judge
	queues analysis.PerQueue[bounds]
}

// completion judges a snapshot whose bounds are those of the two before: a
// completion that was under way when a bound was written may still have used
// the old one. A value written to limit acts until the next completion.
func (c *checkB11) completion(s *analysis.Completion) {
	if s.Torn() {
		return
	}
	b := c.queues.At(s.Queue)
	if b.least != s.MinLimit || b.most != s.MaxLimit {
		*b = bounds{s.MinLimit, s.MaxLimit, 0}
	}
	b.seen++
	if b.seen < 3 || s.MinLimit > s.MaxLimit || s.Step.Outcome == model.OutcomeIdle {
		return
	}
	switch {
	case s.Step.Outcome == model.OutcomeReset && s.NumCompleted == 0:
		c.reset(s)
	case !s.After.Settled():
		c.j.Expected("limit was written", func() *analysis.Evidence {
			return showB11(s, "limit %d was written since the last completion", s.Limit)
		})
	case s.Limit >= s.MinLimit && s.Limit <= s.MaxLimit:
		c.j.Held()
	default:
		c.j.Broken(func() *analysis.Evidence {
			return showB11(s, "limit %d after a completion lies outside of %d to %d", s.Limit, s.MinLimit, s.MaxLimit)
		})
	}
}

// reset compares with what the variants leave after dql_reset.
func (c *checkB11) reset(s *analysis.Completion) {
	c.j.Weigh(analysis.Claim{}, func(v analysis.Setting) (analysis.Outcome, string) {
		d := s.After
		d.Reset(v.First, s.SlackStartTime)
		switch {
		case s.Limit == d.Limit:
			return analysis.Held, ""
		case s.Limit == 0 || s.Limit == s.MinLimit:
			return analysis.Broken, ""
		}
		return analysis.Undecided, analysis.Changed
	}, func(v analysis.Setting) *analysis.Evidence {
		return showB11(s, "limit is %d after dql_reset (limit_min %d, dql-reset=%s)", s.Limit, s.MinLimit, v.First)
	})
}

func showB11(s *analysis.Completion, format string, args ...any) *analysis.Evidence {
	return analysis.Show(s.Queue, &s.Header, format, args...).With("limit", "bytes", int64(s.Limit)).
		With("limit_min", "bytes", int64(s.MinLimit)).With("limit_max", "bytes", int64(s.MaxLimit))
}
