// SPDX-License-Identifier: Apache-2.0

package rules

import (
	"github.com/txtrace/txtrace/internal/analysis"
)

var m5 = analysis.Rule{
	ID:         "M5",
	Sentence:   "A NAPI's number is above those of CPUs, or it has none.",
	Why:        "skb->napi_id shares its place with sender_cpu: a number that some CPU has is not a NAPI's, and nothing may be said of the NAPI by it.",
	Documents:  []string{"include/net/busy_poll.h"},
	Kernel:     "napi_hash_add",
	Needs:      []string{"gro"},
	Strength:   analysis.Exact,
	Antecedent: "a list of received packets of a NAPI with a number",
	New: func(j *analysis.Judge) analysis.Checks {
		return analysis.Checks{List: func(l *analysis.List) {
			switch {
			case l.NapiID == 0:
			case l.CPUs == 0:
				j.Undecided("the number of CPUs is not known")
			case l.NapiID > l.CPUs:
				j.Held()
			default:
				j.Broken(func() *analysis.Evidence {
					return analysis.Show(nil, &l.Header, "NAPI %d has the number of a CPU: there may be %d", l.NapiID, l.CPUs).
						With("napi_id", "", int64(l.NapiID)).With("cpus", "", int64(l.CPUs))
				})
			}
		}}
	},
}
