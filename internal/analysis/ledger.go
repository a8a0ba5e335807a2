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

	// Queues of every device, in the order they were met.
	Queues []*Queue

	lostOn map[uint16]uint64 // records missing in each CPU's sequence; CPUs seen only
}

// Lost counts the records that are missing in the sequence of each CPU that
// was seen, the recorder's own aside.
func (e *End) Lost() map[int]uint64 {
	by := make(map[int]uint64)
	for cpu, n := range e.lostOn {
		if cpu != event.UserCPU {
			by[int(cpu)] = n
		}
	}
	return by
}

// NoticesLost says that records of the recorder itself are missing.
func (e *End) NoticesLost() bool { return e.lostOn[event.UserCPU] > 0 }
