// SPDX-License-Identifier: Apache-2.0

package capture

import (
	"reflect"
	"strings"
)

// lacks names the first member that a t must have and doc, which is its JSON
// in Go's own types, has not: one whose tag is without omitempty, of t or of
// what is in it. Without this a setting that nobody stored would be read as 0.
func lacks(doc any, t reflect.Type) string {
	switch t.Kind() {
	case reflect.Struct:
		members, ok := doc.(map[string]any)
		if !ok {
			return "."
		}
		return lacksOf(members, t)
	case reflect.Slice:
		elements, _ := doc.([]any)
		for _, e := range elements {
			if name := lacks(e, t.Elem()); name != "" {
				return "[]" + name
			}
		}
	case reflect.Pointer:
		if doc != nil {
			return lacks(doc, t.Elem())
		}
	case reflect.Map: // of numbers and strings
	default:
		if doc == nil {
			return "."
		}
	}
	return ""
}

// lacksOf is lacks for the members of a struct.
func lacksOf(members map[string]any, t reflect.Type) string {
	for i := range t.NumField() {
		f := t.Field(i)
		if f.Anonymous {
			if name := lacksOf(members, f.Type); name != "" {
				return name
			}
			continue
		}
		name, options, _ := strings.Cut(f.Tag.Get("json"), ",")
		doc, ok := members[name]
		switch {
		case ok:
			if of := lacks(doc, f.Type); of != "" {
				return "." + name + strings.TrimSuffix(of, ".")
			}
		case options != "omitempty":
			return "." + name
		}
	}
	return ""
}
