// SPDX-License-Identifier: Apache-2.0

package rules

import (
	"github.com/txtrace/txtrace/internal/analysis"
	"github.com/txtrace/txtrace/internal/model"
)

var x5 = analysis.Rule{
	ID:         "X5",
	Sentence:   "A hand-over leaves packets only if the driver refused one or the queue was stopped after one.",
	Why:        "What the core keeps back it must put back. Before 5.0 it also stopped at BQL's bit, in the middle of a list whose last packet had left the doorbell to the next.",
	Documents:  []string{"fe60faa50638", "000_dfeb1c712f3ce5c5"},
	Kernel:     "dev_hard_start_xmit",
	Needs:      []string{"handover", "handover.attempts"},
	Hooks:      attemptHooks,
	Switches:   []model.Switch{model.SwitchXmitStop},
	Strength:   analysis.Interval,
	Antecedent: "a hand-over that left packets, or went on although BQL had stopped the queue",
	New: func(j *analysis.Judge) analysis.Checks {
		return analysis.Checks{Handover: func(h *analysis.Handover) { judgeX5(j, h) }}
	},
}

func judgeX5(j *analysis.Judge, h *analysis.Handover) {
	switch {
	case h.Partial() || h.Attempts == 0:
		return
	case h.Rest > 0:
		leftX5(j, h)
	case h.OwedAny > h.OwedDrv && !h.Completed() && !h.Reset() && !h.Nested():
		ignoredX5(j, h)
	}
}

// leftX5 looks for a reason of the remainder. The state is read right after the
// driver's attempt; the kernel tests it a moment later, when another CPU may
// have stopped the queue.
func leftX5(j *analysis.Judge, h *analysis.Handover) {
	j.Weigh(analysis.Claim{}, func(s analysis.Setting) (analysis.Outcome, string) {
		switch {
		case model.LegalRemainder(s.First, h.DriverBusy(), model.QueueState(h.TxqStateLast)):
			return analysis.Held, ""
		case model.LegalRemainder(s.First, h.DriverBusy(), model.QueueState(h.TxqStateEnd)):
			return analysis.Undecided, analysis.Race
		}
		return analysis.Broken, ""
	}, func(s analysis.Setting) *analysis.Evidence {
		return showX5(h, "%d of %d packets were left, the driver had refused none and the queue was not stopped (state %d, xmit-stop=%s)",
			h.Rest, h.Packets, h.TxqStateLast, s.First)
	})
}

// ignoredX5 refutes the variant that stops at STACK: with no completion in the
// hand-over nothing can have cleared the bit before the kernel tested it.
func ignoredX5(j *analysis.Judge, h *analysis.Handover) {
	j.Weigh(analysis.Claim{}, func(s analysis.Setting) (analysis.Outcome, string) {
		if model.Stops(s.First, model.QueueStack) {
			return analysis.Broken, ""
		}
		return analysis.Held, ""
	}, func(s analysis.Setting) *analysis.Evidence {
		return showX5(h, "%d of %d packets were handed over after BQL had stopped the queue (xmit-stop=%s)",
			h.OwedAny-h.OwedDrv, h.Packets, s.First)
	})
}

func showX5(h *analysis.Handover, format string, args ...any) *analysis.Evidence {
	return analysis.Show(h.Queue, &h.Header, format, args...).
		With("packets", "packets", int64(h.Packets)).With("rest", "packets", int64(h.Rest)).
		With("driver_rc", "", int64(h.DriverRC)).With("txq_state_last", "", int64(h.TxqStateLast)).
		With("txq_state_end", "", int64(h.TxqStateEnd))
}
