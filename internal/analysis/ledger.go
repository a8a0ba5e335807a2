// SPDX-License-Identifier: Apache-2.0

package analysis

import (
	"github.com/txtrace/txtrace/internal/capture"
	"github.com/txtrace/txtrace/internal/event"
)

// Ledger is the running total of one program on one CPU while recording.
type Ledger struct{ event.Ledger }

// End is what is known when the last record was seen.
type End struct {
	Header *capture.Header
	Footer *capture.Footer // nil when the file is cut
	Cut    bool
	Stats  capture.ReaderStats
	LastNS uint64 // time of the last record

	// LostOn counts the records that are missing in each CPU's sequence.
	LostOn map[uint16]uint64
	// Queues of every device, in the order they were met.
	Queues []*Queue
}
