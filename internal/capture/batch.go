// SPDX-License-Identifier: Apache-2.0

package capture

import (
	"unsafe"

	"github.com/txtrace/txtrace/internal/event"
)

// batch holds the decoded records of one group. Its memory is reused when the
// last of them was delivered.
type batch struct {
	n    int64 // groups read before this one
	left int   // records not yet delivered
	mem  [256][]uint64
}

// bytes is room for n bytes of records of a kind, aligned for their structs.
func (b *batch) bytes(k event.Kind, n int) []byte {
	if b.mem[k] == nil {
		b.mem[k] = make([]uint64, maxRaw/8)
	}
	return unsafe.Slice((*byte)(unsafe.Pointer(&b.mem[k][0])), maxRaw)[:n]
}

// head is the record that begins off bytes into the kind's memory.
func (b *batch) head(k event.Kind, off int) *event.Header {
	return (*event.Header)(unsafe.Pointer(&b.mem[k][off/8]))
}

// record is the whole record that begins with h. h points into a batch, where
// a record of its kind lies.
func record(h *event.Header) event.Any {
	p := unsafe.Pointer(h)
	switch h.Kind {
	case event.KindRun:
		return (*event.Run)(p)
	case event.KindDequeue:
		return (*event.Dequeue)(p)
	case event.KindDirect:
		return (*event.Direct)(p)
	case event.KindHandover:
		return (*event.Handover)(p)
	case event.KindComplete:
		return (*event.Complete)(p)
	case event.KindThrottle:
		return (*event.Throttle)(p)
	case event.KindWfree:
		return (*event.Wfree)(p)
	case event.KindResume:
		return (*event.Resume)(p)
	case event.KindNotice:
		return (*event.Notice)(p)
	case event.KindLedger:
		return (*event.Ledger)(p)
	}
	return h
}
