// SPDX-License-Identifier: Apache-2.0

package rules

import (
	"github.com/txtrace/txtrace/internal/analysis"
)

var q8 = analysis.Rule{
	ID:         "Q8",
	Sentence:   "XPS by CPU is asked with the number of a CPU that there can be.",
	Why:        "skb->sender_cpu shares its place with napi_id. Unless it is set anew on the way out, XPS looks up a number that is no CPU's.",
	Documents:  []string{"2bd82484bb4c", "c29390c6dfee"},
	Kernel:     "get_xps_queue",
	Needs:      []string{"pick"},
	Strength:   analysis.Exact,
	Antecedent: "a queue chosen by the core on a device with XPS by CPU",
	Floor:      0.5,
	New: func(j *analysis.Judge) analysis.Checks {
		return analysis.Checks{
			Pick:  func(p *analysis.Pick) { judgeQ8(j, p) },
			Picks: func(p *analysis.Picks) { j.HeldBy(uint64(p.Mapped)) },
		}
	},
}

// judgeQ8: skb->sender_cpu is the CPU and one, so that 0 is none. Other uses of
// the field must be gone by then.
func judgeQ8(j *analysis.Judge, p *analysis.Pick) {
	switch most := p.Kernel.PossibleCPUs; {
	case !p.ByCPU() || !p.Chooses() || p.QueuesBegin == 1 || p.Hit():
	case most == 0:
		j.Undecided("the number of CPUs is not known")
	case p.SenderCPU >= 1 && p.SenderCPU <= most:
		j.Held()
	default:
		j.Broken(func() *analysis.Evidence {
			return showPick(p, "XPS was asked for CPU %d of %d", int64(p.SenderCPU)-1, most).
				With("sender_cpu", "", int64(p.SenderCPU)).With("cpus", "", int64(most))
		})
	}
}
