// SPDX-License-Identifier: Apache-2.0

// Package evidence finds, for a rule that fails, the fewest records of the
// capture that still show it, and writes them as a capture of its own, which
// verifies to the same fail.
//
// Find reads the capture once more and keeps the records about those that the
// fail's evidence names; wider and wider, until they alone show the fail. Then
// it leaves records out, whole runs first and single ones at last, as long as
// what is left still shows it (delta debugging).
//
// Decision: the same fail is one of the same rule, at the same time, with the
// same values compared. What is left out must make no other rule fail that did
// not fail before, and no gate: a capture that contradicts itself shows nothing.
// The variant of the kernel's code that the fail rests on must be told by the
// records that are left, as --variant has it, so they may be of other times.
//
// Decision: each CPU's records are numbered anew, so that no gap is invented,
// and the ledger is left out, which counts what is not there any more. Records
// keep their times; header and settings are those of the capture.
package evidence
