// SPDX-License-Identifier: Apache-2.0

package capture

import (
	"bytes"
	"math/rand/v2"
	"testing"

	"github.com/txtrace/txtrace/internal/event"
)

// Records of any content survive packing, field by field.
func TestPack(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	var p packer
	for _, tab := range event.Tables() {
		l := layouts[tab.Kind]
		for _, n := range []int{1, 2, 3, 8, 9, 10, 17, 100, maxRaw / l.size} {
			m := make(words, maxRaw/8)
			buf := m.bytes()
			for i := range n {
				copy(buf[i*l.size:], rawRecord(r, tab.Kind, uint16(r.IntN(3)), uint32(i), uint64(1e9+i*1000)))
			}
			packed := p.pack(nil, m, n, l)
			if len(packed) > maxPacked(n*l.size, l.size) {
				t.Errorf("%s: %d bytes packed, bound %d", tab.Name, len(packed), maxPacked(n*l.size, l.size))
			}
			back := make(words, maxRaw/8)
			if !p.unpack(back, packed, n, l) {
				t.Fatalf("%s: %d records do not unpack", tab.Name, n)
			}
			for i := range n {
				for _, f := range tab.Fields {
					from, to := i*l.size+f.Offset, i*l.size+f.Offset+f.Size*f.Count
					if !bytes.Equal(buf[from:to], back.bytes()[from:to]) {
						t.Fatalf("%s: record %d of %d: %s is %x, was %x", tab.Name, i, n, f.Name, back.bytes()[from:to], buf[from:to])
					}
				}
			}
			if p.unpack(back, packed[:len(packed)-1], n, l) || p.unpack(back, append(packed, 0), n, l) {
				t.Errorf("%s: %d records unpack from another length", tab.Name, n)
			}
		}
	}
}

// A record of a bulk load takes 16 bytes of a file at most, all counted.
func TestSize(t *testing.T) {
	for _, l := range loads {
		recs := genBulkUDP(3, 100000, l.every)
		file := write(t, recs, nil, &Footer{})
		size := float64(len(file)) / float64(len(recs))
		t.Logf("%s: %.2f bytes per record", l.name, size)
		if size > 16 {
			t.Errorf("%s: %.2f bytes per record", l.name, size)
		}
	}
}

// Every byte of a record belongs to one column, every rule names fields there
// are, and a column depends only on columns before it.
func TestLayouts(t *testing.T) {
	addresses := 0
	for _, tab := range event.Tables() {
		l := layouts[tab.Kind]
		done := make([]bool, l.size)
		for _, c := range l.columns {
			for i := range c.n {
				if o := c.t[i]; !done[o.off] && (!o.prev || o.off != c.off) {
					t.Errorf("%s: the column at %d needs the one at %d, which comes later", tab.Name, c.off, o.off)
				}
			}
			for b := range 8 {
				if c.bits>>b&1 == 0 {
					continue
				}
				if done[c.off+b] {
					t.Errorf("%s: byte %d is in two columns", tab.Name, c.off+b)
				}
				done[c.off+b] = true
			}
		}
		for i, ok := range done {
			if !ok {
				t.Errorf("%s: byte %d is in no column", tab.Name, i)
			}
		}
		addresses += maxRaw / l.size * len(l.addrs)
	}
	if addresses >= maxAddrs {
		t.Errorf("a group may hold %d addresses, the list %d", addresses, maxAddrs)
	}
	for _, r := range rules {
		names := append([]string{r.field}, r.terms...)
		for i, name := range names {
			if name[0] == '<' {
				names[i] = name[1:]
			}
		}
		for _, tab := range event.Tables() {
			if r.kind != tab.Name {
				continue
			}
			for _, name := range names {
				found := false
				for _, f := range tab.Fields {
					found = found || f.Name == name && f.Size == 4 && f.Count == 1
				}
				if !found {
					t.Errorf("%s has no field %s of 4 bytes", tab.Name, name)
				}
			}
		}
	}
}
