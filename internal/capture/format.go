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
	blockMagic = "TxB\n"
	footMagic  = "TxF\n"
	endMarker  = "TxEnd\r\n\x1a"

	blockSize = 48 // fixed part of a block header
	rangeSize = 12 // one CPU's range in a block header
	sumSize   = 4  // a CRC-32C

	maxRaw    = 64 << 10 // bytes of a block's records
	maxRecord = 1 << 10  // bytes of one record, also of a kind not known here
	maxJSON   = 32 << 20 // bytes of the JSON of the header or the footer
	maxRatio  = 255      // of that to its stored bytes
	minRecord = 40       // every record has an event.Header
	maxRanges = maxRaw / minRecord
	maxAddrs  = 1 << 14 // entries of an address list; full blocks of all kinds hold fewer
)

// Codecs of a block.
const (
	codecPacked = 0 // packed
	codecS2     = 1 // packed, s2
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

func appendBlockHead(dst []byte, h *blockHead) []byte {
	start := len(dst)
	dst = append(dst, blockMagic...)
	dst = append(dst, byte(h.kind), h.codec)
	dst = le.AppendUint16(dst, uint16(h.size))
	dst = le.AppendUint32(dst, h.group)
	dst = le.AppendUint32(dst, uint32(h.count))
	dst = le.AppendUint32(dst, uint32(h.raw))
	dst = le.AppendUint32(dst, uint32(h.stored))
	dst = le.AppendUint32(dst, h.sum)
	dst = le.AppendUint32(dst, uint32(len(h.ranges)))
	dst = le.AppendUint64(dst, h.minTime)
	dst = le.AppendUint64(dst, h.maxTime)
	for _, r := range h.ranges {
		dst = le.AppendUint16(dst, r.cpu)
		dst = le.AppendUint16(dst, 0)
		dst = le.AppendUint32(dst, r.first)
		dst = le.AppendUint32(dst, r.last)
	}
	return le.AppendUint32(dst, sum(dst[start:]))
}

// parseBlockHead reads the fixed part, and the number of ranges that follow it.
func parseBlockHead(b []byte) (h blockHead, ranges uint32) {
	h = blockHead{
		kind:    event.Kind(b[4]),
		codec:   b[5],
		size:    int(le.Uint16(b[6:])),
		group:   le.Uint32(b[8:]),
		count:   int(le.Uint32(b[12:])),
		raw:     int(le.Uint32(b[16:])),
		stored:  int(le.Uint32(b[20:])),
		sum:     le.Uint32(b[24:]),
		minTime: le.Uint64(b[32:]),
		maxTime: le.Uint64(b[40:]),
	}
	return h, le.Uint32(b[28:])
}

// maxPacked is the most that the packed form of raw bytes of records takes.
func maxPacked(raw, size int) int { return raw + size/8 }

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
	return h.count > 0 && h.raw == h.count*h.size && h.raw <= limit && h.stored <= maxPacked(h.raw, h.size) &&
		(!h.kind.Valid() || h.size == h.kind.Size())
}
