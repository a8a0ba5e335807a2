// SPDX-License-Identifier: Apache-2.0

package capture

import (
	"slices"
	"unsafe"
)

// packer turns the records of a block into planes and back, see the package
// comment. The memory in it is scratch.
type packer struct {
	r32 []uint32 // residues of a column
	r64 []uint64
	cpu [cpuSlots]uint32 // last sequence number, by CPU
}

// cpuSlots CPUs have a sequence prediction of their own; others share one.
const cpuSlots = 64

// slack entries follow what gather8 and gather4 read and write: they move 8 at
// a time, and their pointers end up to 8 past that.
const slack = 16

// residues is room for those of n records: all but the first have one.
func (p *packer) residues(n int) ([]uint32, []uint64) {
	if cap(p.r64) < n+slack {
		p.r32, p.r64 = make([]uint32, n+slack), make([]uint64, n+slack)
	}
	return p.r32[:n-1], p.r64[:n-1]
}

// pack appends the packed form of the n records in m to dst: which bytes of
// the first record are not 0, which planes there are, those bytes, the planes.
// Addresses in m are list indexes already.
func (p *packer) pack(dst []byte, m words, n int, l *layout) []byte {
	base, at := len(dst), len(dst)+l.size/8
	dst = append(dst, make([]byte, l.size/4)...)
	for i, x := range m[:l.size/8].bytes() {
		if x != 0 {
			dst[base+i/8] |= 1 << (i % 8)
			dst = append(dst, x)
		}
	}
	if n == 1 {
		return dst
	}
	r32, r64 := p.residues(n)
	h := m[:n*l.size/8].halves()
	for i := range l.columns {
		c := &l.columns[i]
		var or uint64
		if c.wide() {
			or = p.residues64(r64, m[:n*l.size/8], c, l.size/8)
		} else {
			or = p.residues32(r32, h, c, l.size/4)
		}
		for b := 0; or != 0; b, or = b+1, or>>8 {
			if byte(or) == 0 {
				continue
			}
			o := c.off + b
			dst[at+o/8] |= 1 << (o % 8)
			k := len(dst)
			dst = slices.Grow(dst, n-1+slack)[:k+n-1]
			if c.wide() {
				gather8(dst[k:], r64, b)
			} else {
				gather4(dst[k:], r32, b)
			}
		}
	}
	return dst
}

// residues64 puts the residues of an 8-byte column into res and returns all
// of them ored. step is the size of a record in words.
func (p *packer) residues64(res, m []uint64, c *column, step int) uint64 {
	switch c.op {
	case opBase:
		return encBase(res, m, c.off/8, step, c.mask)
	case opTime:
		return encTime(res, m, step)
	}
	return encPrev(res, m, c.off/8, step)
}

// residues32 is residues64 for a 4-byte column; step is in halves of words.
func (p *packer) residues32(res, h []uint32, c *column, step int) uint64 {
	x, t := c.off/4+step, c.terms(step)
	switch {
	case c.op == opSeq:
		return p.encSeq(res, h, step)
	case c.op == opMean:
		return encMean(res, h, x, t, step)
	case c.n == 1:
		return encSum1(res, h, x, t[0], step)
	case c.n == 2:
		return encSum2(res, h, x, t[0], t[1], step)
	}
	return encSum3(res, h, x, t, step)
}

// The functions below run once per column for all records of a block. They are
// most of what recording costs in user space, so they skip what is predicted
// exactly, which most columns are from the first record to the last, and reach
// fields through pointers: bounds checks were a fifth of the instructions. All
// offsets stay within the n records: the first one is that of the block's
// second record, and step goes on len(res) = n-1 times at most.

func at16(p unsafe.Pointer, off int) uint16 { return *(*uint16)(unsafe.Add(p, off)) }
func at32(p unsafe.Pointer, off int) uint32 { return *(*uint32)(unsafe.Add(p, off)) }
func at64(p unsafe.Pointer, off int) uint64 { return *(*uint64)(unsafe.Add(p, off)) }

// Signed differences are stored with the sign in the lowest bit: small ones
// have no high bytes then.
func zig32(d uint32) uint32 { return d<<1 ^ uint32(int32(d)>>31) }
func zag32(z uint32) uint32 { return z>>1 ^ -(z & 1) }
func zig64(d uint64) uint64 { return d<<1 ^ uint64(int64(d)>>63) }
func zag64(z uint64) uint64 { return z>>1 ^ -(z & 1) }

// gather8 makes the plane of byte b of res, which is as long as dst.
func gather8(dst []byte, res []uint64, b int) {
	d, p := unsafe.Pointer(&dst[0]), unsafe.Add(unsafe.Pointer(&res[:len(dst)][0]), b)
	for n := len(dst); n > 0; n -= 8 {
		d8, q := (*[8]byte)(d), (*[57]byte)(p)
		d8[0], d8[1], d8[2], d8[3] = q[0], q[8], q[16], q[24]
		d8[4], d8[5], d8[6], d8[7] = q[32], q[40], q[48], q[56]
		d, p = unsafe.Add(d, 8), unsafe.Add(p, 64)
	}
}

// gather4 is gather8 for columns of 4 bytes.
func gather4(dst []byte, res []uint32, b int) {
	d, p := unsafe.Pointer(&dst[0]), unsafe.Add(unsafe.Pointer(&res[:len(dst)][0]), b)
	for n := len(dst); n > 0; n -= 8 {
		d8, q := (*[8]byte)(d), (*[29]byte)(p)
		d8[0], d8[1], d8[2], d8[3] = q[0], q[4], q[8], q[12]
		d8[4], d8[5], d8[6], d8[7] = q[16], q[20], q[24], q[28]
		d, p = unsafe.Add(d, 8), unsafe.Add(p, 32)
	}
}

func encBase(res, m []uint64, pos, step int, mask uint64) (or uint64) {
	base, p := m[pos], unsafe.Pointer(&m[pos+step])
	off, i := 0, 0
	step *= 8
	for ; i+4 <= len(res); i += 4 {
		o1, o2, o3 := off+step, off+2*step, off+3*step
		if ((at64(p, off)^base)|(at64(p, o1)^base)|(at64(p, o2)^base)|(at64(p, o3)^base))&mask != 0 {
			break
		}
		off = o3 + step
	}
	clear(res[:i])
	res = res[i:]
	for i := range res {
		d := (at64(p, off) ^ base) & mask
		res[i] = d
		or |= d
		off += step
	}
	return or
}

func encPrev(res, m []uint64, pos, step int) (or uint64) {
	prev, p := m[pos], unsafe.Pointer(&m[pos+step])
	off := 0
	step *= 8
	for i := range res {
		x := at64(p, off)
		d := zig64(x - prev)
		prev = x
		res[i] = d
		or |= d
		off += step
	}
	return or
}

// encTime: the upper half of the word before Time is Dur.
func encTime(res, m []uint64, step int) (or uint64) {
	prev, p := m[offTime/8], unsafe.Pointer(&m[offTime/8+step-1])
	off := 0
	step *= 8
	for i := range res {
		x := at64(p, off+8)
		d := zig64(x - prev - at64(p, off)>>32)
		prev = x
		res[i] = d
		or |= d
		off += step
	}
	return or
}

// encSeq: the half of a word before Seq begins with CPU.
func (p *packer) encSeq(res, h []uint32, step int) uint64 {
	clear(p.cpu[:])
	pos := offSeq / 4
	p.cpu[h[pos-1]%cpuSlots] = h[pos]
	q := unsafe.Pointer(&h[pos-1+step])
	off := 0
	step *= 4
	var or uint32
	for i := range res {
		c := &p.cpu[at32(q, off)%cpuSlots]
		x := at32(q, off+4)
		d := zig32(x - *c)
		*c = x
		res[i] = d
		or |= d
		off += step
	}
	return uint64(or)
}

func encSum1(res, h []uint32, x, a, step int) uint64 {
	px, pa := unsafe.Pointer(&h[x]), unsafe.Pointer(&h[a])
	off, i := 0, 0
	step *= 4
	for ; i+4 <= len(res); i += 4 {
		o1, o2, o3 := off+step, off+2*step, off+3*step
		if at32(px, off) != at32(pa, off) || at32(px, o1) != at32(pa, o1) ||
			at32(px, o2) != at32(pa, o2) || at32(px, o3) != at32(pa, o3) {
			break
		}
		off = o3 + step
	}
	clear(res[:i])
	res = res[i:]
	var or uint32
	for i := range res {
		d := zig32(at32(px, off) - at32(pa, off))
		res[i] = d
		or |= d
		off += step
	}
	return uint64(or)
}

func encSum2(res, h []uint32, x, a, b, step int) uint64 {
	px, pa, pb := unsafe.Pointer(&h[x]), unsafe.Pointer(&h[a]), unsafe.Pointer(&h[b])
	off, i := 0, 0
	step *= 4
	for ; i < len(res); i++ {
		if at32(px, off) != at32(pa, off)+at32(pb, off) {
			break
		}
		off += step
	}
	clear(res[:i])
	res = res[i:]
	var or uint32
	for i := range res {
		d := zig32(at32(px, off) - at32(pa, off) - at32(pb, off))
		res[i] = d
		or |= d
		off += step
	}
	return uint64(or)
}

func encSum3(res, h []uint32, x int, t [3]int, step int) uint64 {
	px, pa, pb, pc := unsafe.Pointer(&h[x]), unsafe.Pointer(&h[t[0]]), unsafe.Pointer(&h[t[1]]), unsafe.Pointer(&h[t[2]])
	off, i := 0, 0
	step *= 4
	for ; i < len(res); i++ {
		if at32(px, off) != at32(pa, off)+at32(pb, off)-at32(pc, off) {
			break
		}
		off += step
	}
	clear(res[:i])
	res = res[i:]
	var or uint32
	for i := range res {
		d := zig32(at32(px, off) - at32(pa, off) - at32(pb, off) + at32(pc, off))
		res[i] = d
		or |= d
		off += step
	}
	return uint64(or)
}

func encMean(res, h []uint32, x int, t [3]int, step int) uint64 {
	px, pa, pb, pc := unsafe.Pointer(&h[x]), unsafe.Pointer(&h[t[0]]), unsafe.Pointer(&h[t[1]]), unsafe.Pointer(&h[t[2]])
	off := 0
	step *= 4
	var or uint32
	for i := range res {
		d := zig32(at32(px, off) - at32(pa, off)*(at32(pb, off)/max(1, at32(pc, off))))
		res[i] = d
		or |= d
		off += step
	}
	return uint64(or)
}
