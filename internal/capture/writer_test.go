// SPDX-License-Identifier: Apache-2.0

package capture

import (
	"bytes"
	"errors"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/txtrace/txtrace/internal/event"
)

var errFull = errors.New("no space left")

// sink is a disk with room for some bytes.
type sink struct {
	bytes.Buffer
	full   bool // there is a bound
	room   int
	writes int
}

func (s *sink) Write(p []byte) (int, error) {
	s.writes++
	if s.full && len(p) > s.room {
		n, _ := s.Buffer.Write(p[:s.room])
		s.room = 0
		return n, errFull
	}
	s.room -= len(p)
	return s.Buffer.Write(p)
}

func seqRecords(n int) [][]byte {
	r := rand.New(rand.NewPCG(3, 3))
	ks := allKinds()
	var recs [][]byte
	for i := range n {
		recs = append(recs, rawRecord(r, ks[i%len(ks)], 0, uint32(i), uint64(1000+i)))
	}
	return recs
}

// A full disk tears nothing, wherever it fills up: what was written before is
// read, what comes after there is room again follows, and what was dropped
// between is counted and is the only gap.
func TestDiskFull(t *testing.T) {
	recs := seqRecords(60)
	body := len(write(t, recs, map[int]bool{20: true, 40: true}, nil)) - len(write(t, nil, nil, nil))
	for room := 0; room <= body; room += 13 {
		var disk sink
		w, err := NewWriter(&disk, &Header{})
		if err != nil {
			t.Fatal(err)
		}
		disk.full, disk.room = true, room
		flush := func() {
			err := w.Flush()
			if err != nil && !errors.Is(err, errFull) || !errors.Is(w.Err(), err) && w.Err() != err {
				t.Fatal(err, w.Err())
			}
		}
		for i, b := range recs {
			if i == 20 || i == 40 {
				flush()
			}
			if err := w.Append(b); err != nil {
				t.Fatal(err)
			}
		}
		flush()
		s := w.Stats()
		cut := readAll(t, disk.Bytes())
		if len(cut.recs) > len(recs) || cut.r.Cut() == nil {
			t.Fatalf("room %d: %d records, cut %v", room, len(cut.recs), cut.r.Cut())
		}

		disk.full = false
		if err := w.Close(&Footer{Ledger: []LedgerRow{{LastSeq: 59, Submitted: 60}}}); err != nil {
			t.Fatal(err)
		}
		d := readAll(t, disk.Bytes())
		if d.r.Cut() != nil || d.r.Stats().Corrupt > 0 {
			t.Fatalf("room %d: torn: %v", room, d.r.Cut())
		}
		if got := int64(len(recs) - len(d.recs)); got != s.Dropped || w.Err() != nil {
			t.Fatalf("room %d: %d records missing, %d counted, error %v", room, got, s.Dropped, w.Err())
		}
		if (s.Dropped > 0) != (len(d.gaps) == 1) {
			t.Fatalf("room %d: dropped %d, gaps %+v", room, s.Dropped, d.gaps)
		}
		var kept int64
		for _, k := range w.Stats().Kinds {
			kept += k.Records
		}
		if kept != int64(len(d.recs)) || w.Stats().Pending != 0 || w.Stats().Written != int64(disk.Len()) {
			t.Fatalf("room %d: %+v, %d bytes", room, w.Stats(), disk.Len())
		}
	}
}

// Close may be tried again, and never writes two footers.
func TestCloseAgain(t *testing.T) {
	var disk sink
	w, err := NewWriter(&disk, &Header{})
	if err != nil {
		t.Fatal(err)
	}
	disk.full, disk.room = true, 10
	for range 3 {
		if err := w.Close(&Footer{}); !errors.Is(err, errFull) {
			t.Fatal(err)
		}
		disk.room = 10
	}
	if err := w.Append(seqRecords(1)[0]); !errors.Is(err, ErrRecord) {
		t.Error("a closed writer took a record", err)
	}
	disk.full = false
	for range 2 {
		if err := w.Close(&Footer{}); err != nil {
			t.Fatal(err)
		}
	}
	if d := readAll(t, disk.Bytes()); d.r.Footer() == nil || d.r.Cut() != nil {
		t.Errorf("footer %v, stats %+v", d.r.Footer(), d.r.Stats())
	}
}

// What is no record is refused and changes nothing.
func TestAppendRefuses(t *testing.T) {
	var out bytes.Buffer
	w, err := NewWriter(&out, &Header{})
	if err != nil {
		t.Fatal(err)
	}
	run := event.Append(nil, &event.Run{})
	for _, b := range [][]byte{nil, {}, {1}, run[:len(run)-1], append(bytes.Clone(run), 0), {0, 0}, make([]byte, 64), {200, 1, 2}} {
		if err := w.Append(b); !errors.Is(err, ErrRecord) {
			t.Errorf("%d bytes: %v", len(b), err)
		}
	}
	if err := w.Append(run); err != nil {
		t.Error(err)
	}
	if err := w.Append(run[:80]); !errors.Is(err, ErrRecord) {
		t.Error(err)
	}
	if err := w.Close(&Footer{}); err != nil || w.Stats().Refused != 9 {
		t.Error(err, w.Stats())
	}
	if d := readAll(t, out.Bytes()); len(d.recs) != 1 {
		t.Errorf("%d records", len(d.recs))
	}
}

// Blocks close by size, by the records' own time and by Tick, a group with one
// Write.
func TestBlocksClose(t *testing.T) {
	var out sink
	w, err := NewWriter(&out, &Header{})
	if err != nil {
		t.Fatal(err)
	}
	seq := uint32(0)
	add := func(ns uint64) int {
		t.Helper()
		before := out.writes
		if err := Put(w, &event.Run{Header: event.Header{Seq: seq, Time: ns}}); err != nil {
			t.Fatal(err)
		}
		seq++
		return out.writes - before
	}
	for i := range maxRaw / event.KindRun.Size() {
		if add(1000) != 0 {
			t.Fatalf("wrote after %d records", i)
		}
	}
	if add(1000) != 1 {
		t.Error("a full block did not close")
	}
	if add(1000+uint64(MaxAge)-1) != 0 || add(1000+uint64(MaxAge)) != 1 {
		t.Error("a block did not close by its records' time")
	}
	now := time.Unix(1, 0)
	for _, step := range []struct {
		after time.Duration
		want  int
	}{{0, 0}, {MaxAge - 1, 0}, {1, 1}, {MaxAge, 0}} {
		now = now.Add(step.after)
		before := out.writes
		if err := w.Tick(now); err != nil {
			t.Fatal(err)
		}
		if out.writes-before != step.want {
			t.Errorf("at %v: %d writes, want %d", now, out.writes-before, step.want)
		}
	}
	if s := w.Stats(); s.Kinds[0].Records != int64(seq) || s.Kinds[0].Blocks != 3 {
		t.Errorf("%+v", s)
	}
}

// A header that this build could not read back is not written.
func TestNewWriterRefuses(t *testing.T) {
	ts := event.Tables()
	ts[2].Size += 8
	if _, err := NewWriter(&sink{}, &Header{Tables: ts}); !errors.Is(err, ErrTables) {
		t.Error(err)
	}
	if _, err := NewWriter(&sink{full: true, room: 5}, &Header{}); !errors.Is(err, errFull) {
		t.Error(err)
	}
}
