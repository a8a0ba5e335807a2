// SPDX-License-Identifier: Apache-2.0

package rules

import (
	"github.com/txtrace/txtrace/internal/analysis"
)

var m8 = analysis.Rule{
	ID:         "M8",
	Sentence:   "On one CPU time goes forward with the sequence, but for interrupts between the clock and the number.",
	Why:        "All joining of records rests on each CPU's order being that of its numbers. Where its clock says otherwise, one of the two is wrong.",
	Documents:  []string{"internal/capture"},
	Kernel:     "bpf_ktime_get_ns",
	Needs:      []string{"context"},
	Strength:   analysis.Interval,
	Antecedent: "a record with one before it on its CPU",
	Floor:      0.9,
	Gate:       true,
	New: func(j *analysis.Judge) analysis.Checks {
		return analysis.Checks{
			Record: func(r *analysis.Record) { judgeM8(j, r) },
			End: func(e *analysis.End) {
				j.UndecidedBy(uint64(e.Stats.Unordered+e.Stats.Late), analysis.Late)
			},
		}
	},
}

// judgeM8: a program reads the clock, then takes its number. What comes in
// between is of a deeper context, or of a task that preempted this one; it has
// the smaller number and the later time.
func judgeM8(j *analysis.Judge, r *analysis.Record) {
	if !r.HasBefore || r.OfRecorder() {
		return
	}
	switch {
	case r.Time >= r.Before.Time, r.Deeper():
		j.Held()
	case r.Before.Pid != r.Pid:
		j.Undecided(analysis.Race)
	default:
		j.Broken(func() *analysis.Evidence {
			return analysis.Show(nil, r.Header, "record %d of CPU %d is %d ns older than record %d before it",
				r.Seq, r.CPU, r.Before.Time-r.Time, r.Before.Seq).
				With("time", "ns", int64(r.Time)).With("time_before", "ns", int64(r.Before.Time))
		})
	}
}
