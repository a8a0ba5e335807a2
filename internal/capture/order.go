// SPDX-License-Identifier: Apache-2.0

package capture

import (
	"cmp"
	"slices"

	"github.com/txtrace/txtrace/internal/event"
)

// lookahead is for how many further groups the merge waits for a missing
// sequence number, see the package comment.
const lookahead = 8

// ref is a record waiting for its turn.
type ref struct {
	h *event.Header
	b *batch
}

// lane is one CPU's sequence.
type lane struct {
	cpu     uint16
	seen    bool   // a record was delivered
	queued  bool   // in the heap
	blocked bool   // the sequence number due is missing so far
	next    uint32 // sequence number due
	key     uint64 // place of the head in the merge: a time that never goes back on the CPU
	last    uint64 // key of the record delivered last
	lastNS  uint64 // time of the record delivered last
	force   int    // so many records at the head may wait no longer
	q       []ref  // by sequence; q[head:] waits
	head    int
	in      []*event.Header // of the group being read, in the file's order
}

// order merges the lanes by (key, CPU). A lane whose next record is missing
// holds back all that might come after it.
type order struct {
	lanes []*lane         // by CPU plus one, so that event.UserCPU is 0
	heap  []*lane         // lanes with waiting records
	fresh []*lane         // lanes with records in the group being read
	slots []*event.Header // scratch of place
	now   uint64          // of the last settle
	late  int64           // records dropped: too late, or a number that was there already
}

// lane of a CPU, made if need be.
func (o *order) lane(cpu uint16) *lane {
	i := int(cpu + 1)
	if i < len(o.lanes) && o.lanes[i] != nil {
		return o.lanes[i]
	}
	if i >= len(o.lanes) {
		o.lanes = append(o.lanes, make([]*lane, i+1-len(o.lanes))...)
	}
	o.lanes[i] = &lane{cpu: cpu}
	return o.lanes[i]
}

// add takes the n records of size bytes that lie in m, of the group being
// read.
func (o *order) add(m words, n, size int) {
	var l *lane
	for i := range n {
		h := header(m, i*size)
		if l == nil || l.cpu != h.CPU {
			l = o.lane(h.CPU)
			if len(l.in) == 0 {
				o.fresh = append(o.fresh, l)
			}
		}
		l.in = append(l.in, h)
	}
}

// settle ends a group: what was added, all in b, joins the lanes. Records of
// groups before oldest may wait no longer, and now is a time that is past.
func (o *order) settle(b *batch, now uint64, oldest int64) {
	o.now = now
	for _, l := range o.fresh {
		o.insert(l, b)
		if !l.queued && l.head < len(l.q) {
			l.queued = true
			o.heap = append(o.heap, l)
		}
	}
	o.fresh = o.fresh[:0]
	for _, l := range o.heap {
		l.force = 0
		for i := len(l.q); i > l.head && oldest > 0; i-- {
			if l.q[i-1].b.n < oldest {
				l.force = i - l.head
				break
			}
		}
		l.rekey(o.now)
	}
	for i := len(o.heap)/2 - 1; i >= 0; i-- {
		o.down(i)
	}
}

// insert sorts l.in into l.q.
func (o *order) insert(l *lane, b *batch) {
	l.q = append(l.q[:0], l.q[l.head:]...)
	l.head = 0
	in := l.in
	l.in = l.in[:0]
	lo, hi := ^uint32(0), uint32(0)
	n := 0
	for _, h := range in {
		d := h.Seq - l.next
		if l.seen && int32(d) < 0 {
			continue
		}
		in[n] = h
		n++
		lo, hi = min(lo, d), max(hi, d)
	}
	o.drop(b, len(in)-n)
	in = in[:n]
	if n == 0 {
		return
	}
	before := len(l.q)
	follows := before == 0 || lo > l.q[before-1].h.Seq-l.next
	if span := int64(hi) - int64(lo) + 1; follows && span <= int64(4*n+64) {
		o.place(l, in, b, lo, int(span))
		return
	}
	for _, h := range in {
		l.q = append(l.q, ref{h, b})
	}
	slices.SortStableFunc(l.q, func(x, y ref) int { return cmp.Compare(x.h.Seq-l.next, y.h.Seq-l.next) })
	l.q = slices.CompactFunc(l.q, func(x, y ref) bool {
		if x.h.Seq != y.h.Seq {
			return false
		}
		o.drop(y.b, 1)
		return true
	})
}

// place is insert for records that follow all in l.q and have sequence numbers
// close together: each goes straight to its place among span, from lo on.
func (o *order) place(l *lane, in []*event.Header, b *batch, lo uint32, span int) {
	o.slots = grow(o.slots[:0], span)
	clear(o.slots)
	for _, h := range in {
		slot := &o.slots[h.Seq-l.next-lo]
		if *slot != nil {
			o.drop(b, 1)
			continue
		}
		*slot = h
	}
	for _, h := range o.slots {
		if h != nil {
			l.q = append(l.q, ref{h, b})
		}
	}
}

func (o *order) drop(b *batch, n int) {
	o.late += int64(n)
	b.left -= n
}

// rekey finds the place of the lane's head in the merge. A time to come counts
// as now when the head may wait no longer: a clock that jumped must not hold
// records back for ever.
func (l *lane) rekey(now uint64) {
	h := l.q[l.head].h
	if l.blocked = h.Seq != l.next; l.blocked {
		l.key = l.last
		return
	}
	t := h.Time
	if l.force > 0 {
		t = min(t, now)
	}
	l.key = max(l.last, t)
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
func (o *order) pop() ref {
	l := o.heap[0]
	r := l.q[l.head]
	l.head++
	l.next = r.h.Seq + 1
	l.seen = true
	l.last, l.lastNS = l.key, r.h.Time
	if l.force > 0 {
		l.force--
	}
	if l.head < len(l.q) {
		l.rekey(o.now)
	} else {
		l.queued = false
		n := len(o.heap) - 1
		o.heap[0] = o.heap[n]
		o.heap = o.heap[:n]
	}
	o.down(0)
	return r
}

// skip gives up what is missing before the head of the top lane, which is
// blocked.
func (o *order) skip(begin uint64) Gap {
	l := o.heap[0]
	h := l.q[l.head].h
	g := l.gap(h.Seq, h.Time, begin)
	l.next = h.Seq
	l.rekey(o.now)
	o.down(0)
	return g
}

// gap is the hole from the number due up to before, which was taken at ns.
func (l *lane) gap(before uint32, ns, begin uint64) Gap {
	g := Gap{CPU: l.cpu, AfterSeq: l.next - 1, BeforeSeq: before, Lost: before - l.next, FromNS: l.lastNS, ToNS: ns}
	if !l.seen {
		g.Start, g.FromNS = true, begin
	}
	g.FromNS, g.ToNS = min(g.FromNS, g.ToNS), max(g.FromNS, g.ToNS)
	return g
}
