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
	for i, r := range s {
		switch {
		case r == utf8.RuneError:
			// One byte of no encoding, or the real U+FFFD, which starts with 0xef.
			fmt.Fprintf(&b, `\x%02x`, s[i])
		case r == '\n':
			b.WriteString(`\n`)
		case r == '\t':
			b.WriteString(`\t`)
		case !dirty(r):
			b.WriteRune(r)
		case r < utf8.RuneSelf:
			fmt.Fprintf(&b, `\x%02x`, r)
		case r > 0xffff:
			fmt.Fprintf(&b, `\U%08x`, r)
		default:
			fmt.Fprintf(&b, `\u%04x`, r)
		}
	}
	return b.String()
}
