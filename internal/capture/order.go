// SPDX-License-Identifier: Apache-2.0

package capture

import (
	"cmp"
	"slices"

	"github.com/txtrace/txtrace/internal/event"
)

// lookahead is for how many further groups the reader waits for a missing
// sequence number before it is a gap.
const lookahead = 4

// ref is a record waiting for its turn.
type ref struct {
	h *event.Header
	b *batch
}

// lane is one CPU's sequence.
type lane struct {
	cpu     uint16
	seen    bool   // a record was delivered
	blocked bool   // the next sequence number is missing so far
	next    uint32 // sequence number due
	key     uint64 // place in the merge: time, never going back on a CPU
	eff     uint64 // key of the record delivered last
	lastNS  uint64 // time of the record delivered last
	force   int    // records at the head that may wait no longer
	q       []ref  // by sequence; q[head:] waits
	head    int
	in      []ref // of the group being read, in file order
}

// order merges the lanes.
type order struct {
	lanes []*lane // by CPU plus one, so that event.UserCPU is 0
	heap  []*lane // lanes with waiting records, by (key, cpu)
	slots []ref   // scratch of sortRefs
	late  int64
}

func (o *order) lane(cpu uint16) *lane {
	i := int(cpu + 1)
	if i >= len(o.lanes) {
		o.lanes = append(o.lanes, make([]*lane, i+1-len(o.lanes))...)
	}
	if o.lanes[i] == nil {
		o.lanes[i] = &lane{cpu: cpu}
	}
	return o.lanes[i]
}

// add takes a record of the group being read.
func (o *order) add(h *event.Header, b *batch) {
	l := o.lane(h.CPU)
	l.in = append(l.in, ref{h, b})
}

// settle sorts what add took into the lanes. mark is the merge's watermark;
// records of groups before oldest may wait no longer.
func (o *order) settle(mark uint64, oldest int64) {
	o.heap = o.heap[:0]
	for _, l := range o.lanes {
		if l == nil {
			continue
		}
		if len(l.in) > 0 {
			o.insert(l)
		}
		l.force = 0
		for i := len(l.q); i > l.head; i-- {
			if l.q[i-1].b.n < oldest {
				l.force = i - l.head
				break
			}
		}
		if l.head < len(l.q) {
			l.rekey(mark)
			o.heap = append(o.heap, l)
		}
	}
	for i := len(o.heap)/2 - 1; i >= 0; i-- {
		o.down(i)
	}
}

// insert sorts l.in into l.q and drops what came too late or twice.
func (o *order) insert(l *lane) {
	l.q = append(l.q[:0], l.q[l.head:]...)
	l.head = 0
	old := len(l.q)
	for _, r := range l.in {
		if l.seen && int32(r.h.Seq-l.next) < 0 {
			o.late++
			r.b.left--
			continue
		}
		l.q = append(l.q, r)
	}
	l.in = l.in[:0]
	slices.SortStableFunc(l.q, func(a, b ref) int { return cmp.Compare(a.h.Seq-l.next, b.h.Seq-l.next) })
	_ = old
	n := 0
	for i, r := range l.q {
		if i > 0 && r.h.Seq == l.q[n-1].h.Seq {
			o.late++
			r.b.left--
			continue
		}
		l.q[n] = r
		n++
	}
	l.q = l.q[:n]
}

func (l *lane) rekey(mark uint64) {
	h := l.q[l.head].h
	l.blocked = h.Seq != l.next
	l.key = l.eff
	if !l.blocked {
		t := h.Time
		if l.force > 0 {
			t = min(t, mark)
		}
		l.key = max(l.eff, t)
	}
}

func less(a, b *lane) bool { return a.key < b.key || a.key == b.key && a.cpu < b.cpu }

// down restores the heap below i.
func (o *order) down(i int) {
	for {
		c := 2*i + 1
		if c >= len(o.heap) {
			return
		}
		if c+1 < len(o.heap) && less(o.heap[c+1], o.heap[c]) {
			c++
		}
		if !less(o.heap[c], o.heap[i]) {
			return
		}
		o.heap[i], o.heap[c] = o.heap[c], o.heap[i]
		i = c
	}
}

// pop takes the head of the top lane, which is not blocked.
func (o *order) pop(mark uint64) ref {
	l := o.heap[0]
	r := l.q[l.head]
	l.head++
	l.next = r.h.Seq + 1
	l.seen = true
	l.eff, l.lastNS = l.key, r.h.Time
	if l.force > 0 {
		l.force--
	}
	if l.head < len(l.q) {
		l.rekey(mark)
	} else {
		n := len(o.heap) - 1
		o.heap[0] = o.heap[n]
		o.heap = o.heap[:n]
	}
	o.down(0)
	return r
}

// skip gives up what is missing before the head of the top lane.
func (o *order) skip(mark, begin uint64) *Gap {
	l := o.heap[0]
	h := l.q[l.head].h
	g := l.gap(h.Seq, h.Time, begin)
	l.next = h.Seq
	l.rekey(mark)
	o.down(0)
	return g
}

// gap is the hole from the lane's next sequence number up to before.
func (l *lane) gap(before uint32, at, begin uint64) *Gap {
	g := &Gap{CPU: l.cpu, AfterSeq: l.next - 1, BeforeSeq: before, Lost: before - l.next, FromNS: l.lastNS, ToNS: at}
	if !l.seen {
		g.Start, g.FromNS = true, begin
	}
	g.FromNS, g.ToNS = min(g.FromNS, g.ToNS), max(g.FromNS, g.ToNS)
	return g
}
