// SPDX-License-Identifier: Apache-2.0

package rules

import (
	"github.com/txtrace/txtrace/internal/analysis"
)

var m1 = analysis.Rule{
	ID:         "M1",
	Sentence:   "Every record that a program made is in the file or is counted as lost.",
	Why:        "A record that is neither in the file nor counted would make whatever rests on its absence look like the kernel's doing.",
	Documents:  []string{"internal/capture"},
	Kernel:     "bpf_ringbuf_output",
	Strength:   analysis.Exact,
	Antecedent: "a program's ledger row, or a CPU's sequence",
	Floor:      1,
	Gate:       true,
	New: func(j *analysis.Judge) analysis.Checks {
		return analysis.Checks{End: func(e *analysis.End) { judgeM1(j, e) }}
	},
}

// judgeM1 adds up the footer's ledger, and compares it with the gaps. A loss
// that is counted is no fault, but leaves the rule undecided for that CPU.
func judgeM1(j *analysis.Judge, e *analysis.End) {
	if e.Footer == nil {
		j.Undecided("no ledger, the file is cut")
		return
	}
	lost := make(map[int]uint64) // by CPU, as the programs count it
	for _, row := range e.Footer.Ledger {
		lost[row.CPU] += row.Lost
		if row.Seen == row.Submitted+row.Filtered+row.Lost {
			j.Held()
			continue
		}
		j.Broken(func() *analysis.Evidence {
			return analysis.ShowAt(e.LastNS, "program %d on CPU %d saw %d calls, and accounts for %d submitted, %d filtered, %d lost",
				row.Program, row.CPU, row.Seen, row.Submitted, row.Filtered, row.Lost).
				With("seen", "", int64(row.Seen)).With("submitted", "", int64(row.Submitted)).
				With("filtered", "", int64(row.Filtered)).With("lost", "", int64(row.Lost))
		})
	}
	for cpu, missing := range e.Lost() {
		switch counted := lost[cpu]; {
		case missing == 0 && counted == 0:
			j.Held()
		case missing > counted: // lost on the way to the file, and the gap says where
			j.Undecided("lost after the ring")
		default:
			j.Undecided(analysis.Lost)
		}
	}
}
