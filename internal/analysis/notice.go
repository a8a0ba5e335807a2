// SPDX-License-Identifier: Apache-2.0

package analysis

import "github.com/txtrace/txtrace/internal/event"

// Notice is a change of the world.
type Notice struct {
	event.Notice
	Device *Device // nil when it names none
	Text   string  // Name of the record
}

// Record is any record as it comes, before it is joined with others: what the
// rules about the capture itself (M1 to M10) look at.
type Record struct {
	*event.Header
	Device *Device // nil when the record names none
	// Before is the header of the record before on the same CPU; valid only
	// if HasBefore.
	Before    event.Header
	HasBefore bool
}
