// SPDX-License-Identifier: Apache-2.0

package model

// Packet is a skb as the transmit path sees it.
type Packet struct {
	Len     uint32 // skb->len in bytes: a GSO skb counts once, with its headers once
	Queue   uint16 // transmit queue
	GSOSize uint16 // payload bytes of a segment; 0: not a GSO skb
	Header  uint16 // bytes of headers that each segment repeats
	Drop    bool   // validation drops it: no memory, no checksum, no route for its crypto
}

// IsGSO is skb_is_gso.
func (p Packet) IsGSO() bool {
	return p.GSOSize != 0
}

// Segments is how many frames the packet is on the wire: gso_segs, or 1.
func (p Packet) Segments() int {
	payload := int(p.Len) - int(p.Header)
	if !p.IsGSO() || payload <= 0 {
		return 1
	}
	return (payload + int(p.GSOSize) - 1) / int(p.GSOSize)
}

// WireLen is qdisc_pkt_len without a size table: the bytes of all segments,
// headers repeated.
func (p Packet) WireLen() uint64 {
	return uint64(p.Len) + uint64(p.Segments()-1)*uint64(p.Header)
}

// Validate is validate_xmit_skb: it appends to dst what becomes of a packet,
// which is nothing if it is dropped, the packet itself if the device takes it
// as it is, or else its segments in order (000; the device has TSO, or not).
func Validate(dst []Packet, p Packet, tso bool) []Packet {
	switch {
	case p.Drop:
		return dst
	case tso || !p.IsGSO():
		return append(dst, p)
	}
	left := p.Len - min(p.Len, uint32(p.Header))
	for range p.Segments() {
		size := min(left, uint32(p.GSOSize))
		dst = append(dst, Packet{Len: uint32(p.Header) + size, Queue: p.Queue})
		left -= size
	}
	return dst
}

// ValidateList is validate_xmit_skb_list, which keeps the order. A dropped
// packet is missing from the list; it does not end it, other than at a dequeue
// under ValidateLocked. An empty result is nothing to hand over, and the run
// goes on (000, "validate skb without holding lock").
func ValidateList(dst, list []Packet, tso bool) []Packet {
	for _, p := range list {
		dst = Validate(dst, p, tso)
	}
	return dst
}

// LegalValidated says whether n packets of bytes in all may be what validation
// made of a list of segs segments and wire bytes (rule V1). More of either
// means a list with a wrong tail, as skb_segment must give it in segs->prev
// (000, "skb_segment() provides list head and tail").
func LegalValidated(segs int, wire uint64, n int, bytes uint64) bool {
	return n <= segs && bytes <= wire
}
