// SPDX-License-Identifier: Apache-2.0

package rules

import (
	"maps"
	"slices"

	"github.com/txtrace/txtrace/internal/analysis"
)

var m2 = analysis.Rule{
	ID:         "M2",
	Sentence:   "The kernel ran every program each time its hook was met.",
	Why:        "The kernel does not run a program while it runs on that CPU already, and does not tell the program. What was missed so is in no record and in no count but its own.",
	Documents:  []string{"9ed9e9ba2337"},
	Kernel:     "bpf_prog_info.recursion_misses",
	Strength:   analysis.Exact,
	Antecedent: "a call of a hook",
	Floor:      0.95,
	Gate:       true,
	New: func(j *analysis.Judge) analysis.Checks {
		c := checkM2{j: j, told: make(map[uint32]uint64)}
		return analysis.Checks{Ledger: c.ledger, End: c.end}
	},
}

// checkM2 counts a skipped run as undecided, not as a fault: rules that need
// every call of a hook say so and doubt what they found about that time. What
// must not happen is a count that falls, for then nothing it says can be used.
type checkM2 struct {
	j    *analysis.Judge
	told map[uint32]uint64 // misses by program, as told while recording
}

func (c *checkM2) ledger(l *analysis.Ledger) {
	c.told[l.Program] = max(c.told[l.Program], l.Missed)
}

func (c *checkM2) end(e *analysis.End) {
	if e.Footer == nil {
		for _, missed := range c.told {
			c.j.UndecidedBy(missed, analysis.Skipped)
		}
		c.j.Undecided("no ledger, the file is cut")
		return
	}
	missed := make(map[uint32]uint64)
	for _, row := range e.Footer.Ledger {
		c.j.HeldBy(row.Seen)
		missed[uint32(row.Program)] += row.Missed
	}
	for _, program := range slices.Sorted(maps.Keys(missed)) {
		n := missed[program]
		c.j.UndecidedBy(n, analysis.Skipped)
		if told := c.told[program]; told > n {
			c.j.Broken(func() *analysis.Evidence {
				return analysis.ShowAt(e.LastNS, "program %d had missed %d runs and at the end %d", program, told, n).
					With("missed_before", "", int64(told)).With("missed", "", int64(n))
			})
		}
	}
}
