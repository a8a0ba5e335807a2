// SPDX-License-Identifier: Apache-2.0

package export

import (
	"encoding/json"
	"io"

	"github.com/txtrace/txtrace/internal/event"
)

type object = map[string]any

// Schema writes the JSON Schema of a line.
func Schema(w io.Writer) error {
	count := object{"type": "integer", "minimum": 0}
	line := func(name string, required []string, properties object) object {
		properties["v"] = object{"const": version}
		properties["type"] = object{"const": name}
		return object{"title": name, "type": "object", "required": append([]string{"v", "type"}, required...), "properties": properties}
	}
	lines := []object{
		line("meta", []string{"tool", "kernel", "clock", "devices"}, object{"tool": object{"type": "string"}, "kernel": object{"type": "object"}}),
		line("gap", []string{"cpu", "after_seq", "before_seq", "lost", "from_ns", "to_ns"}, object{
			"cpu": count, "after_seq": count, "before_seq": count, "lost": count, "from_ns": count, "to_ns": count,
		}),
		line("summary", []string{"records", "gaps", "lost"}, object{
			"records": count, "gaps": count, "lost": count, "cut": object{"type": "string"}, "footer": object{"type": "object"},
		}),
	}
	columns := columnsOf()
	for _, t := range event.Tables() {
		properties := object{}
		var required []string
		for _, c := range columns[t.Kind] {
			properties[c.Name] = c.schema()
			required = append(required, c.Name)
		}
		l := line(t.Name, required, properties)
		l["additionalProperties"] = false
		lines = append(lines, l)
	}
	enc := json.NewEncoder(w)
	enc.SetIndent("", "  ")
	return enc.Encode(object{
		"$schema": "https://json-schema.org/draft/2020-12/schema", "title": "a line of txtrace export",
		"oneOf": lines,
	})
}

func (c *column) schema() object {
	one := object{"type": "integer"}
	if !c.signed {
		one["minimum"] = 0
	}
	switch {
	case c.Unit == "addr":
		one = object{"type": "string", "pattern": "^0x[0-9a-f]+$"}
	case c.Unit != "":
		one["description"] = c.Unit
	}
	if c.text {
		return object{"type": "string", "maxLength": c.Count}
	}
	return one
}
