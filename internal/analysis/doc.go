// SPDX-License-Identifier: Apache-2.0

// Package analysis turns a capture into decisions of the kernel, checks them
// against rules, and counts what reports print.
//
// The way of a record: Analyze reads it from the capture in the order of the
// merge; the rebuild joins it with the records of the same run, queue or
// socket into a decision (Run, Batch, Direct, Handover, Completion, Throttle,
// Wfree, Resume, Pick, List, Notice); every rule and the metrics look at the
// decision; then its memory is used again. Nothing is kept per record, so
// memory does not grow with the capture.
//
// Decision: a decision embeds the record it was rebuilt from and adds what
// only the neighbours tell. Rules read both through the decision and never
// decode anything themselves.
//
// Decision: which variant of the kernel's code ran is found while the capture
// is read, so no rule can know it when it looks at an instance. A rule judges
// an instance under every variant of its switches, the Judge keeps one tally
// per combination, and the verdict is read from one of them at the end.
package analysis
