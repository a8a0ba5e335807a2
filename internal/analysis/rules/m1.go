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
		c := checkM1{j: j, told: make(map[rowM1]uint64)}
		return analysis.Checks{Ledger: c.ledger, End: c.end}
	},
}

// checkM1 keeps what was told while recording: no count may have fallen since.
type checkM1 struct {
	j    *analysis.Judge
	told map[rowM1]uint64 // the largest count of the row
}

type rowM1 struct{ program, cpu uint32 }

func (c *checkM1) ledger(l *analysis.Ledger) {
	row := rowM1{l.Program, l.OfCPU}
	c.told[row] = max(c.told[row], l.Seen, l.Submitted, l.Filtered, l.Lost)
}

// end adds up the footer's ledger, and compares it with the gaps. A loss that is
// counted is no fault, but leaves the rule undecided for that CPU.
func (c *checkM1) end(e *analysis.End) {
	j := c.j
	if e.Footer == nil {
		j.Undecided("no ledger, the file is cut")
		return
	}
	lost := make(map[int]uint64) // by CPU, as the programs count it
	for _, row := range e.Footer.Ledger {
		at := rowM1{uint32(row.Program), uint32(row.CPU)}
		told := c.told[at]
		delete(c.told, at)
		if told > row.Seen {
			j.Broken(func() *analysis.Evidence {
				return analysis.ShowAt(e.LastNS, "program %d on CPU %d had counted to %d, and saw %d calls in the end", row.Program, row.CPU, told, row.Seen).
					With("before", "", int64(told)).With("seen", "", int64(row.Seen))
			})
			continue
		}
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
	for row, told := range c.told {
		if told > 0 {
			j.Broken(func() *analysis.Evidence {
				return analysis.ShowAt(e.LastNS, "program %d on CPU %d had counted to %d, and is not among those at the end", row.program, row.cpu, told).
					With("before", "", int64(told))
			})
		}
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
