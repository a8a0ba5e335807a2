// SPDX-License-Identifier: Apache-2.0

package capture

import (
	"encoding/binary"
	"errors"
	"hash/crc32"

	"github.com/txtrace/txtrace/internal/event"
)

// Version of the file format this build writes, and the only one it reads.
const Version = 1

const (
	fileMagic  = "\x89TXTRC\r\n" // a text-mode copy breaks it
	blockMagic = "TB"
	footMagic  = "TF"
	endMarker  = "TxEnd\r\n\x1a"

	headLead = len(blockMagic) + 2 // of a block header: the magic and its length
	sumSize  = 4                   // a CRC-32C

	maxRaw    = 64 << 10 // bytes of a block's records
	maxRecord = 1 << 10  // bytes of one record, also of a kind not known here
	maxJSON   = 16 << 20 // bytes of the JSON of the header or the footer
	maxRatio  = 255      // of that to its stored bytes
	minRecord = 40       // every record has an event.Header
	maxRanges = maxRaw / minRecord
	maxAddrs  = 1 << 15 // entries of an address list; full blocks of all kinds hold fewer
)

// Codecs of a block.
const (
	codecPacked = 0 // packed
	codecS2     = 1 // packed, s2
	codecZstd   = 2 // packed, zstd
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

func sum(b []byte) uint32 { return crc32.Checksum(b, castagnoli) }

var le = binary.LittleEndian

// endian is event.ErrEndian on a machine that cannot read captures.
func endian() error {
	if _, err := event.Decode(nil); errors.Is(err, event.ErrEndian) {
		return err
	}
	return nil
}

// Offsets in event.Header, the same in every record.
const (
	offCPU     = 4
	offSeq     = 8
	offTime    = 16
	offIfindex = 24 // and then Netns
)

// cpuRange is the span of sequence numbers of one CPU in a block.
type cpuRange struct {
	cpu         uint16
	first, last uint32 // lowest and highest, modulo 2^32
}

// blockHead is the header of a block.
type blockHead struct {
	kind    event.Kind
	codec   uint8
	size    int // of one record
	group   uint32
	count   int
	raw     int
	stored  int
	sum     uint32 // of the stored bytes
	minTime uint64
	maxTime uint64
	ranges  []cpuRange
}

// appendBlockHead adds the header: the magic, the length of what follows but
// the checksum, that, and the checksum of it all.
func appendBlockHead(dst []byte, h *blockHead) []byte {
	start := len(dst)
	dst = append(dst, blockMagic...)
	dst = append(dst, 0, 0)
	dst = append(dst, byte(h.kind), h.codec)
	dst = binary.AppendUvarint(dst, uint64(h.size))
	dst = binary.AppendUvarint(dst, uint64(h.group))
	dst = binary.AppendUvarint(dst, uint64(h.count))
	dst = binary.AppendUvarint(dst, uint64(h.stored))
	dst = le.AppendUint32(dst, h.sum)
	dst = binary.AppendUvarint(dst, h.minTime)
	dst = binary.AppendUvarint(dst, h.maxTime-h.minTime)
	dst = binary.AppendUvarint(dst, uint64(len(h.ranges)))
	for _, r := range h.ranges {
		dst = binary.AppendUvarint(dst, uint64(r.cpu))
		dst = binary.AppendUvarint(dst, uint64(r.first))
		dst = binary.AppendUvarint(dst, uint64(r.last-r.first))
	}
	le.PutUint16(dst[start+len(blockMagic):], uint16(len(dst)-start-headLead))
	return le.AppendUint32(dst, sum(dst[start:]))
}

// parseBlockHead reads what lies between the lead and the checksum. It is
// false when that is not exactly one header, or one that contradicts itself.
func parseBlockHead(b []byte) (h blockHead, ok bool) {
	if len(b) < 2 {
		return h, false
	}
	p := parser{b: b[2:]}
	h.kind, h.codec = event.Kind(b[0]), b[1]
	h.size = int(p.uint(maxRecord))
	h.group = uint32(p.uint(1<<32 - 1))
	h.count = int(p.uint(maxRaw))
	h.stored = int(p.uint(1 << 30))
	h.raw = h.count * h.size
	h.sum = p.fixed()
	h.minTime = p.uint(1<<64 - 1)
	h.maxTime = h.minTime + p.uint(1<<64-1)
	for n := p.uint(maxRanges); n > 0 && !p.bad; n-- {
		r := cpuRange{cpu: uint16(p.uint(1<<16 - 1)), first: uint32(p.uint(1<<32 - 1))}
		r.last = r.first + uint32(p.uint(1<<32-1))
		h.ranges = append(h.ranges, r)
	}
	return h, !p.bad && len(p.b) == 0 && h.sound()
}

// parser takes numbers off b. It is bad once one was missing or too large.
type parser struct {
	b   []byte
	bad bool
}

func (p *parser) uint(limit uint64) uint64 {
	x, n := binary.Uvarint(p.b)
	if n <= 0 || x > limit {
		p.bad, p.b = true, nil
		return 0
	}
	p.b = p.b[n:]
	return x
}

func (p *parser) fixed() uint32 {
	if len(p.b) < 4 {
		p.bad, p.b = true, nil
		return 0
	}
	x := le.Uint32(p.b)
	p.b = p.b[4:]
	return x
}

// maxPacked is the most that the packed form of raw bytes of records takes.
func maxPacked(raw, size int) int { return raw + size/4 }

// sound says that the numbers of a block header go together and are within
// bounds: nothing is allocated or skipped by a header that is not.
func (h *blockHead) sound() bool {
	limit := maxRaw
	switch {
	case h.kind == kindAddrs:
		limit = maxAddrs * 8
		if h.size != 8 {
			return false
		}
	case h.size < minRecord || h.size > maxRecord || h.size%8 != 0:
		return false
	}
	return h.count > 0 && h.raw <= limit && h.stored <= maxPacked(h.raw, h.size) &&
		(!h.kind.Valid() || h.size == h.kind.Size())
}
