// SPDX-License-Identifier: Apache-2.0

package report

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"unicode/utf16"
)

// JSON writes a document as one object on one line.
//
// Decision: it is ASCII, as text is: what is not is escaped. JSON is looked at
// on terminals, too, and names may hold what turns the writing direction or
// begins an escape sequence.
func JSON(w io.Writer, doc any) error {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(doc); err != nil {
		return err
	}
	_, err := w.Write(ascii(b.Bytes()))
	return err
}

// ascii escapes what is not printable ASCII. Outside of strings JSON has
// nothing of that but the newline at the end.
func ascii(doc []byte) []byte {
	dirty := func(r rune) bool { return r > '~' }
	if bytes.IndexFunc(doc, dirty) < 0 {
		return doc
	}
	var b bytes.Buffer
	for _, r := range string(doc) {
		switch {
		case !dirty(r):
			b.WriteRune(r)
		case r > 0xffff:
			high, low := utf16.EncodeRune(r)
			fmt.Fprintf(&b, `\u%04x\u%04x`, high, low)
		default:
			fmt.Fprintf(&b, `\u%04x`, r)
		}
	}
	return b.Bytes()
}
