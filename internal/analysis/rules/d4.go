// SPDX-License-Identifier: Apache-2.0

package rules

import (
	"github.com/txtrace/txtrace/internal/analysis"
	"github.com/txtrace/txtrace/internal/model"
)

var d4 = analysis.Rule{
	ID:         "D4",
	Sentence:   "A run begins no restart once its quota is used up, and then leaves the qdisc scheduled or MISSED.",
	Why:        "A run is in softirq, or on the back of whoever sends. After its quota others get the CPU; if it does not leave the qdisc scheduled then, what is in there waits for the next sender.",
	Documents:  []string{"b8358d70ce10", "000_dfeb1c712f3ce5c5"},
	Kernel:     "__qdisc_run",
	Needs:      []string{"run", "run.rescheduled"},
	Hooks:      append([]string{"__netif_schedule"}, frameHooks...),
	Switches:   []model.Switch{model.SwitchQuota},
	Strength:   analysis.Exact,
	Antecedent: "a run that sent as many packets as its quota, or more",
	New: func(j *analysis.Judge) analysis.Checks {
		return analysis.Checks{Run: func(r *analysis.Run) { judgeD4(j, r) }}
	},
}

// judgeD4 does not ask who else scheduled the qdisc: completions and enqueuers
// do so too. That the quota ended a run early refutes the variant that counts
// restarts. That a run went on after its quota of packets does not prove that
// variant, for it lacks the check; that as many restarts ended one does.
func judgeD4(j *analysis.Judge, r *analysis.Run) {
	switch {
	case r.Partial() || r.Packets == 0:
		return
	case r.Weight == 0:
		j.Undecided(analysis.Changed)
		return
	case r.Packets < r.Weight:
		return
	}
	j.Weigh(analysis.Claim{Quota: r.Noticed}, func(s analysis.Setting) (analysis.Outcome, string) {
		spent := s.First != model.QuotaRestarts
		switch {
		case !model.LegalRun(s.First, int(r.Weight), int(r.Restarted())-1, int(r.Packets-r.LastPackets)):
			return analysis.Broken, ""
		case pastQuotaD4(r, s.First):
			return analysis.Broken, ""
		case !spent && r.Rescheduled != 0 && r.Restarted() < r.Weight:
			return analysis.Broken, "" // it ended by its quota, which restarts did not use up
		case !spent && r.Rescheduled == 0:
			return analysis.Unchecked, ""
		}
		return endD4(r)
	}, func(s analysis.Setting) *analysis.Evidence { return showD4(r, s.First) })
}

// pastQuotaD4 says that the last batch of the run goes past the end of a quota
// that stops a dequeue there.
func pastQuotaD4(r *analysis.Run, quota model.Variant) bool {
	d := model.Dequeue{Bulk: model.BulkBytes, Quota: quota, OneTxQueue: r.OneTxQueue(), BQL: true, Left: int(r.Weight + r.LastPackets - r.Packets)}
	a, _ := d.Legal(model.Batch{N: int(r.LastPackets)}, noBytes)
	return r.OneTxQueue() && a == model.No
}

// endD4 looks at how a run ended whose quota is used up. A restart that put its
// batch back schedules the qdisc itself, in dev_requeue_skb.
func endD4(r *analysis.Run) (analysis.Outcome, string) {
	if r.Scheduled() {
		return analysis.Held, ""
	}
	last := r.Last()
	switch {
	case !r.Whole || last.Direct == nil:
		return analysis.Undecided, analysis.Lost
	case !last.Direct.Sent():
		return analysis.Held, ""
	}
	return analysis.Broken, ""
}

func showD4(r *analysis.Run, quota model.Variant) *analysis.Evidence {
	before := r.Packets - r.LastPackets
	says := "a run with a quota of %d sent %d packets and left the qdisc unscheduled (%d before its last restart, quota=%s)"
	switch {
	case before >= r.Weight:
		says = "a run with a quota of %d sent %d packets, %d of them before its last restart (quota=%s)"
	case pastQuotaD4(r, quota):
		says = "a run with a quota of %d sent %d packets: its last batch went past the quota (%d before its last restart, quota=%s)"
	case quota == model.QuotaRestarts:
		says = "a run with a quota of %d sent %d packets and scheduled the qdisc again (%d before its last restart, quota=%s)"
	}
	e := analysis.Show(r.Queue, &r.Header, says, r.Weight, r.Packets, before, quota)
	return e.With("quota", "packets", int64(r.Weight)).With("packets", "packets", int64(r.Packets)).
		With("packets_before_last", "packets", int64(before)).With("restarts", "", int64(r.Restarted())).
		With("rescheduled", "", int64(r.Rescheduled)).With("qdisc_state_end", "", int64(r.QdiscStateEnd))
}
