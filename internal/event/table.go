// SPDX-License-Identifier: Apache-2.0

package event

import (
	"encoding/binary"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"unsafe"
)

// Record is any of the record structs.
type Record interface {
	Run | Dequeue | Direct | Handover | Complete | Throttle | Wfree | Resume | Notice | Ledger | Quiet | Pick | Picks | GRO | Sample | Sojourn | Packet |
		Schedule | Delivery | Enqueue | Free | Transmit | Steer
}

// Any is a decoded record: a pointer to one of the record structs.
type Any interface{ Head() *Header }

// Field describes one field of a record in a capture.
type Field struct {
	Name   string `json:"name"`           // as bpf/event.h spells it
	Offset int    `json:"offset"`         // bytes from the record's first byte
	Size   int    `json:"size"`           // bytes
	Count  int    `json:"count"`          // elements, 1 unless an array
	Unit   string `json:"unit,omitempty"` // bytes, packets, ns, jiffies, addr, ...
}

// Table describes one record kind.
type Table struct {
	Kind   Kind    `json:"kind"`
	Name   string  `json:"name"`
	Size   int     `json:"size"` // bytes, a multiple of 8
	Fields []Field `json:"fields"`
}

// row ties a kind to its name and its struct.
type row struct {
	name   string
	typ    reflect.Type
	decode func([]byte) Any
	append func([]byte, Any) []byte
}

func rowOf[T Record](name string) row {
	return row{name, reflect.TypeFor[T](), func(b []byte) Any {
		r := new(T)
		copy(bytesOf(r), b)
		return any(r).(Any)
	}, func(dst []byte, r Any) []byte { return append(dst, bytesOf(any(r).(*T))...) }}
}

// kinds is the registry; the index is the kind.
var kinds = [...]row{
	KindRun:      rowOf[Run]("run"),
	KindDequeue:  rowOf[Dequeue]("dequeue"),
	KindDirect:   rowOf[Direct]("direct"),
	KindHandover: rowOf[Handover]("handover"),
	KindComplete: rowOf[Complete]("complete"),
	KindThrottle: rowOf[Throttle]("throttle"),
	KindWfree:    rowOf[Wfree]("wfree"),
	KindResume:   rowOf[Resume]("resume"),
	KindNotice:   rowOf[Notice]("notice"),
	KindLedger:   rowOf[Ledger]("ledger"),
	KindQuiet:    rowOf[Quiet]("quiet"),
	KindPick:     rowOf[Pick]("pick"),
	KindPicks:    rowOf[Picks]("picks"),
	KindGRO:      rowOf[GRO]("gro"),
	KindSample:   rowOf[Sample]("sample"),
	KindSojourn:  rowOf[Sojourn]("sojourn"),
	KindPacket:   rowOf[Packet]("packet"),
	KindSchedule: rowOf[Schedule]("schedule"),
	KindDelivery: rowOf[Delivery]("delivery"),
	KindEnqueue:  rowOf[Enqueue]("enqueue"),
	KindFree:     rowOf[Free]("free"),
	KindTransmit: rowOf[Transmit]("transmit"),
	KindSteer:    rowOf[Steer]("steer"),
}

// Valid says whether k is a kind this build knows.
func (k Kind) Valid() bool { return k > KindInvalid && int(k) < len(kinds) }

// Size of a record of the kind in bytes, 0 when the kind is unknown.
func (k Kind) Size() int {
	if !k.Valid() {
		return 0
	}
	return int(kinds[k].typ.Size())
}

func (k Kind) String() string {
	if !k.Valid() {
		return fmt.Sprintf("kind(%d)", uint8(k))
	}
	return kinds[k].name
}

// Tables describes every kind, in kind order.
func Tables() []Table {
	var ts []Table
	for k := KindRun; k.Valid(); k++ {
		t := Table{Kind: k, Name: k.String(), Size: k.Size()}
		addFields(&t, kinds[k].typ, 0, "")
		ts = append(ts, t)
	}
	return ts
}

// addFields lists the fields of typ; a struct inside that has a name of its
// own puts it in front of its fields' names.
func addFields(t *Table, typ reflect.Type, base int, prefix string) {
	for i := range typ.NumField() {
		f := typ.Field(i)
		off := base + int(f.Offset)
		if f.Type.Kind() == reflect.Struct {
			inner := prefix
			if !f.Anonymous {
				inner += snake(f.Name) + "_"
			}
			addFields(t, f.Type, off, inner)
			continue
		}
		elem, n := f.Type, 1
		if elem.Kind() == reflect.Array {
			elem, n = elem.Elem(), f.Type.Len()
		}
		t.Fields = append(t.Fields, Field{prefix + snake(f.Name), off, int(elem.Size()), n, f.Tag.Get("unit")})
	}
}

// snake turns NumQueuedBegin into num_queued_begin and TSQEnd into tsq_end.
func snake(s string) string {
	var b strings.Builder
	for i := range len(s) {
		c := s[i]
		if c < 'A' || c > 'Z' {
			b.WriteByte(c)
			continue
		}
		after := i > 0 && (s[i-1] < 'A' || s[i-1] > 'Z')
		before := i > 0 && i+1 < len(s) && s[i+1] >= 'a' && s[i+1] <= 'z'
		if after || before {
			b.WriteByte('_')
		}
		b.WriteByte(c + 'a' - 'A')
	}
	return b.String()
}

// Errors of Decode.
var (
	ErrKind   = errors.New("unknown record kind")
	ErrShort  = errors.New("record is shorter than its kind")
	ErrEndian = errors.New("this machine is big-endian, captures are little-endian")
)

var bigEndian = binary.NativeEndian.Uint16([]byte{0, 1}) == 1

// Decode returns the record in b as a pointer to its struct. b may be longer
// than the record; it is not kept.
func Decode(b []byte) (Any, error) {
	switch {
	case bigEndian:
		return nil, ErrEndian
	case len(b) == 0:
		return nil, ErrShort
	case !Kind(b[0]).Valid():
		return nil, fmt.Errorf("%w %d", ErrKind, b[0])
	case len(b) < Kind(b[0]).Size():
		return nil, fmt.Errorf("%s: %w: %d of %d bytes", Kind(b[0]), ErrShort, len(b), Kind(b[0]).Size())
	}
	return kinds[b[0]].decode(b), nil
}

// Append adds the record's bytes to dst, with its kind set.
func Append[T Record](dst []byte, r *T) []byte {
	b := bytesOf(r)
	b[0] = byte(kindOf[T]())
	return append(dst, b...)
}

func bytesOf[T Record](r *T) []byte {
	return unsafe.Slice((*byte)(unsafe.Pointer(r)), unsafe.Sizeof(*r))
}

// AppendAny is Append for a record whose header has its kind, a valid one.
func AppendAny(dst []byte, r Any) []byte { return kinds[r.Head().Kind].append(dst, r) }

func kindOf[T Record]() Kind {
	for k := KindRun; k.Valid(); k++ {
		if kinds[k].typ == reflect.TypeFor[T]() {
			return k
		}
	}
	return KindInvalid
}

// Text is the string in a fixed array, up to its first NUL.
func Text(b []byte) string {
	s, _, _ := strings.Cut(string(b), "\x00")
	return s
}
