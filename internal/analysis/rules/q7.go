// SPDX-License-Identifier: Apache-2.0

package rules

import (
	"github.com/txtrace/txtrace/internal/analysis"
)

var q7 = analysis.Rule{
	ID:         "Q7",
	Sentence:   "A queue that a filter set is the one that is taken.",
	Why:        "Whoever sets a packet's queue by tc at egress keeps some traffic apart from other. A kernel that chooses anew after that, as all did before 5.19, sends it where it was to be kept from, and nobody is told.",
	Documents:  []string{"net/core/dev.c", "2f1e85b1aee4"},
	Kernel:     "netdev_tx_queue_mapping",
	Needs:      []string{"steer"},
	Hooks:      []string{"tcf_classify", "net_dev_queue", "__qdisc_run"},
	Strength:   analysis.Exact,
	Antecedent: "a packet whose queue a filter set at egress; of those that went right, one a jiffy and CPU",
	New: func(j *analysis.Judge) analysis.Checks {
		return analysis.Checks{Steer: func(s *analysis.Steer) { judgeQ7(j, s) }}
	},
}

// judgeQ7: a queue that the device does not have becomes the first
// (netdev_cap_txqueue), where their number was the same all the time.
func judgeQ7(j *analysis.Judge, s *analysis.Steer) {
	want := uint32(s.Wanted)
	if want >= s.QueuesEnd {
		want = 0
	}
	switch {
	case s.Index == want:
		j.Held()
	case s.QueuesBegin != s.QueuesEnd:
		j.Undecided(analysis.Changed)
	default:
		j.Broken(func() *analysis.Evidence {
			return analysis.Show(s.Queue, &s.Header, "a filter set queue %d of %d, the packet went to queue %d", s.Wanted, s.QueuesEnd, s.Index).
				With("wanted", "", int64(s.Wanted)).With("index", "", int64(s.Index)).With("queues", "", int64(s.QueuesEnd))
		})
	}
}
