// SPDX-License-Identifier: Apache-2.0

package capture

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"
)

// A file that an earlier build wrote is read as what was written, bit for bit.
// Its header holds the checksum of its records. When this fails, files that
// people have are no longer read, or wrongly: that is a new codec or a new
// Version. UPDATE=1 writes the file anew.
func TestGolden(t *testing.T) {
	path := filepath.Join("testdata", "golden.txtrace")
	if os.Getenv("UPDATE") != "" {
		if err := os.WriteFile(path, golden(t), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	file, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	d := readAll(t, file)
	if d.r.Cut() != nil || d.r.Stats().Corrupt > 0 {
		t.Fatalf("cut %v, %+v", d.r.Cut(), d.r.Stats())
	}
	if got, want := goldenSum(d.recs), d.r.Header().Tool; got != want {
		t.Errorf("records: %s, written were: %s", got, want)
	}

	codecs, kinds := map[uint8]int{}, map[byte]int{}
	for b := file[headLen(file):]; bytes.HasPrefix(b, []byte(blockMagic)); {
		end := headLead + int(le.Uint16(b[len(blockMagic):]))
		h, ok := parseBlockHead(b[headLead:end])
		if !ok {
			t.Fatal("a block header cannot be read")
		}
		codecs[h.codec]++
		kinds[byte(h.kind)]++
		b = b[end+sumSize+h.stored:]
	}
	if len(codecs) != 3 || len(kinds) != 1+len(allKinds()) {
		t.Errorf("codecs %v, kinds %v: some do not occur", codecs, kinds)
	}
}

// headLen is the length of a file's header.
func headLen(file []byte) int { return prefixSize + int(le.Uint32(file[prefixSize-leadSize+4:])) }

func goldenSum(recs [][]byte) string {
	return fmt.Sprintf("%d, checksum %08x", len(recs), sum(bytes.Join(recs, nil)))
}

// golden is a file with groups of all kinds, of a full queue, and of single
// packets.
func golden(t *testing.T) []byte {
	full, slow := genBulkUDP(1, 900, loads[3].every), genBulkUDP(2, 300, loads[0].every)
	rare := seqRecords(len(allKinds()))
	at := func(b []byte) uint64 { return le.Uint64(b[offTime:]) }
	next := map[uint16]uint32{}
	var recs [][]byte
	now := uint64(0)
	for _, part := range [][][]byte{rare, full, slow} {
		first := at(part[0])
		for _, b := range part {
			first = min(first, at(b))
		}
		from := now
		for _, b := range part {
			le.PutUint64(b[offTime:], at(b)-first+from)
			le.PutUint32(b[offSeq:], next[cpuOf(b)])
			next[cpuOf(b)]++
			now = max(now, at(b))
		}
		recs = append(recs, part...)
	}
	readable := readAll(t, write(t, recs, nil, &Footer{})).recs // in the reader's order
	var out bytes.Buffer
	w, err := NewWriter(&out, &Header{Tool: goldenSum(readable)})
	if err != nil {
		t.Fatal(err)
	}
	for i, b := range recs {
		if slices.Contains([]int{len(rare), len(rare) + len(full)}, i) {
			if err := w.Flush(); err != nil {
				t.Fatal(err)
			}
		}
		if err := w.Append(b); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(&Footer{}); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}
