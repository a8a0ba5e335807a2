// SPDX-License-Identifier: Apache-2.0

package report

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

// Clean makes a string safe for a terminal: whatever is not printable ASCII
// is escaped. Names come from a kernel, a wire or a file that anybody wrote.
func Clean(s string) string {
	dirty := func(r rune) bool { return r < ' ' || r > '~' }
	if strings.IndexFunc(s, dirty) < 0 {
		return s
	}
	var b strings.Builder
	for len(s) > 0 {
		r, size := utf8.DecodeRuneInString(s)
		switch {
		case r == '\n':
			b.WriteString(`\n`)
		case r == '\t':
			b.WriteString(`\t`)
		case !dirty(r):
			b.WriteRune(r)
		case size == 1: // a control character, or a byte of no character
			fmt.Fprintf(&b, `\x%02x`, s[0])
		case r > 0xffff:
			fmt.Fprintf(&b, `\U%08x`, r)
		default:
			fmt.Fprintf(&b, `\u%04x`, r)
		}
		s = s[size:]
	}
	return b.String()
}
