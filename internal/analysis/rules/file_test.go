// SPDX-License-Identifier: Apache-2.0

package rules

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/txtrace/txtrace/internal/analysis"
	"github.com/txtrace/txtrace/internal/capture"
	"github.com/txtrace/txtrace/internal/event"
)

// file writes the trace as a capture file.
func (t *trace) file(tb testing.TB) []byte {
	tb.Helper()
	t.header.Tables = event.Tables()
	var buf bytes.Buffer
	w, err := capture.NewWriter(&buf, &t.header)
	if err != nil {
		tb.Fatal(err)
	}
	for _, r := range t.recs {
		if err := w.Append(event.AppendAny(nil, r)); err != nil {
			tb.Fatal(err)
		}
	}
	if err := w.Close(t.foot(nil)); err != nil {
		tb.Fatal(err)
	}
	return buf.Bytes()
}

// A capture file says what its records said, byte for byte each time.
func TestFile(t *testing.T) {
	tr := legal()
	b := tr.file(t)
	var docs [2][]byte
	for i := range docs {
		r, err := capture.Open(bytes.NewReader(b))
		if err != nil {
			t.Fatal(err)
		}
		res, err := analysis.Analyze(r, analysis.Options{Rules: All()})
		if err != nil {
			t.Fatal(err)
		}
		direct := tr.analyze(t, "auto", nil)
		if d := cmp.Diff(direct.Verify, res.Verify); d != "" {
			t.Error(d)
		}
		if d := cmp.Diff(direct.Queues, res.Queues); d != "" {
			t.Error(d)
		}
		if docs[i], err = json.Marshal(res.Verify); err != nil {
			t.Fatal(err)
		}
	}
	if !bytes.Equal(docs[0], docs[1]) {
		t.Error("two readings differ")
	}
}

// A file that is cut is judged as far as it goes, and that it is cut is said.
func TestCutFile(t *testing.T) {
	b := legal().file(t)
	for _, n := range []int{len(b) - 1, len(b) * 9 / 10, len(b) / 2} {
		r, err := capture.Open(bytes.NewReader(b[:n]))
		if err != nil {
			continue // cut inside the header
		}
		res, err := analysis.Analyze(r, analysis.Options{Rules: All()})
		if err != nil {
			t.Fatal(err)
		}
		if res.Cut == nil || res.Verify.Lost.Cut == "" || ruling(t, res, "M1").Verdict != analysis.VerdictInconclusive {
			t.Errorf("cut at %d: %+v", n, res.Verify.Lost)
		}
		if len(failed(res)) > 0 {
			t.Errorf("cut at %d: %v fail", n, failed(res))
		}
	}
}

// What is wrong with several programs is told in their order.
func TestProgramsInOrder(t *testing.T) {
	tr := legal()
	for program := range uint32(6) {
		tr.own(&event.Ledger{Program: program, Missed: 7})
	}
	tr.footer = tr.foot(nil)
	es := ruling(t, tr.analyze(t, "auto", nil), "M2").Evidence
	for i, e := range es {
		if want := fmt.Sprintf("program %d had missed 7", i); !strings.HasPrefix(e.Says, want) {
			t.Errorf("%q, want %q", e.Says, want)
		}
	}
	if len(es) < 2 {
		t.Errorf("%d of 6 are shown", len(es))
	}
}
