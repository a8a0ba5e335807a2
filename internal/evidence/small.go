// SPDX-License-Identifier: Apache-2.0

package evidence

import (
	"io"

	"github.com/txtrace/txtrace/internal/analysis"
	"github.com/txtrace/txtrace/internal/capture"
	"github.com/txtrace/txtrace/internal/event"
)

// Small is a capture of few records.
type Small struct {
	Rule    string
	Records int

	header capture.Header
	footer capture.Footer
	recs   []event.Any
}

// newSmall numbers the records anew.
func newSmall(rule string, h *capture.Header, end capture.Clock, recs []event.Any) *Small {
	s := &Small{Rule: rule, Records: len(recs), header: *h, recs: recs}
	s.header.Counters = nil
	s.footer = capture.Footer{Clock: end, Ended: "signal", Ledger: []capture.LedgerRow{}}
	next := make(map[uint16]uint32)
	for _, r := range recs {
		h := r.Head()
		h.Seq = next[h.CPU]
		next[h.CPU]++
	}
	return s
}

// Write writes the capture.
func (s *Small) Write(out io.Writer) error {
	w, err := capture.NewWriter(out, &s.header)
	if err != nil {
		return err
	}
	var b []byte
	for _, r := range s.recs {
		b = event.AppendAny(b[:0], r)
		if err := w.Append(b); err != nil {
			return err
		}
	}
	return w.Close(&s.footer)
}

// source plays the records without a file.
func (s *Small) source() analysis.Source { return &memory{s, 0} }

type memory struct {
	*Small
	at int
}

func (m *memory) Header() *capture.Header    { return &m.header }
func (m *memory) Footer() *capture.Footer    { return &m.footer }
func (m *memory) Cut() *capture.CutInfo      { return nil }
func (m *memory) Stats() capture.ReaderStats { return capture.ReaderStats{} }

func (m *memory) Next() (capture.Item, error) {
	if m.at == len(m.recs) {
		return capture.Item{}, io.EOF
	}
	m.at++
	return capture.Item{Record: m.recs[m.at-1]}, nil
}
