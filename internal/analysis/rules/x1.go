// SPDX-License-Identifier: Apache-2.0

package rules

import (
	"github.com/txtrace/txtrace/internal/analysis"
	"github.com/txtrace/txtrace/internal/model"
)

var x1 = analysis.Rule{
	ID:         "X1",
	Sentence:   "The driver is told that more follows with every packet of a list but the last.",
	Why:        "Drivers write the doorbell once for all packets that they were told more follow. A wrong yes at the last leaves all of them in the ring, a wrong no costs a write to the device.",
	Documents:  []string{"004_9aeb9cc635f797dc", "000_dfeb1c712f3ce5c5"},
	Kernel:     "dev_hard_start_xmit",
	Needs:      []string{"handover", "handover.attempts", "handover.more"},
	Hooks:      attemptHooks,
	Strength:   analysis.Exact,
	Antecedent: "a hand-over",
	Floor:      0.5,
	New: func(j *analysis.Judge) analysis.Checks {
		return analysis.Checks{Handover: func(h *analysis.Handover) { judgeX1(j, h) }}
	},
}

// judgeX1 takes the kernel's own flag at the end, not our walk of the list. A
// stacked device's inner hand-over writes the same flag.
func judgeX1(j *analysis.Judge, h *analysis.Handover) {
	switch {
	case h.Partial():
		return
	case !h.MoreKnown():
		j.Undecided("xmit_more not readable")
		return
	case h.Nested():
		j.Undecided("a stacked device sent inside")
		return
	}
	if i := wrongMore(h); i >= 0 {
		j.Broken(func() *analysis.Evidence {
			return analysis.Show(h.Queue, &h.Header, "with packet %d of %d the driver was told more=%d", i+1, h.Packets, h.Calls[i].More).
				With("packets", "packets", int64(h.Packets)).With("more", "", int64(h.Calls[i].More)).Record(&h.Calls[i].Header)
		})
		return
	}
	want := model.ExpectedMore(int(h.Rest), h.DriverBusy())
	if want == (h.More != 0) {
		j.Held()
		return
	}
	j.Broken(func() *analysis.Evidence {
		return analysis.Show(h.Queue, &h.Header, "after %d of %d packets the driver had been told more=%d", h.Packets-h.Rest, h.Packets, h.More).
			With("packets", "packets", int64(h.Packets)).With("rest", "packets", int64(h.Rest)).
			With("busy", "", int64(h.Busy)).With("more", "", int64(h.More))
	})
}

// wrongMore is the first call of the driver that was told the wrong thing, -1
// when none was, or when not each packet was recorded.
func wrongMore(h *analysis.Handover) int {
	if h.Cut() || !h.Whole || len(h.Calls) != int(h.Attempts) {
		return -1
	}
	for i, c := range h.Calls {
		if last := i+1 == int(h.Packets); c.MoreKnown() && last == (c.More != 0) {
			return i
		}
	}
	return -1
}
