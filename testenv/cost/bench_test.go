// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"os"
	"syscall"
	"testing"
	"time"

	"github.com/txtrace/txtrace/internal/analysis"
	"github.com/txtrace/txtrace/internal/analysis/rules"
	"github.com/txtrace/txtrace/internal/capture"
)

// BenchmarkCapture takes a real capture from its bytes to verdicts. One
// operation is the whole capture, so its begin and its end weigh in a short
// one.
func BenchmarkCapture(b *testing.B) {
	name := os.Getenv("TXTRACE_CAPTURE")
	if name == "" {
		b.Skip("TXTRACE_CAPTURE names no capture")
	}
	file, err := os.ReadFile(name)
	if err != nil {
		b.Fatal(err)
	}
	var records int64
	b.ReportAllocs()
	begin := used()
	for range b.N {
		r, err := capture.Open(bytes.NewReader(file))
		if err != nil {
			b.Fatal(err)
		}
		if _, err := analysis.Analyze(r, analysis.Options{Rules: rules.All(), NoReport: true}); err != nil {
			b.Fatal(err)
		}
		if r.Footer() == nil {
			b.Fatal(name + ": cut")
		}
		for _, n := range r.Footer().Records {
			records += n
		}
	}
	b.ReportMetric(float64(records)/float64(b.N), "records/op")
	b.ReportMetric(float64(records)/b.Elapsed().Seconds(), "records/s")
	b.ReportMetric(float64(records)/(used()-begin).Seconds(), "records/cpu-s")
}

// used is the processor time of this process so far.
func used() time.Duration {
	var u syscall.Rusage
	_ = syscall.Getrusage(syscall.RUSAGE_SELF, &u)
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
