// SPDX-License-Identifier: Apache-2.0

package capture

import "unsafe"

// words is record memory: 8-byte aligned, so that fields can be reached as
// numbers. Captures are little-endian, and so is every machine that Open and
// NewWriter run on.
type words []uint64

func (w words) bytes() []byte {
	return unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(w))), len(w)*8)
}

func (w words) halves() []uint32 {
	return unsafe.Slice((*uint32)(unsafe.Pointer(unsafe.SliceData(w))), len(w)*2)
}
