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
	mem  [256]words
}

// room is the memory for n bytes of records of a kind.
func (b *batch) room(k event.Kind, n int) words {
	if len(b.mem[k])*8 < n {
		b.mem[k] = make(words, n/8)
	}
	return b.mem[k]
}

// header of the record that begins off bytes into m.
func header(m words, off int) *event.Header {
	return (*event.Header)(unsafe.Pointer(&m[off/8]))
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
