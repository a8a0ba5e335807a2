// SPDX-License-Identifier: Apache-2.0

package model

import "math/bits"

// Link is the speed of a link in bits per second. It turns what waits before a
// packet into the time that it waits, and back, as 000 does.
type Link uint64

// bitNanos is the nanoseconds of a second by the bits of a byte.
const bitNanos = 1_000_000_000 * 8

// Bytes is how many whole bytes the link carries in ns nanoseconds.
func (l Link) Bytes(ns uint64) uint64 {
	return mulDiv(uint64(l), ns, bitNanos, 0)
}

// Time is how many nanoseconds the link needs for bytes, the last one begun
// counted. A link without speed carries nothing: it panics.
func (l Link) Time(bytes uint64) uint64 {
	return mulDiv(bytes*8, bitNanos/8, uint64(l), uint64(l)-1)
}

// mulDiv is (a*b+c)/d without overflow in between.
func mulDiv(a, b, d, c uint64) uint64 {
	hi, lo := bits.Mul64(a, b)
	lo, carry := bits.Add64(lo, c, 0)
	quo, _ := bits.Div64(hi+carry, lo, d)
	return quo
}
