// SPDX-License-Identifier: Apache-2.0

package sim

import "github.com/txtrace/txtrace/internal/model"

// packet is a skb.
type packet struct {
	model.Packet
	addr     uint64
	from     *sender // whose memory it counts to; nil for a load's
	truesize uint32  // what freeing it gives back
	retry    bool    // it was handed over before: it is not validated again
}

// gso makes a packet of length bytes one of that many segments.
func gso(length uint32, segments int, header uint16) model.Packet {
	p := model.Packet{Len: length}
	if size := (length - uint32(header) + uint32(segments) - 1) / uint32(max(segments, 1)); segments > 1 && length > uint32(header) && size < 1<<16 {
		p.Header, p.GSOSize = header, uint16(size)
	}
	return p
}

// segment appends what validate_xmit_skb makes of the packet. The last one
// gives the memory back.
func (p *packet) segment(to []packet) []packet {
	var room [64]model.Packet
	segments := model.Validate(room[:0], p.Packet, false)
	for i, one := range segments {
		q := packet{Packet: one, addr: p.addr + uint64(i) + 1, from: p.from, retry: true}
		if i == len(segments)-1 {
			q.truesize = p.truesize
		}
		to = append(to, q)
	}
	return to
}

// free gives the memory back to the sender.
func (p *packet) free(c *cpu) {
	if p.from != nil && p.truesize > 0 {
		p.from.freed(c, p.truesize)
	}
}

// fifo is a queue of packets.
type fifo struct {
	list []packet // a ring, its length a power of two
	head int
	n    int
}

func (f *fifo) put(p packet) {
	if f.n == len(f.list) {
		grown := make([]packet, max(16, 2*len(f.list)))
		for i := range f.n {
			grown[i] = f.list[(f.head+i)&(len(f.list)-1)]
		}
		f.list, f.head = grown, 0
	}
	f.list[(f.head+f.n)&(len(f.list)-1)] = p
	f.n++
}

func (f *fifo) first() *packet { return &f.list[f.head] }

func (f *fifo) take() packet {
	p := f.list[f.head]
	f.head = (f.head + 1) & (len(f.list) - 1)
	f.n--
	return p
}
