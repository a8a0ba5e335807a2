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
	w := walk{json.NewDecoder(bytes.NewReader(doc)), make(map[reflect.Type][]member)}
	return w.value(t)
}

// walk goes through JSON without keeping any of it.
type walk struct {
	*json.Decoder
	known map[reflect.Type][]member
}

// member of a struct.
type member struct {
	name     string
	optional bool
	is       reflect.Type
}

func (w walk) membersOf(t reflect.Type) []member {
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
func (w walk) value(t reflect.Type) string {
	if t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	open, err := w.Token()
	switch is := t.Kind(); {
	case err != nil:
		return ""
	case open == json.Delim('{') && is == reflect.Struct:
		return w.members(t)
	case open == json.Delim('[') && is == reflect.Slice:
		for w.More() {
			if name := w.value(t.Elem()); name != "" {
				return "[]" + name
			}
		}
		w.end(1)
	case open == json.Delim('{') || open == json.Delim('['):
		w.end(1)
	case open == nil && is != reflect.Slice && is != reflect.Map:
		return "."
	}
	return ""
}

// members reads those of one t.
func (w walk) members(t reflect.Type) string {
	ms := w.membersOf(t)
	found := make([]bool, len(ms))
	for w.More() {
		key, err := w.Token()
		if err != nil {
			return ""
		}
		// As encoding/json has it.
		i := slices.IndexFunc(ms, func(m member) bool { return strings.EqualFold(m.name, key.(string)) })
		if i < 0 {
			w.skip()
			continue
		}
		found[i] = true
		if of := w.value(ms[i].is); of != "" {
			return "." + ms[i].name + strings.TrimSuffix(of, ".")
		}
	}
	w.end(1)
	for i, m := range ms {
		if !found[i] && !m.optional {
			return "." + m.name
		}
	}
	return ""
}

// skip reads one value of any kind.
func (w walk) skip() {
	switch t, _ := w.Token(); t {
	case json.Delim('{'), json.Delim('['):
		w.end(1)
	}
}

// end reads on until as many brackets are closed.
func (w walk) end(open int) {
	for open > 0 {
		t, err := w.Token()
		switch {
		case err != nil:
			return
		case t == json.Delim('{') || t == json.Delim('['):
			open++
		case t == json.Delim('}') || t == json.Delim(']'):
			open--
		}
	}
}
