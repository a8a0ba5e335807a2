// SPDX-License-Identifier: Apache-2.0

package model

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

// Run sums up one __qdisc_run.
type Run struct {
	Restarts int
	Packets  int
	Spent    bool // it ended because the quota was used up: the qdisc is scheduled again
}

// RunQdisc plays __qdisc_run with a quota of weight packets. It calls restart
// with the quota left until that says that the loop ends (nothing to send, or
// the hand-over could not be finished) or until the quota is used up.
func RunQdisc(quota Variant, weight int, restart func(left int) (packets int, fromGSOSkb, again bool)) Run {
	var r Run
	for left := weight; ; {
		packets, fromGSOSkb, again := restart(left)
		r.Restarts++
		r.Packets += packets
		if !again {
			return r
		}
		left -= Cost(quota, packets, fromGSOSkb)
		if left <= 0 {
			r.Spent = true
			return r
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

// RFCCost is what the RFC of 000 charges for a requeued list as it was first
// posted: its loop reads the head's successor again and again, so it counts 1
// for a list of one and does not end for a longer one. The corrected loop, the
// one behind QuotaStop, counts the list.
func RFCCost(list int) (cost int, ends bool) {
	return 1, list <= 1
}
