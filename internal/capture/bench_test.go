// SPDX-License-Identifier: Apache-2.0

package capture

import (
	"bytes"
	"io"
	"math/rand/v2"
	"slices"
	"testing"
)

// loads are the mean times in ns between two packets: so slow that groups
// close by age, mostly one at a time, small batches, full batches.
var loads = []struct {
	name  string
	every float64
}{{"slow", 600000}, {"sparse", 30000}, {"busy", 5000}, {"full", 2000}}

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

// BenchmarkRead is the cost of delivering one record: of whole captures, and
// of one in which every tenth is missing.
func BenchmarkRead(b *testing.B) {
	for _, l := range loads {
		b.Run(l.name, func(b *testing.B) { benchmarkRead(b, genBulkUDP(1, 300000, l.every)) })
	}
	b.Run("lossy", func(b *testing.B) {
		r := rand.New(rand.NewPCG(1, 1))
		recs := genBulkUDP(1, 300000, loads[3].every)
		benchmarkRead(b, slices.DeleteFunc(recs, func([]byte) bool { return r.IntN(10) == 0 }))
	})
}

func benchmarkRead(b *testing.B, recs [][]byte) {
	file := write(b, recs, nil, &Footer{})
	b.ReportAllocs()
	b.ResetTimer()
	var r *Reader
	var err error
	for i := 0; i < b.N; i++ {
		if r == nil {
			if r, err = Open(bytes.NewReader(file)); err != nil {
				b.Fatal(err)
			}
		}
		if _, err := r.Next(); err == io.EOF {
			r = nil
		} else if err != nil {
			b.Fatal(err)
		}
	}
}
