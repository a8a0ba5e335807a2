// SPDX-License-Identifier: Apache-2.0

package export

import (
	"errors"
	"fmt"
	"io"

	"github.com/txtrace/txtrace/internal/capture"
	"github.com/txtrace/txtrace/internal/event"
)

// ErrRead is of what is read; any other error is of what is written.
var ErrRead = errors.New("read")

// walk goes through a capture to its end. The bytes of a record are its table's,
// and valid until the next one.
func walk(in *capture.Reader, gap func(*capture.Gap) error, record func(event.Kind, []byte) error) error {
	var raw []byte
	for {
		item, err := in.Next()
		switch {
		case errors.Is(err, io.EOF):
			return nil
		case err != nil:
			return fmt.Errorf("%w: %w", ErrRead, err)
		case item.Gap != nil:
			err = gap(item.Gap)
		default:
			raw = event.AppendAny(raw[:0], item.Record)
			err = record(item.Record.Head().Kind, raw)
		}
		if err != nil {
			return err
		}
	}
}
