// SPDX-License-Identifier: Apache-2.0

package capture

import (
	"bytes"
	"io"
	"testing"

	"github.com/txtrace/txtrace/internal/event"
)

// Records of two kinds and two CPUs come back merged, with the gap where one
// was withheld and the loss at the end that only the ledger knows.
func TestRoundTrip(t *testing.T) {
	mk := func(cpu uint16, seq uint32, ns uint64) event.Header {
		return event.Header{CPU: cpu, Seq: seq, Time: ns}
	}
	recs := []event.Any{
		&event.Run{Header: mk(0, 0, 100), Packets: 7},
		&event.Dequeue{Header: mk(1, 0, 90)},
		&event.Dequeue{Header: mk(0, 2, 300)},
		&event.Notice{Header: mk(event.UserCPU, 0, 200)},
	}
	var buf bytes.Buffer
	f := &Footer{Clock: Clock{Monotonic: 999}, Ledger: []LedgerRow{{CPU: 0, LastSeq: 4, Submitted: 2, Lost: 3}}}
	if err := Write(&buf, &Header{Tool: "test"}, recs, f); err != nil {
		t.Fatal(err)
	}
	r, err := Open(&buf)
	if err != nil {
		t.Fatal(err)
	}
	var got []uint64
	var gaps []Gap
	for {
		it, err := r.Next()
		if err == io.EOF {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		if it.Gap != nil {
			gaps = append(gaps, *it.Gap)
			continue
		}
		got = append(got, it.Record.Head().Time)
	}
	if want := []uint64{90, 100, 200, 300}; len(got) != 4 || got[0] != want[0] || got[1] != want[1] || got[2] != want[2] || got[3] != want[3] {
		t.Errorf("times %v, want %v", got, want)
	}
	if len(gaps) != 2 || gaps[0] != (Gap{CPU: 0, AfterSeq: 0, BeforeSeq: 2, Lost: 1, FromNS: 100, ToNS: 300}) ||
		gaps[1] != (Gap{CPU: 0, AfterSeq: 2, BeforeSeq: 5, Lost: 2, FromNS: 300, ToNS: 999, End: true}) {
		t.Errorf("gaps %+v", gaps)
	}
	if r.Cut() != nil || r.Footer() == nil || r.Footer().Records["dequeue"] != 2 {
		t.Errorf("cut %v footer %+v", r.Cut(), r.Footer())
	}
}
