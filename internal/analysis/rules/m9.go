// SPDX-License-Identifier: Apache-2.0

package rules

import (
	"github.com/txtrace/txtrace/internal/analysis"
)

var m9 = analysis.Rule{
	ID:         "M9",
	Sentence:   "A record names its device by network namespace and index, and a device that is gone sends nothing.",
	Why:        "Indexes of devices are used again, and each namespace has its own. By the index alone two devices become one.",
	Documents:  []string{"internal/event"},
	Kernel:     "dev_net",
	Strength:   analysis.Exact,
	Antecedent: "a record that names a device",
	Gate:       true,
	New: func(j *analysis.Judge) analysis.Checks {
		return analysis.Checks{Record: func(r *analysis.Record) { judgeM9(j, r) }}
	},
}

func judgeM9(j *analysis.Judge, r *analysis.Record) {
	switch {
	case r.Device == nil || r.OfRecorder():
	case r.Netns == 0:
		j.Broken(func() *analysis.Evidence {
			return analysis.Show(nil, r.Header, "a %s record names device %d without its namespace", r.Kind, r.Ifindex).
				With("ifindex", "", int64(r.Ifindex))
		})
	case r.Device.Removed:
		j.Undecided("the device was removed") // its own last packets, or a new one that no notice told of
	default:
		j.Held()
	}
}
