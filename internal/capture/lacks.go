// SPDX-License-Identifier: Apache-2.0

package capture

import (
	"bytes"
	"encoding/json"
	"reflect"
	"slices"
	"strings"
)

// lacks names the first member that the JSON of a t must have and has not: one
// whose tag is without omitempty, of t or of what is in it. Without this a
// setting that nobody stored would be read as 0, and each {} of two bytes
// would take the memory of a struct. An error of the JSON itself is left to
// who decodes it.
func lacks(doc []byte, t reflect.Type) string {
	if !json.Valid(doc) {
		return ""
	}
	w := walk{doc, make(map[reflect.Type][]member)}
	return w.value(t)
}

// walk goes through sound JSON without keeping any of it.
type walk struct {
	left  []byte
	known map[reflect.Type][]member
}

// member of a struct.
type member struct {
	name     string
	optional bool
	is       reflect.Type
}

func (w *walk) membersOf(t reflect.Type) []member {
	ms, ok := w.known[t]
	if ok {
		return ms
	}
	for _, f := range reflect.VisibleFields(t) {
		if name, options, _ := strings.Cut(f.Tag.Get("json"), ","); !f.Anonymous {
			ms = append(ms, member{name, options == "omitempty", f.Type})
		}
	}
	w.known[t] = ms
	return ms
}

// value reads the JSON of one t.
func (w *walk) value(t reflect.Type) string {
	if t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	is := t.Kind()
	switch begins := w.peek(); {
	case begins == '{' && is == reflect.Struct:
		return w.members(t)
	case begins == '[' && is == reflect.Slice:
		for w.left = w.left[1:]; w.peek() != ']'; {
			if name := w.value(t.Elem()); name != "" {
				return "[]" + name
			}
		}
		w.left = w.left[1:]
		return ""
	case begins == 'n' && is != reflect.Slice && is != reflect.Map:
		return "."
	}
	w.skip()
	return ""
}

// members reads those of one t.
func (w *walk) members(t reflect.Type) string {
	ms := w.membersOf(t)
	found := make([]bool, len(ms))
	for w.left = w.left[1:]; w.peek() != '}'; {
		key := w.text()
		// In any case of letters, as encoding/json has it.
		i := slices.IndexFunc(ms, func(m member) bool { return strings.EqualFold(m.name, key) })
		if i < 0 {
			w.skip()
			continue
		}
		found[i] = true
		if of := w.value(ms[i].is); of != "" {
			return "." + ms[i].name + strings.TrimSuffix(of, ".")
		}
	}
	w.left = w.left[1:]
	for i, m := range ms {
		if !found[i] && !m.optional {
			return "." + m.name
		}
	}
	return ""
}

// peek is the first byte of what comes next.
func (w *walk) peek() byte {
	w.left = bytes.TrimLeft(w.left, " \t\r\n:,")
	return w.left[0]
}

// text reads a string.
func (w *walk) text() (s string) {
	n := 1
	for ; w.left[n] != '"'; n++ {
		if w.left[n] == '\\' {
			n++
		}
	}
	quoted := w.left[:n+1]
	w.left = w.left[n+1:]
	if bytes.IndexByte(quoted, '\\') < 0 {
		return string(quoted[1:n])
	}
	_ = json.Unmarshal(quoted, &s) // cannot fail: it is sound
	return s
}

// skip reads one value of any kind.
func (w *walk) skip() {
	for open := 0; ; {
		switch w.peek() {
		case '"':
			w.text()
		case '{', '[':
			open++
			w.left = w.left[1:]
		case '}', ']':
			open--
			w.left = w.left[1:]
		default: // a number, true, false or null
			w.left = w.left[max(0, bytes.IndexAny(w.left, ",]} \t\r\n")):]
		}
		if open == 0 {
			return
		}
	}
}
