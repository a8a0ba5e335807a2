// SPDX-License-Identifier: Apache-2.0

package sim

import (
	"github.com/txtrace/txtrace/internal/event"
	"github.com/txtrace/txtrace/internal/model"
)

// transmit is __dev_queue_xmit, of the topmost device.
func (c *cpu) transmit(p packet) { c.stacked(p, c.s.cfg.Device.Stacked) }

// bottom is __dev_queue_xmit of the device itself, from the choice of a queue on.
func (c *cpu) bottom(p packet) {
	s := c.s
	if s.cfg.Extras.Choice.On && p.from != nil {
		p.Queue = c.choose(&p)
	}
	q := s.queues[p.Queue].qdisc
	if q == nil {
		c.noqueue(p)
		return
	}
	c.pass(s.cfg.Costs.Enqueue)
	q.accept(c, p)
}

// accept is __dev_xmit_skb of a qdisc with a lock: an empty one that nobody
// runs is bypassed; else the packet waits, and whoever is free runs it.
func (q *qdisc) accept(c *cpu, p packet) {
	if q.flags&event.QdiscCanBypass != 0 && q.owner == nil && q.waiting() == 0 {
		q.take(c)
		q.sends(&p)
		q.list = append(q.list[:0], p)
		q.passing = true
		if q.direct(c, nil, q.list) {
			q.run(c, event.WhoBypass)
		}
		q.passing = false
		q.release()
		return
	}
	q.enqueue(c, p)
	if q.owner == nil {
		q.take(c)
		q.run(c, event.WhoEnqueue)
		q.release()
	}
}

// noqueue sends on a device without a qdisc: under the queue's lock, and what
// cannot be sent is lost.
func (c *cpu) noqueue(p packet) {
	s := c.s
	txq := s.queues[p.Queue]
	list := []packet{p}
	if p.IsGSO() && !s.cfg.Device.TSO {
		list = p.segment(nil)
	}
	c.pass(s.cfg.Costs.Direct)
	rest := list
	txq.take(c)
	if !txq.stopped() {
		f := s.out.handoverBegin(c, txq)
		rest = list[txq.handover(c, f, list):]
		s.out.handoverEnd(c, txq, f)
	}
	txq.release()
	for i := range rest {
		c.drop(rest[i])
	}
}

func (c *cpu) drop(p packet) {
	c.s.summary.Dropped++
	p.free(c)
	c.s.lost(p)
}

// past is __dev_direct_xmit: neither the qdisc nor BQL is asked, what cannot be
// sent is lost, and no program sees it.
func (c *cpu) past(p packet) {
	txq := c.s.queues[p.Queue]
	list := []packet{p}
	if p.IsGSO() && !c.s.cfg.Device.TSO {
		list = p.segment(nil)
	}
	c.pass(c.s.cfg.Costs.Direct)
	for _, p := range list {
		txq.take(c)
		if txq.state&(model.QueueDrv|model.QueueFrozen) == 0 && txq.xmit(c, p, false) {
			c.s.summary.Sent++
			txq.transStart = c.s.jiffies()
		} else {
			c.drop(p)
		}
		txq.release()
	}
}

// take is HARD_TX_LOCK: another CPU may be in the driver, where no qdisc keeps
// it away.
func (q *queue) take(c *cpu) {
	for q.lock != nil {
		q.waiters = append(q.waiters, c)
		if !c.yield(struct{}{}) {
			panic(errStopped)
		}
	}
	q.lock = c
}

func (q *queue) release() {
	q.lock = nil
	for _, w := range q.waiters {
		q.s.agenda.plan(q.s.now, evResume, w.id)
	}
	q.waiters = q.waiters[:0]
}

// handover is dev_hard_start_xmit under the queue's lock. It returns how many
// packets the driver took.
func (q *queue) handover(c *cpu, f *handFrame, list []packet) int {
	out := q.s.out
	out.handBegin(c, q, f, list)
	h := model.HandOver(q.s.kernel.stop, len(list), func(i int, more bool) (bool, model.QueueState) {
		segment := more && list[i].addr/skbSize == list[i+1].addr/skbSize
		more = model.More(q.s.kernel.doorbell, more, segment)
		g := out.give(q)
		took := q.xmit(c, list[i], more)
		out.given(c, q, &g, &list[i], more, took)
		out.attempt(c, q, f, took)
		return took, q.state
	})
	q.s.summary.Sent += uint64(h.Sent)
	out.handEnd(c, q, f, h, list)
	return h.Sent
}
