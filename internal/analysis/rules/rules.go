// SPDX-License-Identifier: Apache-2.0

// Package rules holds the rules of the transmit path, one file each. This is
// the guide to writing one.
//
// # What a rule is
//
// A rule says what a right kernel never does, and checks it on every instance
// of its antecedent. It is a literal analysis.Rule in a file named after its
// id, and one line in All. Its New makes the checks for one capture: functions
// for the kinds of decision it looks at. A rule sees decisions (Run, Batch,
// Direct, Handover, Completion, Throttle, Wfree, Pick, List, Ring, ...), never the capture; what
// the kernel does is asked of internal/model and not written again.
//
// # Judging an instance
//
// First return where the antecedent does not hold: such a decision is no
// instance, and "exercised" counts only what could have broken the rule. Then
// name the doubts, each with its reason, by Judge.Undecided: a list that was
// walked in part, a tree with records missing (Whole is false), a race. Then
// compare, and say Held, or Broken with evidence. Suspect is for what cannot be
// seen to its end, Expected for what looks wrong and is legal.
//
// Another CPU may do anything between two looks. So a value that others change
// is an interval, and only what no interleaving explains is broken. Values that
// were read twice and did not move are exact: a hand-over without a completion
// (Completed), a batch whose bracket has none (Avail.Exact). adj_limit is
// stored before num_completed, so both must be unmoved.
//
// A healthy kernel must never fail. And a check that cannot fail is a defect:
// every rule has an entry in the tests' table spoils that breaks it.
//
// # Loss
//
// A claim that rests on its own records alone stands whatever else was lost. If
// it also rests on there being no other record in between, give that time as
// Claim.Over; if on the run's quota, set Claim.Quota; if on having seen every
// call of a function, list it in Rule.Hooks. The Judge holds a broken instance
// back until nothing can speak against it any more. TestRandomLoss drops
// records at random and must find no new fail.
//
// # What must come
//
// That something comes before long is judged by awaits: begin where the wait
// begins, came for all that ends it, forget where a device changes. Such a rule
// can be no more than suspect, and its limit is Judge.Limit, so that --time-scale
// stretches it. What is handed out of a run comes late: a wait may begin after
// what ended it was seen.
//
// # Variants
//
// Where kernels differ, name the switch in Rule.Switches and use Judge.Weigh:
// the function is called for each variant and says what the instance means
// under that one. An instance that is broken under some variants and not under
// others refutes those; if none is left but one, that one is proven. So a check
// may also look for what only one variant explains (D2: a stop with bytes and
// packets left). Never seeing something proves nothing, and neither does what an
// old variant allows by a lack of checks: that is Unchecked. An instance that is
// held under no variant is a plain fault. A variant that model.Switches
// marks as mended makes the verdict "expected" instead of pass.
//
// # What is told of it
//
// An id without a rule has a line in Others, so that each has its fate; give the
// rule one if it can be no more than suspect. Why says what goes wrong where the
// rule does not hold, in words of your own. The example and the reasons for
// undecided that txtrace rules ID prints are what the tests' traces were seen to
// give: UPDATE=1 go test -run TestShown writes them anew.
//
// # Evidence
//
// The function that makes it is called only for what will be printed. Say in
// one line what was seen against what is allowed, add the values compared and
// the records that show them; the kernel's function and the document come from
// the rule.
package rules

import "github.com/txtrace/txtrace/internal/analysis"

// All is the registry, in the order in which rules are printed.
func All() []analysis.Rule {
	return []analysis.Rule{
		m1, m2, m3, m4, m5, m6, m7, m8, m9, m10, m11,
		d1, d2, d3, d4, d5, d6, d7, d8, d9, d10,
		x1, x2, x3, x4, x5, x6, x7, v1, r1, r2, r3, r4, r5, r6,
		b2, b3, b5, b7, b8, b9, b10, b11, b12, b13, b14, b16, b17,
		w1, w2, w3, s2, l1, l2, l3, n1, n2, n3, n4, n5, n6, n7,
		t1, t2, t3, t4, t5, t6, t7,
		o1, q1, q2, q3, q4, q6, q7, q8, q9,
		g1, g2, g3, g4,
	}
}
