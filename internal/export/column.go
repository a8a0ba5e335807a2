// SPDX-License-Identifier: Apache-2.0

package export

import (
	"encoding/binary"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/txtrace/txtrace/internal/event"
)

// column is one field of a kind of record. No record has an array but of text.
type column struct {
	event.Field
	signed, text bool
}

// columnsOf lists the fields of each kind, but for its own number and what is
// there for the layout only.
func columnsOf() map[event.Kind][]column {
	all := map[event.Kind][]column{}
	for _, t := range event.Tables() {
		rec, err := event.Decode(slices.Concat([]byte{byte(t.Kind)}, make([]byte, t.Size)))
		if err != nil {
			continue // of a table of this build: it has a record
		}
		types := map[int]reflect.Type{}
		placed(reflect.TypeOf(rec).Elem(), 0, types)
		for _, f := range t.Fields {
			if f.Name == "kind" || strings.HasPrefix(f.Name, "pad") || strings.Contains(f.Name, "_pad") {
				continue
			}
			c := column{Field: f}
			typ := types[f.Offset]
			if typ.Kind() == reflect.Array {
				typ = typ.Elem()
				c.text = typ.Kind() == reflect.Uint8
			}
			c.signed = typ.Kind() >= reflect.Int && typ.Kind() <= reflect.Int64
			all[t.Kind] = append(all[t.Kind], c)
		}
	}
	return all
}

// placed notes the types of fields by where they lie.
func placed(typ reflect.Type, base int, types map[int]reflect.Type) {
	for i := range typ.NumField() {
		f := typ.Field(i)
		if f.Type.Kind() == reflect.Struct {
			placed(f.Type, base+int(f.Offset), types)
			continue
		}
		types[base+int(f.Offset)] = f.Type
	}
}

// append adds the field's value in the record b as JSON.
func (c *column) append(dst, b []byte) []byte {
	switch {
	case c.text:
		text, _, _ := strings.Cut(string(b[c.Offset:c.Offset+c.Count]), "\x00")
		return appendText(dst, text)
	case c.Unit == "addr":
		dst = append(dst, '"', '0', 'x')
		dst = strconv.AppendUint(dst, c.bits(b), 16)
		return append(dst, '"')
	case c.signed:
		return strconv.AppendInt(dst, c.signedBits(b), 10)
	}
	return strconv.AppendUint(dst, c.bits(b), 10)
}

// bits of the field, which is not text.
func (c *column) bits(b []byte) uint64 {
	b = b[c.Offset:]
	switch c.Size {
	case 1:
		return uint64(b[0])
	case 2:
		return uint64(binary.LittleEndian.Uint16(b))
	case 4:
		return uint64(binary.LittleEndian.Uint32(b))
	}
	return binary.LittleEndian.Uint64(b)
}

func (c *column) signedBits(b []byte) int64 {
	shift := 64 - 8*c.Size
	return int64(c.bits(b)<<shift) >> shift
}
