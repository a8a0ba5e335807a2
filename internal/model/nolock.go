// SPDX-License-Identifier: Apache-2.0

package model

// QdiscState is the state of a qdisc, with the bits of the kernel's
// __QDISC_STATE flags.
type QdiscState uint8

// The bits of QdiscState.
const (
	QdiscSched       QdiscState = 1 << iota // on a CPU's list for net_tx_action
	QdiscDeactivated                        // its device goes down
	QdiscMissed                             // somebody found it running, or it has more to send
	QdiscDraining                           // it has packets and waits for a stopped queue
)

// qdiscNonEmpty says that packets may wait in a lockless qdisc.
const qdiscNonEmpty = QdiscMissed | QdiscDraining

// Lockless is what keeps a qdisc with TCQ_F_NOLOCK to one CPU at a time.
// Packets come without a lock, so that one may arrive just after who runs the
// qdisc found it empty. Each method that is one atomic step in the kernel says
// so; the memory barriers between the steps are taken for granted (they came
// until 5.19).
//
// A qdisc with a lock (NolockAbsent) uses Locked for its RUNNING bit, and its
// steps are atomic together with the enqueue or dequeue beside them.
type Lockless struct {
	Locked bool // seqlock, held by who runs the qdisc
	State  QdiscState
}

// TryLock is one step: spin_trylock of seqlock.
func (q *Lockless) TryLock() bool {
	got := !q.Locked
	q.Locked = true
	return got
}

// Miss is one step: MISSED is set. If it was already, somebody else asked for
// what the caller wants, and will have it.
func (q *Lockless) Miss() (already bool) {
	already = q.State&QdiscMissed != 0
	q.State |= QdiscMissed
	return already
}

// Unlock is one step: who ran the qdisc leaves it.
func (q *Lockless) Unlock() {
	q.Locked = false
}

// Schedule is one step: SCHED is set. If it was not, the caller's CPU has to
// run net_tx_action.
func (q *Lockless) Schedule() (here bool) {
	here = q.State&QdiscSched == 0
	q.State |= QdiscSched
	return here
}

// TxAction is one step: net_tx_action takes the qdisc from its list, to run it
// unless it is being deactivated.
func (q *Lockless) TxAction() (run bool) {
	q.State &^= QdiscSched
	return q.State&QdiscDeactivated == 0
}

// Begin is qdisc_run_begin: whether the caller may run the qdisc. Under
// NolockMissed the second try makes sure that either it succeeds, or MISSED was
// set before the other CPU tests it in End.
func (q *Lockless) Begin(nolock Variant) bool {
	if q.TryLock() {
		return true
	}
	return nolock == NolockMissed && !q.Miss() && q.TryLock()
}

// End is qdisc_run_end. If somebody set MISSED the qdisc has to run again; here
// says that net_tx_action of this CPU does it.
func (q *Lockless) End(nolock Variant) (here bool) {
	q.Unlock()
	return nolock == NolockMissed && q.State&QdiscMissed != 0 && q.Schedule()
}

// Again notes in the middle of a run that there is more to send: the quota was
// used up, or packets went back to gso_skb. Under NolockMissed it is for End to
// schedule the qdisc.
func (q *Lockless) Again(nolock Variant) (here bool) {
	if nolock == NolockMissed {
		q.State |= QdiscMissed
		return false
	}
	return q.Schedule()
}

// LookAgain is what a dequeue does that found nothing: if packets may have come
// meanwhile it clears the flags, and has to look once more (pfifo_fast_dequeue).
func (q *Lockless) LookAgain() bool {
	if q.State&qdiscNonEmpty == 0 {
		return false
	}
	q.State &^= qdiscNonEmpty
	return true
}

// Stopped is qdisc_maybe_clear_missed: a run found its transmit queue stopped.
// It would be scheduled for nothing over and over (rule N3), so MISSED goes; the
// wake-up of the queue schedules the qdisc. DRAINING keeps senders from passing
// the packets that wait. still looks once more, for a wake-up in between.
func (q *Lockless) Stopped(still func() bool) {
	q.State &^= QdiscMissed
	if still() {
		q.State |= QdiscDraining
	} else {
		q.State |= QdiscMissed
	}
}

// Empty is nolock_qdisc_is_empty: a sender may pass the qdisc by, if it can
// Begin and it still is (c4fef01ba479, 5.14).
func (q Lockless) Empty() bool {
	return q.State&qdiscNonEmpty == 0
}
