// SPDX-License-Identifier: Apache-2.0

package capture

import (
	"bytes"
	"encoding/json"
	"io"
	"reflect"
	"testing"

	"github.com/klauspost/compress/s2"
	"github.com/txtrace/txtrace/internal/event"
)

// FuzzBlocks reads blocks with sound headers and any data in any order, which
// no writer would make: no panic, an end, records of known kinds only, each
// CPU in order, memory bound, and the same twice.
func FuzzBlocks(f *testing.F) {
	head := write(f, nil, nil, nil)
	var p packer
	var z codecs
	m := make(words, maxRaw/8)
	n := copy(m.bytes(), seqRecords(3)[2]) / 8
	f.Add([]byte{byte(event.KindDirect), 1, 0, 0, byte(n + 14), 'x'})
	packed := p.pack(nil, m, 1, layouts[event.KindDirect])
	f.Add(append([]byte{byte(event.KindDirect), 1, 0, 0, byte(len(packed))}, packed...))
	f.Fuzz(func(t *testing.T, in []byte) {
		file := bytes.Clone(head)
		for len(in) >= 5 {
			h := blockHead{kind: event.Kind(in[0] % 12), count: 1 + int(in[1]), group: uint32(in[2]), minTime: uint64(in[3])}
			h.size = 48
			if h.kind.Valid() {
				h.size = h.kind.Size()
			} else if h.kind == kindAddrs {
				h.size = 8
			}
			h.codec = uint8(h.group % 4)
			h.raw = h.count * h.size
			data := in[5:][:min(int(in[4]), len(in)-5)]
			in = in[5+len(data):]
			switch h.codec {
			case codecS2:
				data = s2.Encode(nil, data)
			case codecZstd:
				data = z.zstd(data)
			}
			file = appendBlock(file, h, data)
		}
		a, b := readAll(t, file), readAll(t, file)
		if len(a.recs) != len(b.recs) || len(a.gaps) != len(b.gaps) {
			t.Fatal("two readings differ")
		}
		next := map[uint16]uint32{}
		for i, r := range a.recs {
			if !event.Kind(r[0]).Valid() || !bytes.Equal(r, b.recs[i]) {
				t.Fatalf("record %d: kind %d", i, r[0])
			}
			if n, ok := next[cpuOf(r)]; ok && int32(seqOf(r)-n) < 0 {
				t.Fatalf("CPU %d: seq %d after %d", cpuOf(r), seqOf(r), n-1)
			}
			next[cpuOf(r)] = seqOf(r) + 1
		}
		if n := len(a.r.live) + len(a.r.free); n > 2*lookahead+2 {
			t.Fatalf("%d groups in memory", n)
		}
	})
}

// FuzzOpen opens any bytes.
func FuzzOpen(f *testing.F) {
	f.Add(write(f, seqRecords(3), nil, &Footer{}))
	f.Add([]byte("PERFILE2"))
	f.Add([]byte(fileMagic))
	f.Fuzz(func(t *testing.T, file []byte) {
		r, err := Open(bytes.NewReader(file))
		if err != nil {
			if err == io.EOF || len(err.Error()) < 10 {
				t.Fatal(err)
			}
			return
		}
		if _, err := drain(t, r); err != nil {
			t.Fatal(err)
		}
	})
}

// FuzzExpand expands any bytes with every codec, within the bound.
func FuzzExpand(f *testing.F) {
	var c codecs
	for _, fast := range []bool{false, true} {
		codec, data := c.squeeze(make([]byte, 1000), fast)
		f.Add(codec, bytes.Clone(data))
	}
	f.Fuzz(func(t *testing.T, codec uint8, data []byte) {
		if out, ok := c.expand(codec, data, 5000); ok && len(out) > 5000 {
			t.Fatalf("codec %d gave %d bytes", codec, len(out))
		}
	})
}

// FuzzUnpack unpacks any bytes as records of every kind.
func FuzzUnpack(f *testing.F) {
	f.Add([]byte{1, 2, 3}, uint16(4))
	f.Fuzz(func(t *testing.T, b []byte, n uint16) {
		var p packer
		for _, k := range append(allKinds(), kindAddrs) {
			l := layouts[k]
			count := 1 + int(n)%(maxRaw/l.size)
			p.unpack(make(words, maxRaw/8), b, count, l)
		}
	})
}

// FuzzLacks looks through any bytes: it ends, and what decodes and lacks
// nothing lacks nothing either when it is encoded again.
func FuzzLacks(f *testing.F) {
	is := reflect.TypeFor[Header]()
	js, err := json.Marshal(&Header{Tables: event.Tables()[:1], Devices: []Device{{}}, Counters: []Counters{{Qdiscs: []QdiscCounters{{}}}}})
	if err != nil {
		f.Fatal(err)
	}
	f.Add(js)
	f.Add([]byte(` { "to\u006fl" : [ "]\\\"" , { } , -1e5 ] } `))
	f.Add([]byte(`5`))
	f.Fuzz(func(t *testing.T, doc []byte) {
		var h Header
		if lacks(doc, is) != "" || json.Unmarshal(doc, &h) != nil {
			return
		}
		again, err := json.Marshal(&h)
		if err != nil {
			t.Fatal(err)
		}
		if name := lacks(again, is); name != "" {
			t.Fatalf("%s: %s", name, again)
		}
	})
}
