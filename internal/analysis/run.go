// SPDX-License-Identifier: Apache-2.0

package analysis

import "github.com/txtrace/txtrace/internal/event"

// Run is one __qdisc_run with what it did.
//
// Whole says that every record that belongs to it is here: the span was seen
// from its begin, no record of its CPU is missing while it ran, and the counts
// of the run's own record agree with its children. A run that is not whole
// proves nothing by what it lacks.
type Run struct {
	event.Run
	Queue    *Queue
	Kind     string // the qdisc's, as tc spells it
	Restarts []Restart
	Whole    bool

	// Lossless says that it was seen from its begin and no record of its CPU
	// is missing while it ran: then its children must agree.
	Lossless bool

	// Weight is dev_tx_weight, the quota of a run; 0 when it is not known or
	// changed about this time. Noticed says that it rests on the capture's
	// header and notices, which may tell of a change later.
	Weight  uint32
	Noticed bool
}

// Restart is one qdisc_restart: a batch and its sch_direct_xmit. Either is nil
// when its record is missing. An empty dequeue leaves no Restart.
type Restart struct {
	Batch  *Batch
	Direct *Direct
}

// OneTxQueue says whether the qdisc serves exactly one queue (TCQ_F_ONETXQUEUE).
func (r *Run) OneTxQueue() bool { return r.QdiscFlags&event.QdiscOneTxQueue != 0 }

// NoLock says that the qdisc is lockless (TCQ_F_NOLOCK).
func (r *Run) NoLock() bool { return r.QdiscFlags&event.QdiscNoLock != 0 }

// Partial says that the begin was not seen: then only the end's fields hold.
func (r *Run) Partial() bool { return r.Flags&event.FlagPartial != 0 }

// PerCPUQlen says that the qlen fields are not available: every CPU has its own
// count.
func (r *Run) PerCPUQlen() bool { return perCPUQlen(&r.Header, r.QdiscFlags) }

// Lasting says that it lasted longer than Dur can tell.
func (r *Run) Lasting() bool { return r.Flags&event.FlagDurLong != 0 }

// Deactivated says that the qdisc was being taken off its device when the run
// began.
func (r *Run) Deactivated() bool { return r.QdiscStateBegin&event.QdiscStateDeactivated != 0 }

// Scheduled says that the qdisc will run again: the run scheduled it, or its
// state at the end says so (SCHED, or MISSED of a lockless qdisc).
func (r *Run) Scheduled() bool {
	return r.Rescheduled != 0 || r.QdiscStateEnd&(event.QdiscStateSched|event.QdiscStateMissed) != 0
}

// EndedByQuota says that the run used its quota up and went no further. One whose
// last send was refused ended by that, before it looked at its quota.
func (r *Run) EndedByQuota() bool {
	last := r.Last()
	refused := last != nil && last.Direct != nil && !last.Direct.Sent()
	return r.Weight > 0 && r.Packets >= r.Weight && !refused
}

// Restarted counts the qdisc_restart calls of the run: dequeues, empty ones
// too. A last one that returned without a dequeue (queue stopped) is unseen.
func (r *Run) Restarted() uint32 { return r.Dequeues + r.Empty }

// Last is the last restart, nil when none is known.
func (r *Run) Last() *Restart {
	if len(r.Restarts) == 0 {
		return nil
	}
	return &r.Restarts[len(r.Restarts)-1]
}

// WorkConserving says whether the qdisc is known to give a packet whenever it
// holds one: it neither paces nor shapes. A kind that is not listed may hold
// packets back, and "it gave no more" then says nothing about its queue.
func (r *Run) WorkConserving() bool {
	switch r.Kind {
	case "pfifo", "bfifo", "pfifo_head_drop", "pfifo_fast", "fq_codel", "codel", "sfq":
		return true
	}
	return false
}
