// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"io"

	"github.com/txtrace/txtrace/internal/analysis"
	"github.com/txtrace/txtrace/internal/event"
	"github.com/txtrace/txtrace/internal/model"
)

// branch is one way through a function of the model.
type branch struct {
	function, name string
	absent         string // why it may never be seen; empty: it must be
	n              uint64
}

// table is all of them, in the order in which a packet meets them.
type table struct {
	rows    []*branch
	by      map[string]*branch
	stopped map[*analysis.Queue]bool // by BQL, when last handed over to
}

func newTable() *table {
	t := &table{by: make(map[string]*branch), stopped: make(map[*analysis.Queue]bool)}
	for _, b := range []branch{
		{function: "Dequeue.Take", name: "ended by qdisc"},
		{function: "Dequeue.Take", name: "ended by bytes"},
		{function: "Dequeue.Take", name: "ended by budget", absent: "a kernel before 0345552a653c has no bound of packets"},
		{function: "Dequeue.Take", name: "ended by slow"},
		{function: "Dequeue.Take", name: "ended by nobql", absent: "every device had BQL"},
		{function: "Dequeue.Take", name: "from gso_skb"},
		{function: "Quota.Run", name: "quota spent"},
		{function: "Quota.Run", name: "nothing more"},
		{function: "Validate", name: "segmented", absent: "every device had TSO"},
		{function: "Validate", name: "one each"},
		{function: "Validate", name: "dropped", absent: "nothing fails in a healthy guest"},
		{function: "Startable", name: "stopped before the hand-over", absent: "the window between dequeue and tx lock is small"},
		{function: "HandOver", name: "all taken"},
		{function: "HandOver", name: "driver refused", absent: "a driver that stops its queue in time never does"},
		{function: "HandOver", name: "queue stopped in the middle", absent: "no ring was full in the middle of a list"},
		{function: "Requeue", name: "requeued"},
		{function: "DQL.Charge", name: "stopped by BQL"},
		{function: "DQL.Charge", name: "not stopped"},
		{function: "DQL.Complete", name: "started again"},
		{function: "DQL.completed", name: "grow"},
		{function: "DQL.completed", name: "slack"},
		{function: "DQL.completed", name: "shrink"},
		{function: "DQL.completed", name: "keep"},
		{function: "DQL.completed", name: "clamped by limit_min"},
		{function: "DQL.completed", name: "clamped by limit_max"},
		{function: "DQL.completed", name: "over-limit kept"},
		{function: "DQL.Reset", name: "reset", absent: "no queue was reset while recording"},
		{function: "Socket.Throttled", name: "limit by truesize"},
		{function: "Socket.Throttled", name: "limit by rate", absent: "an emulated link is too slow for it"},
		{function: "Socket.Throttled", name: "limit by sysctl", absent: "the default is out of reach"},
		{function: "Socket.TSQExempt", name: "exempt (inferred)"},
		{function: "Wfree", name: "queued for the handler"},
		{function: "Wfree", name: "left by ksoftirqd", absent: "it has an excuse then, and is not recorded"},
		{function: "resume", name: "resumed"},
		{function: "Pick, RxList, Lockless, Enqueue, Stall", name: "any", absent: "no record carries these decisions yet"},
	} {
		row := b
		t.rows = append(t.rows, &row)
		t.by[b.function+": "+b.name] = &row
	}
	return t
}

// saw counts a branch; unknown names are a fault of this program.
func (t *table) saw(function, name string) {
	t.by[function+": "+name].n++
}

func (t *table) checks() analysis.Checks {
	return analysis.Checks{
		Run: t.run, Batch: t.batch, Direct: t.direct, Handover: t.handover,
		Completion: t.completion, Throttle: t.throttle, Wfree: t.wfree,
		Resume: func(*analysis.Resume) { t.saw("resume", "resumed") },
	}
}

func (t *table) run(r *analysis.Run) {
	switch {
	case !r.Whole || r.Weight == 0:
	case r.Packets >= r.Weight && r.Empty == 0 && r.Scheduled():
		t.saw("Quota.Run", "quota spent")
	case r.Empty > 0:
		t.saw("Quota.Run", "nothing more")
	}
}

func (t *table) batch(b *analysis.Batch) {
	switch b.Stop {
	case model.ReasonGSOSkb:
		t.saw("Dequeue.Take", "from gso_skb")
	case model.ReasonQdisc, model.ReasonBytes, model.ReasonBudget, model.ReasonSlow, model.ReasonNoBQL:
		t.saw("Dequeue.Take", "ended by "+string(b.Stop))
	}
}

func (t *table) direct(d *analysis.Direct) {
	if !d.Whole {
		return
	}
	if d.Put() > 0 && d.Requeued() > 0 {
		t.saw("Requeue", "requeued")
	}
	h := d.Handover
	switch {
	case d.Handovers == 0 && !d.Sent() && d.Put() > 0:
		t.saw("Startable", "stopped before the hand-over")
	case d.Validate == 0:
	case h == nil || h.Cut() || h.Partial():
		if d.Handovers == 0 && d.Sent() {
			t.saw("Validate", "dropped")
		}
	case h.Packets > d.Packets:
		t.saw("Validate", "segmented")
	case h.Packets < d.Packets:
		t.saw("Validate", "dropped")
	default:
		t.saw("Validate", "one each")
	}
}

func (t *table) handover(h *analysis.Handover) {
	if !h.Whole || h.Partial() || h.Nested() {
		return
	}
	switch {
	case h.DriverBusy():
		t.saw("HandOver", "driver refused")
	case h.Rest > 0:
		t.saw("HandOver", "queue stopped in the middle")
	default:
		t.saw("HandOver", "all taken")
	}
	switch {
	case !h.BQL() || h.Charged() == 0 || h.Completed():
	case h.TxqStateEnd&event.StackXoff != 0:
		t.saw("DQL.Charge", "stopped by BQL")
		t.stopped[h.Queue] = true
	default:
		t.saw("DQL.Charge", "not stopped")
	}
}

func (t *table) completion(c *analysis.Completion) {
	if c.Torn() || !c.Linked {
		return
	}
	switch c.Step.Outcome {
	case model.OutcomeReset:
		t.saw("DQL.Reset", "reset")
	case model.OutcomeEqual:
		t.saw("DQL.completed", string(c.Step.Step))
		if c.Step.Clamp != model.ClampNone {
			t.saw("DQL.completed", "clamped by "+string(c.Step.Clamp))
		}
		if c.After.PrevOvlimit > 0 {
			t.saw("DQL.completed", "over-limit kept")
		}
		if t.stopped[c.Queue] && !c.StackStopped() {
			t.saw("DQL.Complete", "started again")
			delete(t.stopped, c.Queue)
		}
	}
}

// throttle counts what decided the limit. That an earlier skb of the socket was
// exempt is not recorded; it follows where more is below TCP than the limit and
// one skb more, for that is as far as a send within the limit leads.
func (t *table) throttle(th *analysis.Throttle) {
	if th.QueueEmpty != 0 || th.Overlap != 0 {
		return
	}
	s := th.AsModel(th.WmemEnd)
	limit := s.TSQLimit(model.TSQLimitUnpaced)
	twice, rate := uint64(2*s.Truesize), s.PacingRate>>s.PacingShift
	switch {
	case limit < max(twice, rate):
		t.saw("Socket.Throttled", "limit by sysctl")
	case twice >= rate:
		t.saw("Socket.Throttled", "limit by truesize")
	default:
		t.saw("Socket.Throttled", "limit by rate")
	}
	if uint64(s.Wmem) > limit+uint64(s.Truesize)+model.WmemBase {
		t.saw("Socket.TSQExempt", "exempt (inferred)")
	}
}

func (t *table) wfree(w *analysis.Wfree) {
	switch {
	case w.TSQEnd&event.TSQQueued != 0:
		t.saw("Wfree", "queued for the handler")
	case w.Ksoftirqd != 0:
		t.saw("Wfree", "left by ksoftirqd")
	}
}

// lacks says whether a branch that must be seen was not.
func (t *table) lacks() bool {
	for _, b := range t.rows {
		if b.n == 0 && b.absent == "" {
			return true
		}
	}
	return false
}

func (t *table) print(w io.Writer) {
	fmt.Fprintf(w, "%-18s %-28s %10s\n", "function", "branch", "times")
	for _, b := range t.rows {
		why := ""
		switch {
		case b.n > 0:
		case b.absent == "":
			why = "  must be seen"
		default:
			why = "  " + b.absent
		}
		fmt.Fprintf(w, "%-18s %-28s %10d%s\n", b.function, b.name, b.n, why)
	}
}
