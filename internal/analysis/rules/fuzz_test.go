// SPDX-License-Identifier: Apache-2.0

package rules

import (
	"io"
	"testing"

	"github.com/txtrace/txtrace/internal/analysis"
	"github.com/txtrace/txtrace/internal/capture"
	"github.com/txtrace/txtrace/internal/event"
)

// bytesSource reads records from bytes that may hold anything.
type bytesSource struct {
	header capture.Header
	b      []byte
}

func (s *bytesSource) Header() *capture.Header { return &s.header }
func (s *bytesSource) Footer() *capture.Footer {
	return &capture.Footer{Ledger: []capture.LedgerRow{{Program: -1, CPU: 70000, Seen: 3}}}
}
func (s *bytesSource) Cut() *capture.CutInfo      { return nil }
func (s *bytesSource) Stats() capture.ReaderStats { return capture.ReaderStats{} }

func (s *bytesSource) Next() (capture.Item, error) {
	if len(s.b) > 16 && s.b[0] == 0 {
		g := &capture.Gap{CPU: uint16(s.b[1]), FromNS: uint64(s.b[2]), ToNS: uint64(s.b[3])<<8 | uint64(s.b[4]), Lost: uint32(s.b[5])}
		s.b = s.b[16:]
		return capture.Item{Gap: g}, nil
	}
	r, err := event.Decode(s.b)
	if err != nil {
		return capture.Item{}, io.EOF
	}
	s.b = s.b[r.Head().Kind.Size():]
	return capture.Item{Record: r}, nil
}

// A capture is untrusted input: whatever its records hold, the analysis ends
// and says something.
func FuzzAnalyze(f *testing.F) {
	t := legal()
	var b []byte
	for _, r := range t.recs {
		b = event.AppendAny(b, r)
	}
	f.Add(b)
	f.Fuzz(func(t *testing.T, b []byte) {
		s := &bytesSource{header: legal().header, b: b}
		res, err := analysis.Analyze(s, analysis.Options{Rules: All()})
		if err != nil || len(res.Verify.Rules) != len(All()) {
			t.Fatal(err)
		}
		for _, q := range res.Queues {
			q.Metrics()
		}
	})
}
