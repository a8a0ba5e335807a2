// SPDX-License-Identifier: Apache-2.0

package sim

import (
	"slices"
	"time"

	"github.com/txtrace/txtrace/internal/event"
	"github.com/txtrace/txtrace/internal/model"
)

// qdisc is a queueing discipline with the lock that lets one CPU run it.
type qdisc struct {
	s         *sim
	index     int    // queue that it serves, 0 for a shared root
	txq       uint16 // in records: event.NoQueue for a shared root
	kind      string
	flags     uint32
	addr      uint64
	handle    uint32
	parent    uint32
	fresh     fifo
	parked    [][]packet // gso_skb
	bad       fifo       // skb_bad_txq
	owner     *cpu       // who runs it
	passing   bool       // because of a packet that passes it by
	scheduled bool       // __QDISC_STATE_SCHED

	packets, bytes, drops uint64 // bstats and qstats
	requeues              uint32

	list  []packet // of the batch under way, used again
	spare []packet
}

func newQdiscs(s *sim) []*qdisc {
	kind := s.cfg.Qdisc.Kind
	if kind == QdiscNone {
		return nil
	}
	if kind == QdiscShared {
		q := &qdisc{s: s, kind: kind, txq: event.NoQueue, addr: qdiscBase, handle: 0x80010000, parent: rootHandle}
		for _, txq := range s.queues {
			txq.qdisc = q
		}
		return []*qdisc{q}
	}
	var list []*qdisc
	for i, txq := range s.queues {
		q := &qdisc{s: s, index: i, txq: uint16(i), kind: kind, addr: qdiscBase + uint64(i)<<9, handle: 0x80010000, parent: rootHandle}
		q.flags = event.QdiscOneTxQueue | event.QdiscCanBypass
		if kind == QdiscMq {
			q.kind, q.handle, q.parent = QdiscFqCodel, 0, mqHandle+uint32(i)+1
		}
		txq.qdisc = q
		list = append(list, q)
	}
	return list
}

// Handles as tc spells them.
const (
	rootHandle = 0xffffffff
	mqHandle   = 0x80010000
	qdiscBase  = 0xffff_8881_0000_0000
)

func (q *qdisc) oneTxQueue() bool { return q.flags&event.QdiscOneTxQueue != 0 }

// gso is the length of gso_skb as the kernel counts it: a list is one.
func (q *qdisc) gso() int { return len(q.parked) }

// waiting is q.qlen.
func (q *qdisc) waiting() int { return q.fresh.n + q.gso() + q.bad.n }

// take is qdisc_run_begin for a qdisc that nobody runs.
func (q *qdisc) take(c *cpu) {
	q.owner = c
}

// release is qdisc_run_end.
func (q *qdisc) release() {
	q.owner = nil
	q.s.load.moved(q)
}

// schedule is __netif_schedule.
func (q *qdisc) schedule(c *cpu) {
	if q.scheduled {
		return
	}
	q.scheduled = true
	if q.s.load.load != nil {
		q.s.load.schedule(q.s)
		return
	}
	c.output = append(c.output, q)
	q.s.out.listed(c, q)
	c.wake()
}

// enqueue takes a packet, or drops it.
func (q *qdisc) enqueue(c *cpu, p packet) {
	if q.fresh.n >= q.s.cfg.Qdisc.Limit {
		q.drops++
		q.s.summary.Dropped++
		q.s.lost(p)
		p.free(c)
		return
	}
	q.fresh.put(p)
}

// sends counts a packet as bstats does.
func (q *qdisc) sends(p *packet) {
	q.packets += uint64(p.Segments())
	q.bytes += p.WireLen()
}

// run is __qdisc_run. The caller owns the qdisc.
func (q *qdisc) run(c *cpu, who uint8) {
	r := q.s.out.runBegin(c, q, who)
	c.pass(q.s.cfg.Costs.Run)
	cfg := q.s.cfg
	quota := model.Quota{Charge: q.s.kernel.quota, Weight: cfg.Weight, Resched: q.s.kernel.resched, Slice: uint64(cfg.Slice)}
	tick := q.s.jiffies()
	sum := quota.Run(func(left int) model.Restart {
		begin := q.s.now
		one := q.restart(c, r, left)
		one.Time = q.s.now - begin
		one.NeedResched = len(c.ready) > 0 && q.s.jiffies() != tick // its time slice is over
		return one
	})
	if sum.Spent || sum.Yielded {
		q.s.out.rescheduled(c, r)
		q.schedule(c)
	}
	q.s.out.runEnd(c, q, r)
}

// restart is qdisc_restart.
func (q *qdisc) restart(c *cpu, r *runFrame, left int) (one model.Restart) {
	list, counted, from, seen := q.dequeue(c, r, left)
	if len(list) == 0 {
		if seen {
			q.s.out.empty(c, r)
		}
		return one
	}
	q.s.load.moved(q)
	q.s.out.dequeue(c, q, r, list, counted)
	one.Packets, one.FromGSOSkb = counted, from
	for i := range list {
		one.Segments += list[i].Segments()
	}
	one.Again = q.direct(c, r, list)
	return one
}

// dequeue is dequeue_skb. counted is the kernel's own count of the list, seen
// says that an empty one meets the tracepoint: it does not where a stopped
// queue makes the kernel return early.
func (q *qdisc) dequeue(c *cpu, r *runFrame, left int) (list []packet, counted int, fromGSOSkb, seen bool) {
	s := q.s
	if len(q.parked) > 0 {
		if s.queues[q.parked[0][0].Queue].stopped() {
			return nil, 0, false, true
		}
		c.pass(s.cfg.Costs.batch(r))
		list = q.parked[0]
		q.parked = q.parked[1:]
		return list, 1, true, true
	}
	if q.oneTxQueue() && s.queues[q.index].stopped() {
		return nil, 0, false, false
	}
	var head packet
	switch {
	case q.bad.n > 0:
		if s.queues[q.bad.first().Queue].stopped() {
			return nil, 0, false, false
		}
		head = q.bad.take()
	case q.fresh.n > 0:
		head = q.next()
	default:
		return nil, 0, false, true
	}
	c.pass(s.cfg.Costs.batch(r))
	d := model.Dequeue{
		Bulk: s.kernel.bulk, GSO: s.kernel.bulkGSO, Validate: s.kernel.validate, Quota: s.kernel.quota,
		OneTxQueue: q.oneTxQueue(), BQL: s.cfg.Device.BQL, Left: left,
		MoreLimit: s.cfg.MoreLimit, ByteCap: s.cfg.ByteCap,
	}
	if d.BQL {
		d.Avail = s.queues[head.Queue].dql.Avail()
	}
	q.list = append(q.list[:0], head)
	_, _, stray := d.Take(head.Packet, func() (model.Packet, bool) {
		if q.fresh.n == 0 {
			return model.Packet{}, false
		}
		p := q.next()
		c.pass(s.cfg.Costs.Dequeue)
		q.list = append(q.list, p)
		return p.Packet, true
	})
	if stray != nil {
		last := len(q.list) - 1
		q.bad.put(q.list[last])
		q.list = q.list[:last]
	}
	return q.list, len(q.list), false, true
}

// batch is what the first packet of a batch takes.
func (c *Costs) batch(r *runFrame) time.Duration {
	cost := c.Batch + c.Dequeue
	if r.rec.Dequeues == 0 {
		cost += c.First
	}
	return cost
}

// next gives a packet of the qdisc's own.
func (q *qdisc) next() packet {
	p := q.fresh.take()
	q.sends(&p)
	return p
}

// direct is sch_direct_xmit: false when something was put back. r is nil for a
// packet that never sat in the qdisc.
func (q *qdisc) direct(c *cpu, r *runFrame, list []packet) bool {
	s := q.s
	txq := s.queues[list[0].Queue]
	d := s.out.directBegin(c, q, txq, r, list)
	cost := s.cfg.Costs.Direct
	if r == nil {
		cost = s.cfg.Costs.Bypass
	}
	c.pass(cost)
	list = q.validate(c, list)
	rest := list
	txq.take(c)
	if !txq.stopped() {
		rest = list[txq.handover(c, &d.hand, list):]
		d.rec.Handovers = 1
	}
	txq.release()
	if len(rest) > 0 {
		q.putBack(c, rest)
	}
	s.out.directEnd(c, q, txq, d, len(rest) == 0)
	return len(rest) == 0
}

// validate is validate_xmit_skb_list: GSO packets become segments when the
// device does not make them itself.
func (q *qdisc) validate(c *cpu, list []packet) []packet {
	if q.s.cfg.Device.TSO || !slices.ContainsFunc(list, func(p packet) bool { return p.IsGSO() }) {
		return list
	}
	q.spare = q.spare[:0]
	for i := range list {
		if list[i].IsGSO() {
			c.pass(time.Duration(list[i].Segments()) * q.s.cfg.Costs.Segment)
			q.spare = list[i].segment(q.spare)
		} else {
			q.spare = append(q.spare, list[i])
		}
	}
	return q.spare
}

// putBack is dev_requeue_skb.
func (q *qdisc) putBack(c *cpu, rest []packet) {
	kept := slices.Clone(rest)
	for i := range kept {
		kept[i].retry = true
	}
	q.parked = model.Requeue(q.s.kernel.requeue, q.parked, kept)
	q.requeues += uint32(model.Requeues(q.s.kernel.requeue, len(rest)))
	q.schedule(c)
}
