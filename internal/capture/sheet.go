// SPDX-License-Identifier: Apache-2.0

package capture

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"reflect"
	"strings"

	"github.com/klauspost/compress/s2"
)

// A sheet is the header or the footer in the file: JSON, s2 if that is shorter.
// What precedes it, the lead, ends with its raw length, its stored length, the
// checksum of the stored bytes, and the checksum of the lead before.
const leadSize = 4 * sumSize

// appendSheet adds the end of the lead and the sheet of v to dst, which holds
// the beginning of the lead.
func appendSheet(dst []byte, what string, v any) ([]byte, error) {
	js, err := json.Marshal(v)
	if err == nil && len(js) > maxJSON {
		err = fmt.Errorf("%d bytes of JSON, more than %d", len(js), maxJSON)
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", what, err)
	}
	stored := s2.EncodeBetter(nil, js)
	if len(stored) >= len(js) || len(js) > maxRatio*len(stored) {
		stored = js
	}
	dst = le.AppendUint32(dst, uint32(len(js)))
	dst = le.AppendUint32(dst, uint32(len(stored)))
	dst = le.AppendUint32(dst, sum(stored))
	dst = le.AppendUint32(dst, sum(dst))
	return append(dst, stored...), nil
}

// sheetLead is what a lead says of its sheet.
type sheetLead struct {
	raw, stored int
	sum         uint32
}

// parseLead reads a whole lead, false when it is damaged.
func parseLead(b []byte) (l sheetLead, ok bool) {
	end := b[len(b)-leadSize:]
	raw, stored := le.Uint32(end), le.Uint32(end[4:])
	ok = sum(b[:len(b)-sumSize]) == le.Uint32(end[12:]) &&
		raw <= maxJSON && stored <= raw && uint64(raw) <= maxRatio*uint64(stored)
	return sheetLead{int(raw), int(stored), le.Uint32(end[8:])}, ok
}

// decode puts the sheet in b into v. It is false when the sheet is damaged, and
// gives an error with its next step when it is not what v is.
func (l sheetLead) decode(b []byte, v any) (ok bool, err error) {
	if sum(b) != l.sum {
		return false, nil
	}
	if l.stored < l.raw {
		if n, err := s2.DecodedLen(b); err != nil || n != l.raw {
			return false, nil
		}
		if b, err = s2.Decode(nil, b); err != nil {
			return false, nil
		}
	}
	if name := lacks(b, reflect.TypeOf(v).Elem()); name != "" {
		return false, fmt.Errorf("it does not tell %s; use the txtrace that wrote it", orAll(strings.Trim(name, ".")))
	}
	var wrong *json.UnmarshalTypeError
	switch err := json.Unmarshal(b, v); {
	case errors.As(err, &wrong):
		return false, fmt.Errorf("it has a %s where none can be (%s), so it is damaged; record again", wrong.Value, orAll(wrong.Field))
	case err != nil:
		return false, fmt.Errorf("%w, so it is damaged; record again", err)
	}
	return true, nil
}

// orAll is the name of a member, "all" when it is the whole document.
func orAll(member string) string {
	if member == "" {
		return "all"
	}
	return member
}

// readN reads n bytes, taking memory only as they come.
func readN(in io.Reader, n int) ([]byte, error) {
	var b bytes.Buffer
	if _, err := io.CopyN(&b, in, int64(n)); err != nil {
		return nil, fmt.Errorf("after %d of %d bytes: %w", b.Len(), n, err)
	}
	return b.Bytes(), nil
}
