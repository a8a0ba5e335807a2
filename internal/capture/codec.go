// SPDX-License-Identifier: Apache-2.0

package capture

import (
	"github.com/klauspost/compress/s2"
	"github.com/klauspost/compress/zstd"
)

// codecs compresses and expands packed blocks. What it returns is valid until
// the next call.
type codecs struct {
	buf []byte
	enc *zstd.Encoder
	dec *zstd.Decoder
}

// minZstd is the packed length from which zstd's tables pay.
const minZstd = 512

// squeeze compresses a packed block: with s2 where instructions count, else
// with what makes it smaller.
func (c *codecs) squeeze(packed []byte, fast bool) (codec uint8, data []byte) {
	if !fast && len(packed) >= minZstd {
		if data := c.zstd(packed); len(data) > 0 && len(data) < len(packed) {
			return codecZstd, data
		}
	}
	encode := s2.EncodeBetter
	if fast {
		encode = s2.Encode
	}
	c.buf = grow(c.buf[:0], s2.MaxEncodedLen(len(packed)))
	if data := encode(c.buf, packed); len(data) < len(packed) {
		return codecS2, data
	}
	return codecPacked, packed
}

// zstd compresses a packed block, to nothing when there is no encoder.
func (c *codecs) zstd(packed []byte) []byte {
	if c.enc == nil {
		enc, err := zstd.NewWriter(nil, zstd.WithEncoderLevel(zstd.SpeedFastest), zstd.WithEncoderConcurrency(1),
			zstd.WithEncoderCRC(false), zstd.WithLowerEncoderMem(true), zstd.WithSingleSegment(true))
		if err != nil {
			return nil
		}
		c.enc = enc
	}
	c.buf = c.enc.EncodeAll(packed, c.buf[:0])
	return c.buf
}

// expand undoes squeeze. It is false when data is damaged or has more than
// limit bytes.
func (c *codecs) expand(codec uint8, data []byte, limit int) ([]byte, bool) {
	switch codec {
	case codecPacked:
		return data, len(data) <= limit
	case codecS2:
		n, err := s2.DecodedLen(data)
		if err != nil || n > limit {
			return nil, false
		}
		c.buf = grow(c.buf[:0], n)
		out, err := s2.Decode(c.buf, data)
		return out, err == nil
	case codecZstd:
		if c.dec == nil {
			dec, err := zstd.NewReader(nil, zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true),
				zstd.WithDecoderMaxMemory(4*maxRaw), zstd.WithDecodeAllCapLimit(true))
			if err != nil {
				return nil, false
			}
			c.dec = dec
		}
		c.buf = grow(c.buf[:0], limit)
		out, err := c.dec.DecodeAll(data, c.buf[:0:limit])
		return out, err == nil
	}
	return nil, false
}
