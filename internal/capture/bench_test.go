// SPDX-License-Identifier: Apache-2.0

package capture

import (
	"bytes"
	"io"
	"testing"
)

// loads are the mean times in ns between two packets: mostly one at a time,
// small batches, full batches.
var loads = []struct {
	name  string
	every float64
}{{"sparse", 30000}, {"busy", 5000}, {"full", 2000}}

// BenchmarkWrite is the cost of recording one record.
func BenchmarkWrite(b *testing.B) {
	for _, l := range loads {
		b.Run(l.name, func(b *testing.B) {
			recs := genBulkUDP(1, 100000, l.every)
			w, err := NewWriter(io.Discard, &Header{})
			if err != nil {
				b.Fatal(err)
			}
			b.ReportAllocs()
			b.ResetTimer()
			for i := 0; i < b.N; i++ {
				if err := w.Append(recs[i%len(recs)]); err != nil {
					b.Fatal(err)
				}
			}
			if err := w.Flush(); err != nil {
				b.Fatal(err)
			}
			b.ReportMetric(float64(w.Stats().Written)/float64(b.N), "B/record")
		})
	}
}

// BenchmarkRead is the cost of delivering one record.
func BenchmarkRead(b *testing.B) {
	for _, l := range loads {
		b.Run(l.name, func(b *testing.B) {
			recs := genBulkUDP(1, 300000, l.every)
			var file bytes.Buffer
			w, err := NewWriter(&file, &Header{})
			if err != nil {
				b.Fatal(err)
			}
			for _, r := range recs {
				if err := w.Append(r); err != nil {
					b.Fatal(err)
				}
			}
			if err := w.Close(&Footer{}); err != nil {
				b.Fatal(err)
			}
			b.ReportAllocs()
			b.ResetTimer()
			var r *Reader
			for i := 0; i < b.N; i++ {
				if r == nil {
					if r, err = Open(bytes.NewReader(file.Bytes())); err != nil {
						b.Fatal(err)
					}
				}
				if _, err := r.Next(); err == io.EOF {
					r = nil
				} else if err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
