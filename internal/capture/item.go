// SPDX-License-Identifier: Apache-2.0

package capture

import "github.com/txtrace/txtrace/internal/event"

// Item is what Reader.Next delivers: either a record or a gap, never both.
type Item struct {
	// Record points into the reader's memory. It is valid until the next call
	// of Next: copy the struct to keep it.
	Record event.Any
	// Gap, when not nil, says that records are missing here.
	Gap *Gap
}

// Gap is a hole in one CPU's sequence: records that were taken on the CPU and
// are not in the file, because the ring was full, the output could not be
// written, or a block is corrupt. It is delivered directly before the record
// that follows it on the CPU, or after the last record of the file.
type Gap struct {
	CPU       uint16 // event.UserCPU for the recorder's own records
	AfterSeq  uint32 // last sequence number before the gap; 2^32-1 at the start of a CPU
	BeforeSeq uint32 // first sequence number after the gap; last taken plus one at the end
	Lost      uint32 // records missing: BeforeSeq - AfterSeq - 1 modulo 2^32
	FromNS    uint64 // time of the record before; the header's clock at the start
	ToNS      uint64 // time of the record after; the footer's clock at the end
	Start     bool   // nothing of this CPU was seen before: FromNS is when recording began
	End       bool   // nothing follows on this CPU: known from the footer's ledger
}

// CutInfo says where and why the readable part of a file ends early.
type CutInfo struct {
	Offset int64  // bytes of the file that were good
	Reason string // one clause: "the file ends inside a block"
}
