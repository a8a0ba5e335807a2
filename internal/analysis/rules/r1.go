// SPDX-License-Identifier: Apache-2.0

package rules

import (
	"github.com/txtrace/txtrace/internal/analysis"
	"github.com/txtrace/txtrace/internal/model"
)

var r1 = analysis.Rule{
	ID:         "R1",
	Sentence:   "sch_direct_xmit hands a list over only while its queue is neither stopped nor frozen; what is not sent goes back, and the answer says so.",
	Why:        "The driver may be asked only while its queue is open: a stopped one has no room. Whoever calls goes by the answer, and takes the next packet or leaves.",
	Documents:  []string{"000_dfeb1c712f3ce5c5", "7698b4fcabcd"},
	Kernel:     "sch_direct_xmit",
	Needs:      []string{"direct", "handover"},
	Strength:   analysis.Interval,
	Antecedent: "a sch_direct_xmit",
	New: func(j *analysis.Judge) analysis.Checks {
		return analysis.Checks{Direct: func(d *analysis.Direct) { judgeR1(j, d) }}
	},
}

func judgeR1(j *analysis.Judge, d *analysis.Direct) {
	switch {
	case !d.Whole:
		j.Undecided(d.Doubt())
	case d.Handover == nil && d.Sent():
		droppedR1(j, d)
	case d.Handover == nil:
		stoppedR1(j, d)
	default:
		handedR1(j, d, d.Handover)
	}
}

// droppedR1: without a hand-over and without a requeue, validation dropped the
// whole list.
func droppedR1(j *analysis.Judge, d *analysis.Direct) {
	if d.Put() > 0 {
		j.Broken(func() *analysis.Evidence {
			return showR1(d, "of %d packets some were put back, and the answer was to go on", d.Packets)
		})
		return
	}
	if d.Validate == 0 {
		j.Broken(func() *analysis.Evidence {
			return showR1(d, "%d packets that needed no validation were neither handed over nor put back", d.Packets)
		})
		return
	}
	j.Held()
}

// stoppedR1: the whole list went back, because the queue was stopped under the
// transmit lock, or for xfrm. The bits may have come and gone in between.
func stoppedR1(j *analysis.Judge, d *analysis.Direct) {
	stopped := !model.Startable(model.QueueState(d.TxqStateBegin)) || !model.Startable(model.QueueState(d.TxqStateEnd))
	switch put := d.Put(); {
	case put < 0, d.Emptied():
		j.Undecided(analysis.Reset)
	case put == 0:
		j.Broken(func() *analysis.Evidence {
			return showR1(d, "%d packets were not handed over, and none was put back into gso_skb", d.Packets)
		})
	case stopped:
		j.Held()
	default:
		j.Undecided(analysis.Race)
	}
}

// handedR1: STACK and FROZEN change under the transmit lock only, which is held
// from the test to the end of the hand-over. A driver may set DRV at any time.
func handedR1(j *analysis.Judge, d *analysis.Direct, h *analysis.Handover) {
	state := model.QueueState(h.TxqStateBegin)
	switch {
	case d.Sent() != (h.Rest == 0):
		j.Broken(func() *analysis.Evidence {
			return showR1(d, "a hand-over left %d packets and the answer was %d", h.Rest, d.Result).Record(&h.Header)
		})
	case model.Startable(state):
		j.Held()
	case h.Unlocked(), model.Startable(state &^ model.QueueDrv):
		j.Undecided(analysis.Race)
	default:
		j.Broken(func() *analysis.Evidence {
			return showR1(d, "%d packets were handed over to a queue that is stopped or frozen (state %d)", h.Packets, h.TxqStateBegin).Record(&h.Header)
		})
	}
}

func showR1(d *analysis.Direct, format string, args ...any) *analysis.Evidence {
	return analysis.Show(d.Queue, &d.Header, format, args...).
		With("result", "", int64(d.Result)).With("validate", "", int64(d.Validate)).
		With("txq_state_begin", "", int64(d.TxqStateBegin)).With("txq_state_end", "", int64(d.TxqStateEnd)).
		With("gso_skb", "packets", int64(d.Put()))
}
