// SPDX-License-Identifier: Apache-2.0

package capture

// transpose stores all first bytes of the records of size bytes in src, then
// all second bytes, and so on. len(dst) is len(src), a multiple of size.
func transpose(dst, src []byte, size int) {
	n := len(src) / size
	for i := range n {
		for j := range size {
			dst[j*n+i] = src[i*size+j]
		}
	}
}

// restore is the inverse of transpose.
func restore(dst, src []byte, size int) {
	n := len(src) / size
	for i := range n {
		for j := range size {
			dst[i*size+j] = src[j*n+i]
		}
	}
}
