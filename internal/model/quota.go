// SPDX-License-Identifier: Apache-2.0

package model

// Quota is what bounds one __qdisc_run.
type Quota struct {
	Charge  Variant // SwitchQuota, or a what-if
	Weight  int     // dev_tx_weight
	Resched Variant // SwitchResched
	Slice   uint64  // nanoseconds that a run may last; for QuotaTime
}

// Restart is what one qdisc_restart did.
type Restart struct {
	Packets     int    // skbs; what the kernel counts
	Segments    int    // frames on the wire; read under QuotaSegments
	Time        uint64 // nanoseconds it took; read under QuotaTime
	FromGSOSkb  bool   // the packets were requeued before
	Again       bool   // the qdisc gave packets and all were handed over
	NeedResched bool   // another task waits for the CPU
}

// Run sums up one __qdisc_run.
type Run struct {
	Restarts int
	Packets  int
	Spent    bool // it ended because the quota was used up: the qdisc is scheduled again
	Yielded  bool // it ended for another task: scheduled again too
}

// Cost is what a restart that gave the given number of packets costs a run's
// quota. Under RequeueWhole a batch from gso_skb is one whole list, of which
// the kernel counts one packet; only the RFC counted the list (000).
func Cost(quota Variant, packets int, fromGSOSkb bool) int {
	switch {
	case quota == QuotaRestarts:
		return 1
	case fromGSOSkb && quota != QuotaStop:
		return 1
	}
	return packets
}

// cost is Cost with the what-ifs, which do not count skbs.
func (q Quota) cost(r Restart) int {
	switch q.Charge {
	case QuotaSegments:
		return r.Segments
	case QuotaTime:
		return 0
	}
	return Cost(q.Charge, r.Packets, r.FromGSOSkb)
}

// Run plays __qdisc_run. It calls restart with the quota left until that says
// that the loop ends (nothing to send, or the hand-over could not be finished),
// until the quota is used up, or until another task waits.
func (q Quota) Run(restart func(left int) Restart) Run {
	var sum Run
	var spent uint64
	for left := q.Weight; ; {
		r := restart(left)
		sum.Restarts++
		sum.Packets += r.Packets
		if !r.Again {
			return sum
		}
		left -= q.cost(r)
		spent += r.Time
		sum.Spent = left <= 0 || q.Charge == QuotaTime && spent >= q.Slice
		sum.Yielded = !sum.Spent && q.Resched == ReschedYes && r.NeedResched
		if sum.Spent || sum.Yielded {
			return sum
		}
	}
}

// LegalRun says whether the quota let a run come to its last restart, given
// how many restarts it made before that one and how many packets those cost
// (rule D4). It holds for every bulk variant.
func LegalRun(quota Variant, weight, restartsBefore, packetsBefore int) bool {
	if quota == QuotaRestarts {
		return restartsBefore < weight
	}
	return packetsBefore < weight
}

// RFCCost plays the loop by which the RFC of 000 charges for a requeued list,
// for at most the given number of steps. As first posted it reads the head's
// successor again and again, so it counts 1 for a list of one and does not end
// for a longer one. Corrected, as behind QuotaStop, it counts the list.
func RFCCost(list, steps int, corrected bool) (cost int, ends bool) {
	for cost < steps {
		cost++
		next := 1
		if corrected {
			next = cost
		}
		if next >= list {
			return cost, true
		}
	}
	return cost, false
}
