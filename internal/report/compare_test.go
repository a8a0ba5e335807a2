// SPDX-License-Identifier: Apache-2.0

package report

import (
	"encoding/csv"
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/txtrace/txtrace/internal/analysis"
	"github.com/txtrace/txtrace/internal/comparison"
)

// sampleComparison has five runs on each side, some of B's at their ceiling.
func sampleComparison(hostile bool) *comparison.Comparison {
	set := func(name string, results ...float64) (cs []comparison.Capture) {
		for i, v := range results {
			r := sample()
			r.Header.Kernel.Release = name
			r.Footer.Child.Output = fmt.Sprintf("THROUGHPUT=%v\n", v)
			q := &r.Queues[0]
			q.Requeues.Packets += analysis.U64(i)
			q.Runs.QuotaEnded += analysis.U64(i * i)
			if name == "6.12.95" {
				q.Requeues.Packets *= 3
				q.Handovers.OwedAny += analysis.U64(100 + i)
			}
			if i != 4 {
				r.Verify.Lost = analysis.LostInfo{}
			}
			path := fmt.Sprintf("%s-%d.txtrace", name, i+1)
			if hostile {
				r.Header.Kernel.Version = "\x1b]0;owned\a|<b>" + strings.Repeat("long", 40)
				r.Footer.Child.Command = []string{"sh", "-c", "echo \x1b[2J\r|`x`\u202e"}
				r.Header.Devices[0].Driver = name + "\x1b[31m\n| x"
				path = "\x1b[8m" + path
			}
			cs = append(cs, comparison.Capture{Path: path, Result: r})
		}
		return cs
	}
	bound, err := comparison.ParseBound("load<-1%")
	if err != nil {
		panic(err)
	}
	c, err := comparison.New(set("6.12.43", 9300, 9310, 9290, 9305, 9300), set("6.12.95", 9400, 9410, 9415, 9415, 9405), comparison.Options{
		Ceilings: map[string]float64{"load": 9415}, Bounds: []comparison.Bound{bound},
	})
	if err != nil {
		panic(err)
	}
	return c
}

// comparePages are its texts.
func comparePages() map[string]func(io.Writer) error {
	plain, hostile := sampleComparison(false), sampleComparison(true)
	return map[string]func(io.Writer) error{
		"compare":         func(w io.Writer) error { return Compare(w, Text{}, plain) },
		"compare-more":    func(w io.Writer) error { return Compare(w, Text{More: true}, plain) },
		"compare-hostile": func(w io.Writer) error { return Compare(w, Text{More: true}, hostile) },
		"compare-metrics": func(w io.Writer) error { return CompareMetrics(w, comparison.Metrics()) },
	}
}

// compareTables are forms that are wider than a mail.
func compareTables() map[string]func(io.Writer) error {
	plain, hostile := sampleComparison(false), sampleComparison(true)
	return map[string]func(io.Writer) error{
		"compare-markdown":         func(w io.Writer) error { return CompareMarkdown(w, plain) },
		"compare-markdown-hostile": func(w io.Writer) error { return CompareMarkdown(w, hostile) },
		"compare-csv":              func(w io.Writer) error { return CompareCSV(w, plain) },
	}
}

// Each line of CSV has the columns of the first, and no control character.
func TestCompareCSV(t *testing.T) {
	var b strings.Builder
	c := sampleComparison(true)
	if err := CompareCSV(&b, c); err != nil {
		t.Fatal(err)
	}
	lines, err := csv.NewReader(strings.NewReader(b.String())).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	if len(lines) != 1+len(c.Rows)+len(c.Missing) {
		t.Errorf("%d lines of %d metrics", len(lines), len(c.Rows)+len(c.Missing))
	}
	if strings.ContainsAny(b.String(), "\x1b\a\r") {
		t.Errorf("%q", b.String())
	}
}

func TestFigure(t *testing.T) {
	for v, want := range map[float64]string{
		0: "0", 1: "1.00", -1: "-1.00", 0.5: "0.5000", 0.0001: "1.0e-04", 12345: "12345", 123.46: "123.5", 99999999: "99999999", 1e8: "1.0e+08", -1234567: "-1234567",
	} {
		if got := figure(v); got != want || len(got) > 8 {
			t.Errorf("%v: %q, want %q", v, got, want)
		}
	}
	for v, want := range map[float64]string{0: "+0.0", -99.9: "-99.9", 99.96: "+100", 12345: "+1e+04", -0.04: "-0.0"} {
		if got := percent(&v); got != want {
			t.Errorf("%v: %q, want %q", v, got, want)
		}
	}
	for v, want := range map[float64]string{1: "1.000", 0.0009: "<0.001", 0.0496: "0.050", 0.001: "0.001"} {
		if got := probability(&v); got != want {
			t.Errorf("%v: %q, want %q", v, got, want)
		}
	}
}
