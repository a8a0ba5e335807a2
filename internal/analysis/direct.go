// SPDX-License-Identifier: Apache-2.0

package analysis

import "github.com/txtrace/txtrace/internal/event"

// Direct is one sch_direct_xmit.
type Direct struct {
	event.Direct
	Queue    *Queue
	Run      *Run   // nil for a bypass, and when the run's record never came
	Batch    *Batch // what it sends; nil for a bypass, and when it is missing
	Handover *Handover
	Whole    bool // no record of its CPU is missing while it ran
}

// Dequeued says that it sends what a run dequeued last.
func (d *Direct) Dequeued() bool { return d.From == event.FromDequeue }

// Origin says that From is one of those that there are.
func (d *Direct) Origin() bool { return d.From <= event.FromUnknown }

// Bypass says that the packet never sat in the qdisc.
func (d *Direct) Bypass() bool { return d.From == event.FromBypass }

// Cut says that the list was longer than it was walked.
func (d *Direct) Cut() bool { return d.Flags&event.FlagWalkCut != 0 }

// Sent says that sch_direct_xmit said: go on.
func (d *Direct) Sent() bool { return d.Result != 0 }

// Put is how many skbs gso_skb grew by: those that went there, but see Emptied.
func (d *Direct) Put() int32 { return int32(d.GsoQlenEnd - d.GsoQlenBegin) }

// Requeued is how far qstats.requeues moved.
func (d *Direct) Requeued() uint32 { return d.RequeuesEnd - d.RequeuesBegin }

// Emptied says that others may have taken packets out of gso_skb meanwhile, so
// that Put tells too little: a reset of the qdisc, when it is replaced or its
// device goes down, or a change of its limit (qdisc_dequeue_internal). What they
// can take lay there before, for the qdisc's lock is held from the requeue to the
// end; of a lockless qdisc also what was just put there. How many were put there
// is what was counted and, of a hand-over, what it left, or one list of it.
func (d *Direct) Emptied() bool {
	put, counted := int64(d.Put()), int64(d.Requeued())
	if h := d.Handover; h != nil && int64(h.Rest) != counted && (h.Rest == 0 || counted != 1) {
		return false
	}
	if d.QdiscFlags&event.QdiscNoLock != 0 {
		return put < counted
	}
	return put < counted && put >= counted-int64(d.GsoQlenBegin) && d.GsoQlenBegin > 0
}

// Doubt says why the direct is not Whole.
func (d *Direct) Doubt() string {
	if d.Flags&event.FlagPartial != 0 {
		return Start
	}
	return Lost
}

// Stopped is whether state bits of a queue forbid a hand-over
// (netif_xmit_frozen_or_stopped).
func Stopped(state uint8) bool { return state&event.XoffFrozen != 0 }
