// SPDX-License-Identifier: Apache-2.0

package rules

import (
	"github.com/txtrace/txtrace/internal/analysis"
)

var m7 = analysis.Rule{
	ID:         "M7",
	Sentence:   "A call that was under way when recording began is marked partial.",
	Why:        "A call that began before recording did has a begin nobody saw. Taken for a whole one it would prove by what it lacks.",
	Documents:  []string{"internal/event"},
	Kernel:     "fentry, fexit",
	Strength:   analysis.Exact,
	Antecedent: "a run, direct or hand-over",
	Gate:       true,
	New: func(j *analysis.Judge) analysis.Checks {
		return analysis.Checks{Record: func(r *analysis.Record) { judgeM7(j, r) }}
	},
}

// judgeM7: the recorder read its clock before it armed the programs, so no call
// that was seen from its begin began earlier.
func judgeM7(j *analysis.Judge, r *analysis.Record) {
	if !r.IsSpan() {
		return
	}
	if r.Partial() || r.Begin() >= r.Armed {
		j.Held()
		return
	}
	j.Broken(func() *analysis.Evidence {
		return analysis.Show(nil, r.Header, "a call that began %d ns before recording did is not marked partial", r.Armed-r.Begin()).
			With("begin", "ns", int64(r.Begin())).With("recording_began", "ns", int64(r.Armed))
	})
}
