// SPDX-License-Identifier: Apache-2.0

package model

import "slices"

// Requeue is dev_requeue_skb: rest, the unsent packets of a hand-over in their
// order, goes back to the qdisc's gso_skb. An entry of parked is what one later
// dequeue gives: a whole list under RequeueWhole (000), one skb otherwise.
//
// Under RequeueWhole the kernel keeps one list only; it is taken before another
// can be put back, so parked is empty there. Under RequeueTail a skb that is
// requeued again lands behind those it came before, which RequeueHead mended.
func Requeue[T any](requeue Variant, parked [][]T, rest []T) [][]T {
	if len(rest) == 0 {
		return parked
	}
	var entries [][]T
	if requeue == RequeueWhole {
		entries = [][]T{rest}
	} else {
		for i := range rest {
			entries = append(entries, rest[i:i+1])
		}
	}
	if requeue == RequeueHead {
		return slices.Concat(entries, parked)
	}
	return slices.Concat(parked, entries)
}

// Requeues is by how much the requeue of n packets moves qstats.requeues and
// the length of gso_skb (rule R5).
func Requeues(requeue Variant, n int) int {
	if requeue == RequeueWhole {
		return min(n, 1)
	}
	return n
}

// LegalFromGSOSkb says whether a dequeue from gso_skb may give n packets (rule
// D5).
func LegalFromGSOSkb(requeue Variant, n int) bool {
	if requeue == RequeueWhole {
		return n >= 1
	}
	return n == 1
}
