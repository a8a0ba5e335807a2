// SPDX-License-Identifier: Apache-2.0

package rules

import (
	"strings"

	"github.com/txtrace/txtrace/internal/analysis"
)

var m4 = analysis.Rule{
	ID:         "M4",
	Sentence:   "Every program is attached to a whole function, once.",
	Why:        "Compilers make parts and copies of functions (.part, .isra, .constprop). A hook on one of them sees some of the calls, and with two hooks of one program every call counts twice.",
	Documents:  []string{"internal/probes"},
	Kernel:     "kallsyms",
	Strength:   analysis.Exact,
	Antecedent: "a program of the recording",
	Gate:       true,
	New: func(j *analysis.Judge) analysis.Checks {
		return analysis.Checks{End: func(e *analysis.End) { judgeM4(j, e) }}
	},
}

func judgeM4(j *analysis.Judge, e *analysis.End) {
	seen := make(map[string]bool)
	for _, p := range e.Header.Programs {
		says := ""
		switch _, function, _ := strings.Cut(p.Hook, ":"); {
		case strings.Contains(function, "."):
			says = "program %s is attached to %s, which is a part or a copy of a function"
		case seen[p.Name]:
			says = "program %s is attached to %s, and to another hook as well"
		}
		seen[p.Name] = true
		if says == "" {
			j.Held()
			continue
		}
		j.Broken(func() *analysis.Evidence { return analysis.ShowAt(e.LastNS, says, p.Name, p.Hook) })
	}
}
