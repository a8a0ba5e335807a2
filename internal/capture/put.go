// SPDX-License-Identifier: Apache-2.0

package capture

import (
	"fmt"
	"io"

	"github.com/txtrace/txtrace/internal/event"
)

// Put appends a record struct, setting its kind. It is for tests and the
// simulator; the recorder appends the bytes it got from the ring.
func Put[T event.Record](w *Writer, r *T) error {
	w.scratch = event.Append(w.scratch[:0], r)
	return w.Append(w.scratch)
}

// PutAny is Put for a record whose type is not known at compile time.
func PutAny(w *Writer, r event.Any) error {
	b := recordBytes(r)
	if b == nil {
		return fmt.Errorf("%w: %T", ErrRecord, r)
	}
	return w.Append(b)
}

// Write writes a whole capture. A nil f leaves it cut after the last record.
func Write(out io.Writer, h *Header, recs []event.Any, f *Footer) error {
	w, err := NewWriter(out, h)
	if err != nil {
		return err
	}
	for _, r := range recs {
		if err := PutAny(w, r); err != nil {
			return err
		}
	}
	if f == nil {
		return w.Flush()
	}
	return w.Close(f)
}
