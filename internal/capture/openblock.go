// SPDX-License-Identifier: Apache-2.0

package capture

import "unsafe"

// openBlock collects the records of one kind.
type openBlock struct {
	size int   // of a record
	mem  words // maxRaw bytes
	buf  []byte
	used int // bytes of buf, which is mem as bytes

	// What survey found.
	minTime uint64
	maxTime uint64
	ranges  []cpuRange
}

func newOpenBlock(size int) *openBlock {
	m := make(words, maxRaw/8)
	return &openBlock{size: size, mem: m, buf: m.bytes()}
}

func (b *openBlock) count() int { return b.used / b.size }

// survey collects what the block's header says of its records, and says
// whether they belong to more than one device and queue.
func (b *openBlock) survey() (mixed bool) {
	p := unsafe.Pointer(&b.mem[0])
	place, dev := at64(p, 0)>>48, at64(p, offIfindex) // queue; device and namespace
	cpu, seq := at16(p, offCPU), at32(p, offSeq)
	b.minTime, b.maxTime = at64(p, offTime), at64(p, offTime)
	b.ranges = append(b.ranges[:0], cpuRange{cpu, seq, seq})
	r := &b.ranges[0]
	for off := b.size; off < b.used; off += b.size {
		w, seq, t := at64(p, off), at32(p, off+offSeq), at64(p, off+offTime)
		if t > b.maxTime {
			b.maxTime = t
		} else if t < b.minTime {
			b.minTime = t
		}
		if cpu := uint16(w >> 32); cpu != r.cpu {
			r = b.enter(cpu, seq)
		}
		if int32(seq-r.last) > 0 {
			r.last = seq
		} else if int32(seq-r.first) < 0 {
			r.first = seq
		}
		if w>>48 != place || at64(p, off+offIfindex) != dev {
			mixed = true
		}
	}
	return mixed
}

// enter finds or makes the range of a CPU.
func (b *openBlock) enter(cpu uint16, seq uint32) *cpuRange {
	for i := range b.ranges {
		if b.ranges[i].cpu == cpu {
			return &b.ranges[i]
		}
	}
	b.ranges = append(b.ranges, cpuRange{cpu, seq, seq})
	return &b.ranges[len(b.ranges)-1]
}

// slots are what a block's records are sorted by before they are packed.
const slots = 64

// slot of a record: its device and queue, folded.
func slot(m words) uint64 {
	ifindex, netns := m[offIfindex/8]&0xffffffff, m[offIfindex/8]>>32
	return (m[0]>>48 + ifindex*5 + netns*11) % slots
}

// sort brings the records of b into the order of their slots, keeping the
// order within one. Neighbours belong to the same queue then, whose counters
// differ least.
func (w *Writer) sort(b *openBlock) {
	if w.spare == nil {
		w.spare = make(words, maxRaw/8)
	}
	step := b.size / 8
	var next [slots + 1]int
	for i := 0; i < b.used/8; i += step {
		next[slot(b.mem[i:])+1] += step
	}
	for i := 1; i < len(next); i++ {
		next[i] += next[i-1]
	}
	for i := 0; i < b.used/8; i += step {
		s := slot(b.mem[i:])
		copy(w.spare[next[s]:], b.mem[i:i+step])
		next[s] += step
	}
	b.mem, w.spare = w.spare, b.mem
	b.buf = b.mem.bytes()
}
