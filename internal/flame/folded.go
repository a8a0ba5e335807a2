// SPDX-License-Identifier: Apache-2.0

package flame

import (
	"bufio"
	"fmt"
	"io"
	"slices"
	"strings"
)

// Folded prints a line for each way: its calls, parted by semicolons, and its
// value. With a base there are two values, the base's first, as difffolded.pl of
// the FlameGraph tools has them.
func Folded(w io.Writer, s, base *Stacks) error {
	values := map[string][2]uint64{}
	add := func(of *Stacks, at int) {
		for _, way := range of.Ways {
			line := way.folded()
			v := values[line]
			v[at] += way.Value
			values[line] = v
		}
	}
	add(s, 1)
	if base != nil {
		add(base, 0)
	}
	lines := make([]string, 0, len(values))
	for line := range values {
		lines = append(lines, line)
	}
	slices.Sort(lines)
	out := bufio.NewWriter(w)
	for _, line := range lines {
		if base != nil {
			fmt.Fprintf(out, "%s %d %d\n", line, values[line][0], values[line][1])
			continue
		}
		fmt.Fprintf(out, "%s %d\n", line, values[line][1])
	}
	return out.Flush()
}

// folded spells the calls. What would part a line elsewhere is replaced.
func (w Way) folded() string {
	names := make([]string, len(w.Calls))
	for i, c := range w.Calls {
		names[i] = strings.Map(func(r rune) rune {
			if r <= ' ' || r == ';' || r == 0x7f {
				return '_'
			}
			return r
		}, c.Name)
	}
	return strings.Join(names, ";")
}
