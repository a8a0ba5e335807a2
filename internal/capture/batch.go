// SPDX-License-Identifier: Apache-2.0

package capture

import (
	"reflect"
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
		if n > maxRaw/16 { // the kind is busy: not a little more each time
			n = maxRaw
		}
		b.mem[k] = make(words, n/8)
	}
	return b.mem[k]
}

// header of the record that begins off bytes into m.
func header(m words, off int) *event.Header {
	return (*event.Header)(unsafe.Pointer(&m[off/8]))
}

// types are the record structs by kind, and kindOf the way back.
var types, kindOf = func() (ts [256]reflect.Type, ks map[reflect.Type]event.Kind) {
	ks = make(map[reflect.Type]event.Kind)
	for _, t := range event.Tables() {
		b := make([]byte, t.Size)
		b[0] = byte(t.Kind)
		if r, err := event.Decode(b); err == nil {
			ts[t.Kind] = reflect.TypeOf(r).Elem()
			ks[ts[t.Kind]] = t.Kind
		}
	}
	return ts, ks
}()

// record is the whole record that begins with h. h points into a batch, where
// a record of its kind lies, which is one this build knows.
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
	}
	return reflect.NewAt(types[h.Kind], p).Interface().(event.Any) // the same for kinds that are rare
}

// recordBytes are the bytes of a record, with its kind set, nil when it is
// none. Every record struct begins with its Header.
func recordBytes(r event.Any) []byte {
	v := reflect.ValueOf(r)
	if v.Kind() != reflect.Pointer || v.IsNil() {
		return nil
	}
	k, ok := kindOf[v.Type().Elem()]
	if !ok {
		return nil
	}
	b := unsafe.Slice((*byte)(v.UnsafePointer()), k.Size())
	b[0] = byte(k)
	return b
}
