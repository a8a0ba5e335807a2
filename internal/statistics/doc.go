// SPDX-License-Identifier: Apache-2.0

// Package statistics compares two sets of runs, A before and B after a change.
// It knows numbers only.
//
// A difference is always B's minus A's. Sets hold finite numbers; who calls
// sees to that. What a set is too small for, or has no spread for, is not
// answered: the functions then return false, and no number.
//
// Decision: results held at line rate are estimated with Cohen's method and
// tested with Mann-Whitney's U, in which those at the limit are ties. Document
// 002 took a t-test of Cohen's estimates and says itself that its degrees of
// freedom were not well founded; ranks need none.
package statistics

// Level of confidence of all intervals.
const Level = 0.95

// Alternative is what a test holds against "no difference".
type Alternative int

// The alternatives. The last two are of one side, to be chosen before looking.
const (
	Different Alternative = iota
	Greater               // B is greater
	Less                  // B is less
)
