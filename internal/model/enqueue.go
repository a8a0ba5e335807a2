// SPDX-License-Identifier: Apache-2.0

package model

// Fate is what becomes of a packet that is sent to a qdisc with a lock.
type Fate string

// The fates.
const (
	FateOwner    Fate = "owner"    // its sender takes the qdisc's lock
	FateDeferred Fate = "deferred" // the sender that waits for the lock takes it along
	FateDropped  Fate = "dropped"  // too many are deferred (QDISC_BURST_DROP)
)

// Enqueue is where packets meet that are sent to a qdisc with a lock: nowhere
// under EnqueueBusylock, defer_list under EnqueueDeferList. There the first one
// to come waits for the lock, and enqueues all that came until it got it: the
// CPU that enqueues is not the one that sent.
type Enqueue struct {
	Skbs  int // on the list
	Count int // defer_count: those that came to a list with others, dropped ones too
	Max   int // net.core.qdisc_max_burst
}

// BusylockFirst says whether a sender waits at the second lock before the
// qdisc's own, so that who runs the qdisc meets one rival only.
func BusylockFirst(enqueue Variant, running bool) bool {
	return enqueue == EnqueueBusylock && running
}

// Add sends a packet.
func (e *Enqueue) Add(enqueue Variant) Fate {
	if enqueue == EnqueueBusylock {
		return FateOwner
	}
	if e.Skbs == 0 {
		e.Skbs = 1
		return FateOwner
	}
	e.Count++
	if e.Count > e.Max {
		return FateDropped
	}
	e.Skbs++
	return FateDeferred
}

// Take is what an owner does that got the qdisc's lock: it takes the packets,
// its own the first of them, in the order they came.
func (e *Enqueue) Take(enqueue Variant) (burst int) {
	if enqueue == EnqueueBusylock {
		return 1
	}
	burst = e.Skbs
	e.Skbs, e.Count = 0, 0
	return burst
}

// RunsSoon says whether __netif_schedule leaves the qdisc alone: a sender waits
// for its lock and will run it (rules B17, N7).
func (e Enqueue) RunsSoon() bool {
	return e.Skbs > 0
}

// Bypasses says whether a burst goes to the driver without sitting in the
// qdisc, which then has TCQ_F_CAN_BYPASS.
func Bypasses(burst, queued int, running bool) bool {
	return burst == 1 && queued == 0 && !running
}
