// SPDX-License-Identifier: Apache-2.0

package sim

import (
	"cmp"
	"maps"
	"slices"

	"github.com/txtrace/txtrace/internal/event"
	"github.com/txtrace/txtrace/internal/model"
)

// handFrame is a hand-over under way.
type handFrame struct {
	rec    event.Handover // alone; inside a direct only Hand is used
	hand   *event.Hand
	begin  uint64
	flags  uint8
	queued uint32 // num_queued after the attempt before
}

// directFrame is a sch_direct_xmit under way.
type directFrame struct {
	rec   event.Direct
	begin uint64
	hand  handFrame
}

func (o *recorder) directBegin(c *cpu, q *qdisc, txq *queue, r *runFrame, list []packet) *directFrame {
	c.lane.count(progDirectBegin)
	d := o.directs.get()
	*d = directFrame{begin: o.s.now}
	d.hand.hand = &d.rec.Hand
	rec := &d.rec
	rec.First, rec.Parent = list[0].addr, c.parent()
	rec.RequeuesBegin, rec.GsoQlenBegin, rec.TxqStateBegin = q.requeues, uint32(q.gso()), uint8(txq.state)
	if !list[0].retry {
		rec.Validate = 1
	}
	if r != nil {
		r.rec.Directs++
		rec.From = event.FromDequeue
		rec.Packets, rec.Bytes, rec.GsoSegs, rec.PktLen = r.deq.Packets, r.deq.Bytes, r.deq.GsoSegs, r.deq.PktLen
	} else {
		rec.From = event.FromBypass
		rec.Packets, rec.Bytes, rec.GsoSegs, rec.PktLen = 1, list[0].Len, uint32(list[0].Segments()), uint32(list[0].WireLen())
	}
	c.push(d.begin)
	return d
}

func (o *recorder) directEnd(c *cpu, q *qdisc, txq *queue, d *directFrame, sent bool) {
	c.pop()
	o.directs.put(d)
	rec := &d.rec
	rec.RequeuesEnd, rec.GsoQlenEnd, rec.TxqStateEnd = q.requeues, uint32(q.gso()), uint8(txq.state)
	if sent {
		rec.Result = 1
	}
	c.lane.count(progDirectEnd)
	if d.quiet(sent) {
		o.addQuiet(c, uint32(txq.index), q.handle, d.begin, rec.Bytes)
		return
	}
	rec.Ifindex, rec.Txq = Ifindex, uint16(txq.index)
	rec.Qdisc, rec.QdiscFlags, rec.Handle = q.addr, q.flags, q.handle
	rec.BadQlenEnd, rec.QdiscStateEnd = uint32(q.bad.n), q.stateBits()
	rec.Flags |= d.hand.flags
	put(o, c, &rec.Header, rec, d.begin)
}

// quiet says whether a send went as internal/event says of Quiet.
func (d *directFrame) quiet(sent bool) bool {
	r, h := &d.rec, &d.rec.Hand
	return sent && r.From == event.FromBypass && r.Handovers == 1 && r.PktLen == r.Bytes && h.Packets == 1 &&
		h.Attempts == 1 && h.RC == 0 && h.Rest == 0 && h.More == 0 && h.Foreign == 0 && h.Bytes == r.Bytes &&
		(h.Charged == h.Bytes || h.NumQueuedEnd == 0) &&
		r.TxqStateBegin|r.TxqStateEnd|h.TxqStateBegin|h.TxqStateEnd == 0 &&
		r.RequeuesBegin == r.RequeuesEnd && r.GsoQlenEnd == 0 && d.hand.flags == 0
}

// Bounds of a Quiet record: sends, and their time in ns.
const (
	quietMost = 64
	quietSpan = 100_000_000
)

func (o *recorder) addQuiet(c *cpu, txq, handle uint32, begin uint64, bytes uint32) {
	l := &c.lane
	key := quietKey{txq, handle}
	if l.last == nil || l.key != key {
		l.key, l.last = key, l.quiet[key]
		if l.last == nil {
			l.last = new(event.Quiet)
			l.quiet[key] = l.last
		}
	}
	r := l.last
	if r.Packets >= quietMost || r.Packets > 0 && begin-r.Time > quietSpan {
		flushed := *r
		flushed.Ifindex, flushed.Txq = Ifindex, uint16(txq)
		l.count(progQuiet)
		put(o, c, &flushed.Header, &flushed, r.Time)
		*r = event.Quiet{}
	}
	if r.Packets == 0 {
		r.Handle, r.Time = handle, begin
	}
	r.Packets++
	r.Bytes += bytes
}

// quiets writes the sends that are still only counted.
func (o *recorder) quiets() {
	for _, c := range o.s.cpus {
		keys := slices.SortedFunc(maps.Keys(c.lane.quiet), func(a, b quietKey) int {
			return cmp.Or(cmp.Compare(a.txq, b.txq), cmp.Compare(a.handle, b.handle))
		})
		for _, key := range keys {
			r := c.lane.quiet[key]
			if r.Packets == 0 {
				continue
			}
			r.Dur = uint32(min(o.s.now-r.Time, 1<<32-1))
			r.Ifindex, r.Netns, r.Txq = Ifindex, Netns, uint16(key.txq)
			own(o, &r.Header, r)
		}
	}
}

func (o *recorder) handoverBegin(c *cpu, q *queue) *handFrame {
	f := &handFrame{begin: o.s.now}
	f.hand = &f.rec.Hand
	f.rec.Parent = c.parent()
	c.push(f.begin)
	return f
}

func (o *recorder) handoverEnd(c *cpu, q *queue, f *handFrame) {
	c.pop()
	f.rec.Ifindex, f.rec.Txq = Ifindex, uint16(q.index)
	f.rec.Flags |= f.flags
	put(o, c, &f.rec.Header, &f.rec, f.begin)
}

func (o *recorder) handBegin(c *cpu, q *queue, f *handFrame, list []packet) {
	c.lane.count(progHandoverBegin)
	h := f.hand
	h.First, h.Packets = list[0].addr, uint32(len(list))
	for i := range list {
		h.Bytes += list[i].Len
	}
	h.NumQueuedBegin, h.NumComplBegin, h.AdjLimitBegin, h.TxqStateBegin = q.now()
	h.TxqStateLast = h.TxqStateBegin
	f.queued = h.NumQueuedBegin
	h.Foreign = event.ForeignUnknown
	if q.sent {
		h.Foreign = h.NumQueuedBegin - q.charged
	}
}

// attempt accounts one call of the driver.
func (o *recorder) attempt(c *cpu, q *queue, f *handFrame, took bool) {
	c.lane.count(progAttempt)
	h := f.hand
	h.Attempts++
	charged := q.dql.NumQueued - f.queued
	f.queued = q.dql.NumQueued
	h.TxqStateLast = uint8(q.state)
	if !took {
		h.DriverRC = txBusy
		h.Busy++
		h.BusyCharged += charged
		return
	}
	h.DriverRC = 0
	h.Charged += charged
	if charged == 0 {
		h.Uncharged++
	}
	switch {
	case h.Attempts >= h.Packets || q.state&model.QueueDrv != 0:
		h.OwedDrv++
		h.OwedAny++
	case q.state&model.QueueStack != 0:
		h.OwedAny++
	}
}

const txBusy = 0x10 // NETDEV_TX_BUSY

func (o *recorder) handEnd(c *cpu, q *queue, f *handFrame, sum model.Handover, list []packet) {
	c.lane.count(progHandoverEnd)
	h := f.hand
	c.more = 0
	if sum.More {
		c.more = 1
	}
	c.handovers++
	h.More = c.more
	h.NumQueuedEnd, h.NumComplEnd, h.AdjLimitEnd, h.TxqStateEnd = q.now()
	q.sent, q.charged = true, h.NumQueuedEnd
	h.RC = h.DriverRC
	if sum.Sent < len(list) {
		h.RC = txBusy
		h.Rest, h.RestFirst = uint32(len(list)-sum.Sent), list[sum.Sent].addr
	}
}
