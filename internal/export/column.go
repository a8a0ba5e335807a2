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

// column is one field of a kind of record.
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
	case c.Count > 1:
		dst = append(dst, '[')
		for i := range c.Count {
			if i > 0 {
				dst = append(dst, ',')
			}
			dst = c.number(dst, b[c.Offset+i*c.Size:])
		}
		return append(dst, ']')
	}
	return c.number(dst, b[c.Offset:])
}

func (c *column) number(dst, b []byte) []byte {
	var n uint64
	switch c.Size {
	case 1:
		n = uint64(b[0])
	case 2:
		n = uint64(binary.LittleEndian.Uint16(b))
	case 4:
		n = uint64(binary.LittleEndian.Uint32(b))
	default:
		n = binary.LittleEndian.Uint64(b)
	}
	switch {
	case c.Unit == "addr":
		dst = append(dst, '"', '0', 'x')
		dst = strconv.AppendUint(dst, n, 16)
		return append(dst, '"')
	case c.signed:
		shift := 64 - 8*c.Size
		return strconv.AppendInt(dst, int64(n<<shift)>>shift, 10)
	}
	return strconv.AppendUint(dst, n, 10)
}
