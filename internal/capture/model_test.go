// SPDX-License-Identifier: Apache-2.0

package capture

import (
	"bytes"
	"fmt"
	"io"
	"math/rand/v2"
	"slices"

	"github.com/txtrace/txtrace/internal/event"
)

// failer is a test of any make.
type failer interface {
	Helper()
	Fatal(...any)
	Fatalf(string, ...any)
}

// allKinds are the record kinds of this build.
func allKinds() []event.Kind {
	var ks []event.Kind
	for k := event.KindRun; k.Valid(); k++ {
		ks = append(ks, k)
	}
	return ks
}

// rawRecord is a record of kind k with a sound header and anything else: few
// values, many values, or noise.
func rawRecord(r *rand.Rand, k event.Kind, cpu uint16, seq uint32, ns uint64) []byte {
	b := make([]byte, k.Size())
	style := r.IntN(3)
	for i := range b {
		switch style {
		case 0:
			b[i] = byte(r.IntN(2))
		case 1:
			b[i] = byte(1 << r.IntN(8))
		default:
			b[i] = byte(r.IntN(256))
		}
	}
	b[0] = byte(k)
	le.PutUint16(b[offCPU:], cpu)
	le.PutUint32(b[offSeq:], seq)
	le.PutUint64(b[offTime:], ns)
	return b
}

// bytesOf is the record as it was submitted.
func bytesOf(t failer, r event.Any) []byte {
	t.Helper()
	b := recordBytes(r)
	if b == nil {
		t.Fatalf("delivered a %T", r)
	}
	return bytes.Clone(b)
}

// delivered is what a reader gave.
type delivered struct {
	r    *Reader
	recs [][]byte
	gaps []Gap
}

// readAll reads a capture to its end. Only a broken input is an error.
func readAll(t failer, file []byte) delivered {
	t.Helper()
	r, err := Open(bytes.NewReader(file))
	if err != nil {
		t.Fatal(err)
	}
	d, err := drain(t, r)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

func drain(t failer, r *Reader) (delivered, error) {
	t.Helper()
	d := delivered{r: r}
	for {
		it, err := r.Next()
		switch {
		case err == io.EOF:
			if again, err := r.Next(); err != io.EOF {
				t.Fatalf("after the end: %+v, %v", again, err)
			}
			return d, nil
		case err != nil:
			return d, err
		case (it.Gap == nil) == (it.Record == nil):
			t.Fatalf("item %+v", it)
		case it.Gap != nil:
			d.gaps = append(d.gaps, *it.Gap)
		default:
			d.recs = append(d.recs, bytesOf(t, it.Record))
		}
	}
}

func cpuOf(b []byte) uint16  { return le.Uint16(b[offCPU:]) }
func seqOf(b []byte) uint32  { return le.Uint32(b[offSeq:]) }
func timeOf(b []byte) uint64 { return le.Uint64(b[offTime:]) }

// sameRecords compares without regard to order.
func sameRecords(got, want [][]byte) error {
	g, w := slices.Clone(got), slices.Clone(want)
	slices.SortFunc(g, bytes.Compare)
	slices.SortFunc(w, bytes.Compare)
	if !slices.EqualFunc(g, w, bytes.Equal) {
		return fmt.Errorf("%d records delivered, %d written, or they differ", len(got), len(want))
	}
	return nil
}

// inOrder checks what Reader promises: by sequence number on each CPU, by time
// and CPU across them.
func inOrder(recs [][]byte) error {
	next := map[uint16]uint32{}
	key := map[uint16]uint64{}
	var last uint64
	var lastCPU uint16
	for i, b := range recs {
		cpu, seq := cpuOf(b), seqOf(b)
		if n, ok := next[cpu]; ok && int32(seq-n) < 0 {
			return fmt.Errorf("record %d: CPU %d seq %d after %d", i, cpu, seq, n-1)
		}
		next[cpu] = seq + 1
		key[cpu] = max(key[cpu], timeOf(b))
		if k := key[cpu]; k < last || k == last && cpu < lastCPU {
			return fmt.Errorf("record %d: time %d of CPU %d after %d of CPU %d", i, k, cpu, last, lastCPU)
		}
		last, lastCPU = key[cpu], cpu
	}
	return nil
}

// write makes a capture of recs in this order, closing the open blocks before
// the records that cuts names.
func write(t failer, recs [][]byte, cuts map[int]bool, f *Footer) []byte {
	t.Helper()
	var out bytes.Buffer
	w, err := NewWriter(&out, &Header{Tool: "test", Clock: Clock{Monotonic: 1}})
	if err != nil {
		t.Fatal(err)
	}
	for i, b := range recs {
		if cuts[i] {
			if err := w.Flush(); err != nil {
				t.Fatal(err)
			}
		}
		if err := w.Append(b); err != nil {
			t.Fatal(err)
		}
	}
	if f == nil {
		err = w.Flush()
	} else {
		err = w.Close(f)
	}
	if err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

// reopen writes recs and opens the result.
func reopen(t failer, recs [][]byte, cuts ...map[int]bool) *Reader {
	t.Helper()
	var c map[int]bool
	if len(cuts) > 0 {
		c = cuts[0]
	}
	r, err := Open(bytes.NewReader(write(t, recs, c, nil)))
	if err != nil {
		t.Fatal(err)
	}
	return r
}
