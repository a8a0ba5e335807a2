// SPDX-License-Identifier: Apache-2.0

package capture

import (
	"errors"
	"io"
	"slices"

	"github.com/txtrace/txtrace/internal/event"
)

// readBlockHead reads up to the data of the next block, into r.next. It is
// false at the footer and where nothing more can be read.
func (r *Reader) readBlockHead() bool {
	m, err := r.in.Peek(len(blockMagic))
	switch {
	case len(m) == 0:
		return r.stop(err, "it ends without a footer")
	case len(m) < len(blockMagic):
		return r.stop(err, "it ends inside a block header")
	case string(m) == footMagic:
		return r.readFooter()
	case string(m) != blockMagic:
		return r.stop(nil, "what follows is no block")
	}
	r.headBuf = grow(r.headBuf, headLead)
	if _, err := io.ReadFull(r.in, r.headBuf); err != nil {
		return r.stop(err, "it ends inside a block header")
	}
	end := headLead + int(le.Uint16(r.headBuf[len(blockMagic):]))
	r.headBuf = grow(r.headBuf, end+sumSize)
	if _, err := io.ReadFull(r.in, r.headBuf[headLead:]); err != nil {
		return r.stop(err, "it ends inside a block header")
	}
	if sum(r.headBuf[:end]) != le.Uint32(r.headBuf[end:]) {
		return r.stop(nil, "a block header is damaged")
	}
	h, ok := parseBlockHead(r.headBuf[headLead:end])
	if !ok {
		return r.stop(nil, "a block header contradicts itself")
	}
	r.next, r.has = h, true
	return true
}

// stop ends the blocks where nothing more can be read; err is the input's. It
// is always false.
func (r *Reader) stop(err error, reason string) bool {
	r.end = true
	r.cut = &CutInfo{Offset: r.off, Reason: reason}
	if err != nil && !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) {
		r.err = err
	}
	return false
}

// readBlock reads the data of r.next, records into b. It is false where the
// file ends. A block that is damaged inside is skipped.
func (r *Reader) readBlock(b *batch) bool {
	h := &r.next
	r.data = grow(r.data[:0], h.stored)
	if _, err := io.ReadFull(r.in, r.data); err != nil {
		return r.stop(err, "it ends inside a block")
	}
	size := int64(len(r.headBuf) + h.stored)
	r.off += size
	s := KindStats{Blocks: 1, Stored: size, Raw: int64(h.raw), Records: int64(h.count)}
	switch {
	case h.kind == kindAddrs:
		r.list.vals = slices.Grow(r.list.vals[:0], h.count)[:h.count]
		if !r.unpack(h, r.list.vals) || r.list.vals[0] != 0 {
			r.list.vals = append(r.list.vals[:0], 0)
			r.total.Corrupt++
		}
	case !h.kind.Valid() || !r.told[h.kind]:
		r.total.Unknown += int64(h.count)
	default:
		m := b.room(h.kind, h.raw)
		if !r.unpack(h, m) || !r.list.unfold(m, h.count, layouts[h.kind]) || !allOf(m, h) {
			r.total.Corrupt++
			s.Raw, s.Records = 0, 0
			break
		}
		b.left += h.count
		r.o.add(m, h.count, h.size)
	}
	r.stats[h.kind].add(s)
	return true
}

// unpack turns r.data into what it was packed from, in m. It is false when the
// data is damaged.
func (r *Reader) unpack(h *blockHead, m words) bool {
	if sum(r.data) != h.sum {
		return false
	}
	src, ok := r.codecs.expand(h.codec, r.data, maxPacked(h.raw, h.size))
	if !ok {
		return false
	}
	return r.pk.unpack(m, src, h.count, layouts[h.kind])
}

// allOf says that all records in m have the kind that their block says.
func allOf(m words, h *blockHead) bool {
	for i := 0; i < h.count*h.size/8; i += h.size / 8 {
		if event.Kind(m[i]) != h.kind { // the lowest byte
			return false
		}
	}
	return true
}

// readFooter reads the rest of the file. It is always false.
func (r *Reader) readFooter() bool {
	var p [len(footMagic) + leadSize]byte
	if _, err := io.ReadFull(r.in, p[:]); err != nil {
		return r.stop(err, "it ends inside its footer")
	}
	lead, ok := parseLead(p[:])
	if !ok {
		return r.stop(nil, "the footer is damaged")
	}
	b, err := readN(r.in, lead.stored+len(endMarker))
	if err != nil {
		return r.stop(err, "it ends inside its footer")
	}
	f := new(Footer)
	if ok, _ := lead.decode(b[:lead.stored], f); !ok || string(b[lead.stored:]) != endMarker {
		return r.stop(nil, "the footer is damaged")
	}
	r.off += int64(len(p) + len(b))
	if _, err := r.in.Peek(1); err == nil {
		return r.stop(nil, "it goes on after its end, as two files in one do")
	}
	r.footer, r.end = f, true
	return false
}

// grow makes b n long, keeping what it holds.
func grow[T any](b []T, n int) []T {
	if n <= cap(b) {
		return b[:n]
	}
	return append(make([]T, 0, n), b...)[:n]
}
