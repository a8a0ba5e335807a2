// SPDX-License-Identifier: Apache-2.0

package capture

import (
	mbits "math/bits"
	"unsafe"
)

// unpack is the inverse of pack: n records of layout l from src into m. It is
// false when src is not the packed form of n such records.
func (p *packer) unpack(m words, src []byte, n int, l *layout) bool {
	if len(src) < l.size/4 || len(m)*8 < n*l.size {
		return false
	}
	m = m[:n*l.size/8]
	baseMap, planeMap, planes := src[:l.size/8], src[l.size/8:l.size/4], src[l.size/4:]
	out := m.bytes()
	for i := range l.size {
		out[i] = 0
		if baseMap[i/8]>>(i%8)&1 == 0 {
			continue
		}
		if len(planes) == 0 {
			return false
		}
		out[i], planes = planes[0], planes[1:]
	}
	if n == 1 {
		return len(planes) == 0
	}
	// What is exactly as predicted from the first record alone is done with this.
	for k := l.size; k < len(out); k *= 2 {
		copy(out[k:], out[:k])
	}
	r32, r64 := p.residues(n)
	h := m.halves()
	ok := true
	for i := range l.columns {
		c := &l.columns[i]
		bits := planeMap[c.off/8] >> (c.off % 8) & c.bits
		if bits == 0 && c.self() {
			continue
		}
		if c.wide() {
			if planes, ok = join(r64, planes, bits); !ok {
				return false
			}
			restore64(r64, m, c, l.size/8)
		} else {
			if planes, ok = join(r32, planes, bits); !ok {
				return false
			}
			p.restore32(r32, h, c, l.size/4)
		}
	}
	return len(planes) == 0
}

// join makes residues of the planes that bits names, which are the first of
// planes, and returns the planes after them.
func join[T uint32 | uint64](res []T, planes []byte, bits byte) ([]byte, bool) {
	n := len(res)
	if len(planes) < n*mbits.OnesCount8(bits) {
		return nil, false
	}
	switch {
	case bits == 0:
		clear(res)
	case bits&(bits-1) == 0:
		join1(res, planes, 8*mbits.TrailingZeros8(bits))
		planes = planes[n:]
	default:
		s := mbits.TrailingZeros8(bits)
		bits &= bits - 1
		t := mbits.TrailingZeros8(bits)
		bits &= bits - 1
		join2(res, planes, planes[n:], 8*s, 8*t)
		for planes = planes[2*n:]; bits != 0; planes = planes[n:] {
			more(res, planes, 8*mbits.TrailingZeros8(bits))
			bits &= bits - 1
		}
	}
	return planes, true
}

// join1 makes residues of the plane a, which holds their bits from s on.
func join1[T uint32 | uint64](res []T, a []byte, s int) {
	s &= 63
	for len(res) >= 8 && len(a) >= 8 {
		r, a8 := res[:8], a[:8]
		r[0], r[1], r[2], r[3] = T(a8[0])<<s, T(a8[1])<<s, T(a8[2])<<s, T(a8[3])<<s
		r[4], r[5], r[6], r[7] = T(a8[4])<<s, T(a8[5])<<s, T(a8[6])<<s, T(a8[7])<<s
		res, a = res[8:], a[8:]
	}
	for i := range res {
		res[i] = T(a[i]) << s
	}
}

// join2 makes residues of two planes.
func join2[T uint32 | uint64](res []T, a, b []byte, s, t int) {
	s, t = s&63, t&63
	for len(res) >= 8 && len(a) >= 8 && len(b) >= 8 {
		r, a8, b8 := res[:8], a[:8], b[:8]
		r[0], r[1] = T(a8[0])<<s|T(b8[0])<<t, T(a8[1])<<s|T(b8[1])<<t
		r[2], r[3] = T(a8[2])<<s|T(b8[2])<<t, T(a8[3])<<s|T(b8[3])<<t
		r[4], r[5] = T(a8[4])<<s|T(b8[4])<<t, T(a8[5])<<s|T(b8[5])<<t
		r[6], r[7] = T(a8[6])<<s|T(b8[6])<<t, T(a8[7])<<s|T(b8[7])<<t
		res, a, b = res[8:], a[8:], b[8:]
	}
	for i := range res {
		res[i] = T(a[i])<<s | T(b[i])<<t
	}
}

// more adds a plane to residues.
func more[T uint32 | uint64](res []T, a []byte, s int) {
	s &= 63
	a = a[:len(res)]
	for i := range res {
		res[i] |= T(a[i]) << s
	}
}

// The functions below undo residues64 and residues32, with pointers for the
// same reason. Where they read and write follows from the layout and the
// record count alone, never from what the file holds.

func put64(p unsafe.Pointer, off int, x uint64) { *(*uint64)(unsafe.Add(p, off)) = x }
func put32(p unsafe.Pointer, off int, x uint32) { *(*uint32)(unsafe.Add(p, off)) = x }

func restore64(res, m []uint64, c *column, step int) {
	x := m[c.off/8]
	p := unsafe.Pointer(&m[c.off/8+step])
	off := 0
	step *= 8
	switch c.op {
	case opBase:
		for _, d := range res {
			put64(p, off, at64(p, off)^d)
			off += step
		}
	case opTime:
		for _, z := range res {
			x += zag64(z) + at64(p, off-8)>>32
			put64(p, off, x)
			off += step
		}
	case opPrev:
		for _, z := range res {
			x += zag64(z)
			put64(p, off, x)
			off += step
		}
	}
}

func (p *packer) restore32(res, h []uint32, c *column, step int) {
	t := c.terms(step)
	px, pa, pb, pc := unsafe.Pointer(&h[c.off/4+step]), unsafe.Pointer(&h[t[0]]), unsafe.Pointer(&h[t[1]]), unsafe.Pointer(&h[t[2]])
	off := 0
	step *= 4
	switch {
	case c.op == opSeq:
		clear(p.cpu[:])
		p.cpu[h[offSeq/4-1]%cpuSlots] = h[offSeq/4]
		for _, z := range res {
			last := &p.cpu[at32(px, off-4)%cpuSlots]
			*last += zag32(z)
			put32(px, off, *last)
			off += step
		}
	case c.op == opMean:
		for _, z := range res {
			put32(px, off, at32(pa, off)*(at32(pb, off)/max(1, at32(pc, off)))+zag32(z))
			off += step
		}
	case c.n == 1:
		for _, z := range res {
			put32(px, off, at32(pa, off)+zag32(z))
			off += step
		}
	case c.n == 2:
		for _, z := range res {
			put32(px, off, at32(pa, off)+at32(pb, off)+zag32(z))
			off += step
		}
	default:
		for _, z := range res {
			put32(px, off, at32(pa, off)+at32(pb, off)-at32(pc, off)+zag32(z))
			off += step
		}
	}
}
