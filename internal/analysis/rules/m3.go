// SPDX-License-Identifier: Apache-2.0

package rules

import (
	"strings"

	"github.com/txtrace/txtrace/internal/analysis"
)

var m3 = analysis.Rule{
	ID:         "M3",
	Sentence:   "A function that is hooked at both ends is left as often as it is entered, but for calls under way at either end of recording.",
	Why:        "A record of a call is made when it is left. A call that was entered and never left has no record, and one that was left without having been entered has no begin.",
	Documents:  []string{"internal/probes"},
	Kernel:     "fentry, fexit",
	Strength:   analysis.Interval,
	Antecedent: "a pair of programs",
	Gate:       true,
	New: func(j *analysis.Judge) analysis.Checks {
		c := checkM3{j: j}
		return analysis.Checks{End: c.end}
	},
}

// spans are the functions whose ends without a begin are counted as orphans.
var spans = map[string]bool{"__qdisc_run": true, "sch_direct_xmit": true, "dev_hard_start_xmit": true}

// deepest is how often a function may be under way on a CPU: once for each device
// of a stack. A begin of a queue that is not wanted, of loopback or because of a
// filter, is told from no other, and opens no frame: its end has no begin, and it
// is not counted as open.
const deepest = 8

type checkM3 struct {
	j *analysis.Judge
}

func (c *checkM3) end(e *analysis.End) {
	if e.Footer == nil {
		c.j.Undecided("no ledger, the file is cut")
		return
	}
	seen, missed := make(map[string]int64), make(map[string]int64)
	unwanted := false
	for _, row := range e.Footer.Ledger {
		if row.Program < 0 || row.Program >= len(e.Header.Programs) {
			continue
		}
		name := e.Header.Programs[row.Program].Name
		seen[name] += int64(row.Seen)
		missed[name] += int64(row.Missed)
		_, function, _ := strings.Cut(e.Header.Programs[row.Program].Hook, ":")
		unwanted = unwanted || spans[function] && e.Header.Programs[row.Program].Pair != "" && row.Filtered > 0
	}
	edges := int64(0) // calls that may be under way at an end of recording and are not counted
	if unwanted {
		edges = deepest * int64(e.Header.Kernel.PossibleCPUs)
	}
	for _, p := range e.Header.Programs {
		if p.Pair == "" {
			continue
		}
		_, function, _ := strings.Cut(p.Hook, ":")
		more := seen[p.Name] - seen[p.Pair]
		under, over := int64(e.Footer.Orphans)+missed[p.Name], int64(e.Footer.Open)+missed[p.Pair]
		switch {
		case more >= -under && more <= over:
			c.j.Held()
		case !spans[function] || e.Stats.Corrupt > 0, more >= -under-edges && more <= over+edges:
			c.j.Undecided("calls under way")
		default:
			c.j.Broken(func() *analysis.Evidence {
				return analysis.ShowAt(e.LastNS, "%s was entered %d times more than it was left; %d calls were open, %d ends had no begin",
					function, more, e.Footer.Open, e.Footer.Orphans).
					With("entered", "", seen[p.Name]).With("left", "", seen[p.Pair]).
					With("open", "", int64(e.Footer.Open)).With("orphans", "", int64(e.Footer.Orphans))
			})
		}
	}
}
