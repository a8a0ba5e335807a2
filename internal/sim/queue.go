// SPDX-License-Identifier: Apache-2.0

package sim

import (
	"time"

	"github.com/txtrace/txtrace/internal/event"
	"github.com/txtrace/txtrace/internal/model"
)

// queue is one transmit queue: its state, BQL, and the driver's ring.
type queue struct {
	s     *sim
	index int
	state model.QueueState
	dql   model.DQL
	qdisc *qdisc

	used  int   // descriptors
	ring  []out // packets in the ring, oldest first, from head on
	head  int
	rung  int  // index of the first that the device was not told of
	asked bool // an interrupt is planned

	lock    *cpu   // HARD_TX_LOCK
	waiters []*cpu // for it

	transStart uint64 // jiffies at which the driver last took a packet

	sent    bool   // a hand-over was seen
	charged uint32 // num_queued at its end
	packets uint64 // tx_packets, in skbs, as virtio_net counts them
	bytes   uint64
}

// out is a packet in the ring.
type out struct {
	packet
	descriptors int
	done        uint64 // when the link has sent it; 0 before the device knows of it
}

func newQueue(s *sim, i int) *queue {
	q := &queue{s: s, index: i}
	if d := &s.cfg.Device; d.BQL {
		q.dql = model.NewDQL(uint32(s.cfg.HZ), s.jiffies())
		q.dql.MinLimit, q.dql.MaxLimit = d.LimitMin, d.LimitMax
		q.dql.Reset(s.kernel.reset, s.jiffies())
		q.dql.Limit = max(q.dql.Limit, d.Limit)
		q.dql.AdjLimit = q.dql.Limit
	}
	return q
}

func (q *queue) free() int { return q.s.cfg.Device.Ring - q.used }

// stopped says whether a hand-over may not begin.
func (q *queue) stopped() bool { return !model.Startable(q.state) }

// xmit is ndo_start_xmit: whether the driver takes the packet.
func (q *queue) xmit(c *cpu, p packet, more bool) bool {
	d := &q.s.cfg.Device
	c.pass(q.s.cfg.Costs.Driver)
	if d.Completion == CompleteXmit {
		q.complete(c, event.SourceXmit)
	}
	n := d.descriptors(p.Len)
	if q.free() < n { // only a driver that does not look ahead comes here
		q.state |= model.QueueDrv
		q.kick(c)
		return false
	}
	q.used += n
	q.ring = append(q.ring, out{packet: p, descriptors: n})
	q.packets++
	q.bytes += p.WireLen()
	if !d.Busy && q.free() < d.Stop {
		q.state |= model.QueueDrv
	}
	ring := model.Rings(q.s.kernel.doorbell, more, q.state)
	if d.BQL {
		var err error
		if q.state, ring, err = q.dql.Charge(q.s.kernel.doorbell, q.s.kernel.object, p.Len, more, q.state); err != nil {
			q.s.fail(err)
		}
	}
	if ring {
		q.kick(c)
	}
	return true
}

// kick rings the doorbell: the device knows of all that is in the ring, and
// what it has sent may be reported before the CPU is through.
func (q *queue) kick(c *cpu) {
	if q.rung == len(q.ring) {
		return
	}
	s := q.s
	s.link = max(s.link, s.now)
	for ; q.rung < len(q.ring); q.rung++ {
		s.link += s.wire(&q.ring[q.rung].packet)
		q.ring[q.rung].done = s.link
	}
	q.ask()
	c.pass(s.cfg.Costs.Doorbell)
}

// frameExtra is what a frame takes of the link beside its bytes.
const frameExtra = 24

// wire is how long the link takes for a packet, with preamble, FCS and gap.
func (s *sim) wire(p *packet) uint64 {
	if s.cfg.Device.Rate == 0 {
		return 0
	}
	bytes := max(p.WireLen(), 60) + frameExtra*uint64(p.Segments())
	return bytes * 8 * 1_000_000_000 / s.cfg.Device.Rate
}

// ask plans the interrupt that reports the oldest packet, if none is planned.
func (q *queue) ask() {
	if q.asked || q.head == len(q.ring) || q.ring[q.head].done == 0 {
		return
	}
	q.asked = true
	q.s.agenda.plan(q.s.load.interruptAt(q.s, q.ring[q.head].done), evDone, q.index)
}

// interrupt is the device's: the driver completes in it, or in a poll.
func (q *queue) interrupt() {
	s := q.s
	q.asked = false
	c := s.cpus[s.load.irq(s)]
	cost := s.cfg.Costs.Complete
	if s.cfg.Device.Completion != CompleteHardirq {
		c.interrupt(cost/4, func() { c.poll = append(c.poll, q) })
		c.wake()
		return
	}
	n := 0
	c.interrupt(cost, func() {
		n = q.complete(c, event.SourceHardirq)
		c.lane.count(progCompleteHardirq)
	})
	if !c.idle {
		c.stolen += uint64(n) * uint64(s.cfg.Costs.Free)
	}
	c.wake()
}

// napi is a poll of the queue.
func (q *queue) napi(c *cpu) {
	c.pass(q.s.cfg.Costs.Complete - q.late())
	n := q.complete(c, event.SourceNAPI)
	c.lane.count(progCompleteNAPI)
	c.pass(time.Duration(n) * q.s.cfg.Costs.Free)
}

// late is what passes of a poll between its question for room and its start of
// the queue. A driver that completes when it sends, too, holds the transmit lock
// in its polls: nobody charges the queue, or completes it, meanwhile.
func (q *queue) late() time.Duration {
	if q.s.cfg.Device.Completion == CompleteXmit {
		return 0
	}
	return q.s.cfg.Costs.Complete / 2
}

// complete reports what the link has sent: the driver's clean function.
func (q *queue) complete(c *cpu, source uint8) int {
	s := q.s
	var bytes uint32
	n := 0
	for ; q.head < q.rung && q.ring[q.head].done <= s.now; q.head++ {
		o := &q.ring[q.head]
		bytes += o.Len
		q.used -= o.descriptors
		s.acked(o)
		if source == event.SourceHardirq {
			c.freed = append(c.freed, o.packet)
		} else {
			o.free(c)
		}
		n++
	}
	q.shrink()
	if n > 0 {
		q.completed(c, bytes, source == event.SourceNAPI)
		if s.cfg.Device.BQL {
			s.out.complete(c, q, source)
		}
	}
	q.ask()
	return n
}

// completed is netdev_tx_completed_queue and the driver's own wake. A poll asks
// whether there is room, and starts the queue a moment later: a charge may come,
// and stop it, in between.
func (q *queue) completed(c *cpu, bytes uint32, poll bool) {
	wake := false
	if q.s.cfg.Device.BQL {
		if err := q.dql.Completed(bytes, q.s.jiffies()); err != nil {
			q.s.fail(err)
		}
		room := q.dql.Avail() >= 0
		if poll {
			c.pass(q.late())
		}
		if wake = room && q.state&model.QueueStack != 0; wake {
			q.state &^= model.QueueStack
		}
	}
	if q.state&model.QueueDrv != 0 && q.free() >= q.s.cfg.Device.Wake {
		q.state &^= model.QueueDrv
		wake = true
	}
	if wake && q.qdisc != nil {
		q.qdisc.schedule(c)
		q.s.load.moved(q.qdisc)
	}
}

// shrink forgets what was completed.
func (q *queue) shrink() {
	if q.head < 256 || q.head < len(q.ring)/2 {
		return
	}
	n := copy(q.ring, q.ring[q.head:])
	q.ring = q.ring[:n]
	q.rung -= q.head
	q.head = 0
}

// fail ends the simulation: the kernel modelled would have stopped with BUG.
func (s *sim) fail(err error) {
	if s.err == nil {
		s.err = err
	}
}
