// SPDX-License-Identifier: Apache-2.0

package rules

import "github.com/txtrace/txtrace/internal/analysis"

// Others lists the ids that have no rule of their own, so that each id of the
// kernel's invariants has a fate: what holds it instead, or which fact no kernel
// offers.
func Others() []analysis.Other {
	return []analysis.Other{
		unseen("B1", "A completion reports no more than is in flight.",
			"dql_completed cannot be hooked, and a kernel that breaks it stops in it (BUG_ON); internal/model and the simulator hold it"),
		within("B4", "What is in flight stays below the limit and one batch.",
			"a batch begins below the limit, no list goes to a stopped queue, and a charge above the limit stops it", "D1", "B3", "B16"),
		within("B6", "Every byte that was charged is completed, or forgotten by a reset.",
			"others hold what moves, and B2 that nothing stays behind", "B2", "B5", "B8", "B13"),
		unseen("B15", "Byte counters are compared modulo 2^32.",
			"it is no property of a capture; the tests of internal/model and a case of a counter that wraps hold it"),

		unseen("S1", "Completions that make enough room start a queue that its driver stopped.",
			"how much is enough is the driver's own (start threshold), and in no common structure; S2 holds what follows when none is left"),

		unseen("L4", "No packet waits for long in the ring between two veth.",
			"nothing tells since when one waits: the ring (struct veth_rq) is the driver's own and in no common structure, its entries are pointers without a time, and what puts them in and takes them out is inlined (ptr_ring_produce, __ptr_ring_consume)"),

		within("O2", "What goes back goes back in front of what was taken out later.",
			"the first packet that comes out of gso_skb next tells", "X6"),
		within("O3", "A flow changes its queue only where its socket may.",
			"for flows that have a socket; for others Q4 and Q9 hold that the queue follows from the flow", "Q3"),

		unseen("Q5", "The receive queue that a packet names is one that it was received on.",
			"nothing tells which device wrote the number: drivers do it inline, skb_iif is only the last one that took the packet in, and a driver's ndo_select_queue writes to the same place; Q4 holds that the queue follows from the number"),
	}
}

// unseen is one that no kernel tried shows, with the fact that is missing.
func unseen(id, sentence, reason string) analysis.Other {
	return analysis.Other{ID: id, Sentence: sentence, Fate: analysis.NotObservable, Reason: reason}
}

// within is one that follows from what other rules check.
func within(id, sentence, reason string, by ...string) analysis.Other {
	return analysis.Other{ID: id, Sentence: sentence, Fate: analysis.Checked, By: by, Reason: reason}
}
