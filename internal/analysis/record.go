// SPDX-License-Identifier: Apache-2.0

package analysis

import "github.com/txtrace/txtrace/internal/event"

// Record is any record as it comes, before it is joined with others: what the
// rules about the capture itself (M1 to M10) look at.
type Record struct {
	*event.Header
	Device *Device // nil when the record names none
	Armed  uint64  // when recording began, ns

	// Before is the header of the record before on the same CPU; valid only
	// if HasBefore.
	Before    event.Header
	HasBefore bool
}

// IsSpan says that the record has a begin and an end.
func (r *Record) IsSpan() bool {
	switch r.Kind {
	case event.KindRun, event.KindDirect, event.KindHandover:
		return true
	}
	return false
}

// Partial says that the begin was not seen, or so long ago that it is not
// known when.
func (r *Record) Partial() bool { return r.Flags&(event.FlagPartial|event.FlagDurLong) != 0 }

// OfRecorder says that the recorder itself wrote it.
func (r *Record) OfRecorder() bool { return r.CPU == event.UserCPU }

// Deeper says that the record before was written in a context that interrupts
// this one's.
func (r *Record) Deeper() bool { return level(r.Before.Context) > level(r.Context) }

// level orders contexts by what interrupts what. A softirq in ksoftirqd runs
// as any other.
func level(context uint8) int {
	switch context {
	case event.ContextHardirq:
		return 2
	case event.ContextSoftirq, event.ContextKsoftirqd:
		return 1
	}
	return 0
}
