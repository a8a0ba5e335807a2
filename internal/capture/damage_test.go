// SPDX-License-Identifier: Apache-2.0

package capture

import (
	"bufio"
	"bytes"
	"maps"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/txtrace/txtrace/internal/event"
)

// small is a capture of all kinds on three CPUs, in three groups.
func small(t *testing.T) (recs [][]byte, file []byte, head int) {
	r := rand.New(rand.NewPCG(5, 5))
	var seq [3]uint32
	ks := allKinds()
	for i := range 45 {
		cpu := r.IntN(3)
		recs = append(recs, rawRecord(r, ks[i%len(ks)], uint16(cpu), seq[cpu], uint64(1000+i*10)))
		seq[cpu]++
	}
	f := &Footer{}
	for cpu, s := range seq {
		f.Ledger = append(f.Ledger, LedgerRow{CPU: cpu, LastSeq: s - 1, Submitted: uint64(s)})
	}
	file = write(t, recs, map[int]bool{15: true, 30: true}, f)
	return recs, file, len(write(t, nil, nil, nil))
}

// readBehind is readAll of a file whose first head bytes are its header.
// Opening it once takes longer than reading a small file.
func readBehind(t *testing.T, file []byte, head int) func(end int) delivered {
	opened, err := Open(bytes.NewReader(file))
	if err != nil {
		t.Fatal(err)
	}
	return func(end int) delivered {
		r := &Reader{in: bufio.NewReaderSize(bytes.NewReader(file[head:end]), maxRaw), header: opened.header, told: opened.told, off: int64(head)}
		d, err := drain(t, r)
		if err != nil {
			t.Fatal(err)
		}
		return d
	}
}

// within checks that what was delivered are records that were written, each
// once and in order.
func within(t *testing.T, got [][]byte, all map[string]int) {
	t.Helper()
	seen := map[string]bool{}
	for _, b := range got {
		if _, ok := all[string(b)]; !ok || seen[string(b)] {
			t.Fatalf("a record that was not written, or not twice: %x", b)
		}
		seen[string(b)] = true
	}
	if err := inOrder(got); err != nil {
		t.Fatal(err)
	}
}

func indexOf(recs [][]byte) map[string]int {
	m := map[string]int{}
	for i, b := range recs {
		m[string(b)] = i
	}
	return m
}

// A file cut anywhere gives what was whole before the cut, says so, and has no
// footer; more of a file never gives less.
func TestCutAnywhere(t *testing.T) {
	recs, file, head := small(t)
	all := indexOf(recs)
	last := 0
	why := map[string]bool{}
	read := readBehind(t, file, head)
	for n := head; n < len(file); n++ {
		d := read(n)
		within(t, d.recs, all)
		c := d.r.Cut()
		if c == nil || c.Offset > int64(n) || c.Reason == "" || d.r.Footer() != nil {
			t.Fatalf("cut at %d: %+v, footer %v", n, c, d.r.Footer())
		}
		if len(d.recs) < last || c.Offset == int64(n) && n > head && c.Reason != "it ends without a footer" {
			t.Fatalf("cut at %d: %d records, before %d: %s", n, len(d.recs), last, c.Reason)
		}
		last = len(d.recs)
		why[c.Reason] = true
	}
	want := []string{"it ends inside a block", "it ends inside a block header", "it ends inside its footer", "it ends without a footer"}
	if got := slices.Sorted(maps.Keys(why)); !slices.Equal(got, want) {
		t.Errorf("reasons %q, want %q", got, want)
	}
	if d := readAll(t, file); last != len(recs) || d.r.Cut() != nil || len(d.recs) != len(recs) {
		t.Errorf("%d records before the footer, %d with it, of %d", last, len(d.recs), len(recs))
	}
}

// A changed byte anywhere takes records away and never makes one; what is
// missing is a gap, a cut, or both.
func TestFlipAnywhere(t *testing.T) {
	recs, file, head := small(t)
	all := indexOf(recs)
	corrupt, why := 0, map[string]bool{}
	read := readBehind(t, file, head)
	for i := head; i < len(file); i++ {
		bit := byte(1) << (i % 8)
		file[i] ^= bit
		d := read(len(file))
		file[i] ^= bit
		within(t, d.recs, all)
		s := d.r.Stats()
		var lost uint64
		for _, g := range d.gaps {
			lost += uint64(g.Lost)
		}
		if lost != s.Lost || len(d.gaps) != int(s.Gaps) {
			t.Fatalf("byte %d: %+v against %d gaps with %d", i, s, len(d.gaps), lost)
		}
		switch {
		case d.r.Cut() != nil:
			why[d.r.Cut().Reason] = true
		case s.Corrupt > 0:
			corrupt++
			if int(lost)+len(d.recs) != len(recs) {
				t.Fatalf("byte %d: %d records and %d lost of %d", i, len(d.recs), lost, len(recs))
			}
		default:
			t.Fatalf("byte %d of %d went unnoticed", i, len(file))
		}
	}
	want := []string{"a block header is damaged", "it ends inside a block header", "the footer is damaged", "what follows is no block"}
	if got := slices.Sorted(maps.Keys(why)); corrupt == 0 || !slices.Equal(got, want) {
		t.Errorf("%d corrupt, reasons %q, want %q", corrupt, got, want)
	}
}

// A file that goes on after its end is cut there.
func TestTrailing(t *testing.T) {
	recs, file, _ := small(t)
	for _, more := range [][]byte{file, {0}, []byte(endMarker), []byte(blockMagic)} {
		d := readAll(t, append(bytes.Clone(file), more...))
		c := d.r.Cut()
		if len(d.recs) != len(recs) || c == nil || c.Offset != int64(len(file)) || d.r.Footer() != nil {
			t.Errorf("%d bytes more: %d records, %+v, cut %v", len(more), len(d.recs), d.r.Stats(), c)
		}
	}
}

// A footer that does not tell all of it is none.
func TestFooterLacks(t *testing.T) {
	for _, members := range []map[string]any{{}, {"clock": Clock{}, "counters": nil, "ledger": []any{map[string]any{}}}} {
		b, err := appendSheet([]byte(footMagic), "test", members)
		if err != nil {
			t.Fatal(err)
		}
		d := readAll(t, append(write(t, seqRecords(5), nil, nil), append(b, endMarker...)...))
		if c := d.r.Cut(); len(d.recs) != 5 || c == nil || c.Reason != "the footer is damaged" {
			t.Errorf("%v: %d records, cut %+v", members, len(d.recs), c)
		}
	}
}

// Blocks of a kind whose layout the header does not tell are skipped and
// counted.
func TestUntoldKind(t *testing.T) {
	recs := seqRecords(40)
	file := write(t, recs, nil, &Footer{})
	h := &Header{Tables: slices.DeleteFunc(event.Tables(), func(t event.Table) bool { return t.Kind == event.KindDirect })}
	var head bytes.Buffer
	if _, err := NewWriter(&head, h); err != nil {
		t.Fatal(err)
	}
	d := readAll(t, append(head.Bytes(), file[len(write(t, nil, nil, nil)):]...))
	for _, b := range d.recs {
		if event.Kind(b[0]) == event.KindDirect {
			t.Fatal("a record of an untold kind")
		}
	}
	if n := d.r.Stats().Unknown; n == 0 || int(n)+len(d.recs) != len(recs) {
		t.Errorf("%d unknown, %d records of %d", n, len(d.recs), len(recs))
	}
}

// appendBlock adds a hand-made block to a file.
func appendBlock(file []byte, h blockHead, data []byte) []byte {
	h.stored, h.sum = len(data), sum(data)
	return append(appendBlockHead(file, &h), data...)
}

// Records of a kind that this build does not know are skipped and counted, the
// others of the group are not.
func TestUnknownKind(t *testing.T) {
	r := rand.New(rand.NewPCG(6, 6))
	file := write(t, nil, nil, nil)
	var p packer
	m := make(words, 1024)
	for i := range 5 {
		copy(m.bytes()[i*64:], rawRecord(r, event.KindResume, 0, uint32(i), uint64(100+i)))
	}
	for i := range 5 { // the list has only 0
		m[(i*64+40)/8], m[(i*64+48)/8] = 0, 0
	}
	known := blockHead{kind: event.KindResume, size: 64, count: 5, raw: 320, minTime: 100, maxTime: 104}
	file = appendBlock(file, blockHead{kind: 201, codec: 9, size: 48, count: 7, raw: 336, minTime: 90, maxTime: 200}, []byte("whatever"))
	file = appendBlock(file, known, p.pack(nil, m, 5, layouts[event.KindResume]))
	d := readAll(t, file)
	s := d.r.Stats()
	if len(d.recs) != 5 || s.Unknown != 7 || s.Corrupt != 0 || s.Groups != 1 {
		t.Errorf("%d records, %+v", len(d.recs), s)
	}
	if k := s.Kinds[1]; k.Kind != 201 || k.Records != 7 || k.Blocks != 1 {
		t.Errorf("%+v", s.Kinds)
	}
}

// A block whose header is sound, and whose data has the right checksum, still
// gives nothing when the data is not what the header says.
func TestLyingBlocks(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 7))
	empty := write(t, nil, nil, nil)
	var p packer
	m := make(words, 1024)
	for i := range 5 {
		copy(m.bytes()[i*64:], rawRecord(r, event.KindResume, 0, uint32(i), uint64(100+i)))
		m[(i*64+40)/8], m[(i*64+48)/8] = 0, 0
	}
	good := blockHead{kind: event.KindResume, size: 64, count: 5, raw: 320}
	packed := p.pack(nil, m, 5, layouts[event.KindResume])
	m[40/8] = 1
	beyond := p.pack(nil, m, 5, layouts[event.KindResume])
	m[40/8], m[0] = 0, m[0]&^0xff|uint64(event.KindRun)
	kind := p.pack(nil, m, 5, layouts[event.KindResume])
	for _, c := range []struct {
		name string
		head func(h *blockHead)
		data []byte
		cut  bool
	}{
		{"codec", func(h *blockHead) { h.codec = 7 }, packed, false},
		{"not s2", func(h *blockHead) { h.codec = codecS2 }, packed, false},
		{"address beyond the list", nil, beyond, false},
		{"another kind inside", nil, kind, false},
		{"short", nil, packed[:40], false},
		{"plane too many", nil, append(bytes.Clone(packed), 1, 2, 3, 4), false},
		{"fewer records", func(h *blockHead) { h.count, h.raw = 4, 256 }, packed, false},
		{"size", func(h *blockHead) { h.size, h.raw = 72, 360 }, packed, true},
		{"no such size", func(h *blockHead) { h.size = 71 }, packed, true},
		{"stored", nil, make([]byte, 320+17), true},
		{"no records", func(h *blockHead) { h.count, h.raw = 0, 0 }, nil, true},
		{"too large", func(h *blockHead) { h.kind, h.size, h.count, h.raw = 201, 512, 1<<20, 512<<20 }, nil, true},
		{"overflow", func(h *blockHead) { h.kind, h.size, h.count, h.raw = 201, 1<<15, 1<<30, 0 }, nil, true},
		{"list without 0", func(h *blockHead) { *h = blockHead{size: 8, count: 1, raw: 8} }, []byte{1, 0, 0, 0, 0, 0, 0, 0, 0}, false},
	} {
		h := good
		if c.head != nil {
			c.head(&h)
		}
		d := readAll(t, appendBlock(bytes.Clone(empty), h, c.data))
		damaged := d.r.Stats().Corrupt == 1
		if c.cut {
			damaged = d.r.Cut().Reason == "a block header contradicts itself"
		}
		if len(d.recs) > 0 || !damaged {
			t.Errorf("%s: %d records, %+v, %v", c.name, len(d.recs), d.r.Stats(), d.r.Cut())
		}
	}
	if d := readAll(t, appendBlock(bytes.Clone(empty), good, packed)); len(d.recs) != 5 {
		t.Errorf("%d records of the good block", len(d.recs))
	}
}
