// SPDX-License-Identifier: Apache-2.0

package model

import (
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// gso is a GSO skb of n full segments of an Ethernet link.
func gso(n int) Packet {
	return Packet{Len: 66 + uint32(n)*1448, GSOSize: 1448, Header: 66}
}

func TestValidate(t *testing.T) {
	short := gso(3)
	short.Len -= 448
	short.Queue = 5
	cases := []struct {
		name string
		p    Packet
		tso  bool
		want []Packet
	}{
		{"no GSO", Packet{Len: 1514}, false, []Packet{{Len: 1514}}},
		{"TSO", gso(45), true, []Packet{gso(45)}},
		{"GSO", short, false, []Packet{{Len: 1514, Queue: 5}, {Len: 1514, Queue: 5}, {Len: 1066, Queue: 5}}},
		{"GSO of less than a segment", Packet{Len: 100, GSOSize: 1448, Header: 66}, false, []Packet{{Len: 100}}},
		{"headers only", Packet{Len: 66, GSOSize: 1448, Header: 66}, false, []Packet{{Len: 66}}},
		{"less than headers", Packet{Len: 60, GSOSize: 1448, Header: 66}, false, []Packet{{Len: 66}}},
		{"dropped", Packet{Len: 1514, Drop: true}, true, nil},
		{"dropped GSO", Packet{Len: 9000, GSOSize: 1448, Drop: true}, false, nil},
	}
	for _, c := range cases {
		if got := Validate(nil, c.p, c.tso); !slices.Equal(got, c.want) {
			t.Errorf("%s: %+v, want %+v", c.name, got, c.want)
		}
	}
	if p := gso(45); p.Segments() != 45 || p.WireLen() != 45*1514 || p.Len != 65226 {
		t.Errorf("%+v: %d segments, %d bytes on the wire", p, p.Segments(), p.WireLen())
	}
}

// What is not dropped is conserved: as many frames and bytes as were counted
// before, in order, the headers repeated. A list that grew is not legal.
func TestValidateConserves(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		tso := rapid.Bool().Draw(t, "tso")
		var list []Packet
		var segs, frames int
		var wire, kept uint64
		for i := range rapid.IntRange(0, 12).Draw(t, "n") {
			p := Packet{
				Len:     rapid.Uint32Range(66, 65000).Draw(t, "len"),
				Queue:   uint16(i),
				GSOSize: rapid.SampledFrom([]uint16{0, 500, 1448}).Draw(t, "size"),
				Header:  66,
				Drop:    rapid.IntRange(0, 5).Draw(t, "drop") == 0,
			}
			list = append(list, p)
			segs += p.Segments()
			wire += p.WireLen()
			switch {
			case p.Drop:
			case tso:
				frames++
				kept += uint64(p.Len)
			default:
				frames += p.Segments()
				kept += p.WireLen()
			}
		}
		got := ValidateList(nil, list, tso)
		var bytes uint64
		for _, p := range got {
			bytes += uint64(p.Len)
		}
		if len(got) != frames || bytes != kept {
			t.Fatalf("%d frames, %d bytes; want %d, %d", len(got), bytes, frames, kept)
		}
		if !slices.IsSortedFunc(got, func(a, b Packet) int { return int(a.Queue) - int(b.Queue) }) {
			t.Fatalf("out of order: %+v", got)
		}
		if !LegalValidated(segs, wire, len(got), bytes) {
			t.Fatalf("%d of %d frames, %d of %d bytes are not legal", len(got), segs, bytes, wire)
		}
		if LegalValidated(segs, wire, segs+1, bytes) || LegalValidated(segs, wire, len(got), wire+1) {
			t.Fatal("a frame, or a byte, from nowhere is legal")
		}
	})
}

// V6 validates at the dequeue: a drop ends the batch, or with the head the run.
// Since then the batch goes on, and one without packets lets the run go on.
func TestValidateVariants(t *testing.T) {
	packets := []Packet{{Len: 60}, {Len: 60}, {Len: 60, Drop: true}, {Len: 60}, {Len: 60}}
	run := func(validate Variant, packets []Packet) (sent []int, left int) {
		d := fresh(9000)
		d.Validate = validate
		next := func() (p Packet, ok bool) {
			if len(packets) == 0 {
				return Packet{}, false
			}
			p, packets = packets[0], packets[1:]
			return p, true
		}
		Quota{Charge: QuotaAfter, Weight: 64}.Run(func(int) Restart {
			var taken []Packet
			pull := func() (Packet, bool) {
				p, ok := next()
				if ok {
					taken = append(taken, p)
				}
				return p, ok
			}
			head, ok := pull()
			if !ok {
				return Restart{}
			}
			b, _, _ := d.Take(head, pull)
			if b.N == 0 {
				return Restart{} // dequeue_skb gives NULL
			}
			sent = append(sent, len(ValidateList(nil, taken[:b.N], true)))
			return Restart{Packets: b.N, Again: true}
		})
		return sent, len(packets)
	}
	for _, c := range []struct {
		validate Variant
		packets  []Packet
		sent     []int
		left     int
	}{
		{ValidateLocked, packets, []int{2, 2}, 0},
		{ValidateUnlocked, packets, []int{4}, 0},
		{ValidateLocked, packets[2:], nil, 2},
		{ValidateUnlocked, packets[2:], []int{2}, 0},
		{ValidateUnlocked, []Packet{{Len: 60, Drop: true}}, []int{0}, 0},
	} {
		if sent, left := run(c.validate, c.packets); !slices.Equal(sent, c.sent) || left != c.left {
			t.Errorf("%s of %d: sent %v, %d left; want %v, %d", c.validate, len(c.packets), sent, left, c.sent, c.left)
		}
	}
}
