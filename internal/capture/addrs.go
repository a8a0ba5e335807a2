// SPDX-License-Identifier: Apache-2.0

package capture

import (
	"unsafe"

	"github.com/txtrace/txtrace/internal/event"
)

// kindAddrs is the kind of the block that holds a group's address list. It is
// no record kind.
const kindAddrs = event.KindInvalid

// addrs is the list of the different addresses of one group, which its records
// name by index: half of their bytes would be addresses otherwise. Index 0 is
// the value 0.
type addrs struct {
	vals  words
	slots *[addrSlots]uint16 // hash table of indexes into vals, 0 is free
}

const addrSlots = 2 * maxAddrs

func (a *addrs) reset() {
	if a.slots == nil {
		a.slots = new([addrSlots]uint16)
	} else {
		clear(a.slots[:])
	}
	a.vals = append(a.vals[:0], 0)
}

// index of v, which joins the list if it is new.
func (a *addrs) index(v uint64) uint64 {
	if v == 0 {
		return 0
	}
	for s := v * 0x9e3779b97f4a7c15 >> 49; ; s++ {
		slot := &a.slots[s%addrSlots]
		if *slot == 0 {
			*slot = uint16(len(a.vals))
			a.vals = append(a.vals, v)
			return uint64(*slot)
		}
		if a.vals[*slot] == v {
			return uint64(*slot)
		}
	}
}

// fold replaces the addresses of n records by their indexes.
func (a *addrs) fold(m words, n int, l *layout) {
	step := l.size / 8
	for _, off := range l.addrs {
		var last, index uint64 // of the record before
		p := unsafe.Pointer(&m[:n*step][off/8])
		for off := 0; off < n*l.size; off += l.size {
			v := (*uint64)(unsafe.Add(p, off))
			if *v != last {
				last, index = *v, a.index(*v)
			}
			*v = index
		}
	}
}

// unfold is the inverse of fold. It is false when an index is not in the list.
func (a *addrs) unfold(m words, n int, l *layout) bool {
	for _, off := range l.addrs {
		p := unsafe.Pointer(&m[:n*l.size/8][off/8])
		for off := 0; off < n*l.size; off += l.size {
			v := (*uint64)(unsafe.Add(p, off))
			if *v >= uint64(len(a.vals)) {
				return false
			}
			*v = a.vals[*v]
		}
	}
	return true
}
