// SPDX-License-Identifier: Apache-2.0

package capture

import (
	"cmp"
	"slices"
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
	order []uint16           // indexes into vals in the order of the values
	place []uint16           // where an index goes when vals is sorted
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

func addrSlot(v uint64) uint64 { return v * 0x9e3779b97f4a7c15 >> 48 }

// index of v, which joins the list if it is new.
func (a *addrs) index(v uint64) uint64 {
	if v == 0 {
		return 0
	}
	for s := addrSlot(v); ; s++ {
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
	for _, off := range l.addrs {
		var last, index uint64 // of the record before
		p := unsafe.Pointer(&m[:n*l.size/8][off/8])
		for off := 0; off < n*l.size; off += l.size {
			v := (*uint64)(unsafe.Add(p, off))
			if *v != last {
				last = *v
				// Slot 0 of a free place is the value 0, so a hit is one that is
				// in the list.
				if index = uint64(a.slots[addrSlot(last)%addrSlots]); a.vals[index] != last {
					index = a.index(last)
				}
			}
			*v = index
		}
	}
}

// sort brings the list into ascending order, for neighbours to differ little.
// The indexes that fold gave are void then, until move has run over them.
func (a *addrs) sort() {
	n := len(a.vals)
	a.order = grow(a.order[:0], n)
	a.place = grow(a.place[:0], n)
	for i := range a.order {
		a.order[i] = uint16(i)
	}
	slices.SortFunc(a.order, func(i, j uint16) int { return cmp.Compare(a.vals[i], a.vals[j]) })
	for i, o := range a.order {
		a.place[o] = uint16(i)
	}
	slices.Sort(a.vals)
}

// move brings the indexes of n records up to date after sort.
func (a *addrs) move(m words, n int, l *layout) {
	for _, off := range l.addrs {
		p := unsafe.Pointer(&m[:n*l.size/8][off/8])
		for off := 0; off < n*l.size; off += l.size {
			v := (*uint64)(unsafe.Add(p, off))
			*v = uint64(a.place[*v])
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
