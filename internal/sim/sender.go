// SPDX-License-Identifier: Apache-2.0

package sim

import "github.com/txtrace/txtrace/internal/model"

// sender is a socket and the task that writes to it.
type sender struct {
	s        *sim
	index    int
	cpu      *cpu
	queue    uint16
	ready    bool // in its CPU's list
	wmem     uint32
	blocked  bool   // waits for wmem to fall
	next     uint64 // when its next packet is due
	interval uint64 // ns between packets, or bursts
	burst    int    // packets left of this one
	tcp      *socket
	flow     flow
	sends    int // packets until it is moved to another CPU
}

func newSender(s *sim, i int) *sender {
	c := &s.cfg.Senders
	n := &sender{s: s, index: i, cpu: s.cpus[i%len(s.cpus)], queue: uint16(i % len(s.queues))}
	if c.Rate > 0 {
		n.interval = 1_000_000_000 / c.Rate
		if c.Pattern == PatternBursts {
			n.interval *= uint64(c.Burst)
		}
	}
	n.burst = c.Burst
	n.next = s.now + s.random.below(max(n.interval, 100_000))
	if c.Protocol == TCP {
		n.tcp = newSocket(n)
	}
	if s.cfg.Extras.Choice.On {
		n.flow = newFlow(n)
	}
	s.agenda.plan(n.next, evSend, i)
	return n
}

// sock is the address of its socket in records.
func (n *sender) sock() uint64 { return 0xffff_8882_0000_0000 + uint64(n.index)<<12 }

// below is sk_wmem_alloc.
func (n *sender) below() uint32 {
	if n.tcp != nil {
		return n.tcp.wmem
	}
	return n.wmem + model.WmemBase
}

// ooo says that nothing of a TCP flow but this packet waits to be acknowledged
// (skb->ooo_okay, from 6.12 on).
func (n *sender) ooo() bool { return n.tcp != nil && n.tcp.unacked == 1 }

// moved has the scheduler move the task, once in a while.
func (n *sender) moved() {
	if n.sends++; n.sends == n.s.cfg.Extras.Choice.Migrate {
		n.sends, n.cpu = 0, n.s.cpus[(n.cpu.id+1)%len(n.s.cpus)]
	}
}

func (n *sender) pid() uint32 { return taskPid + 100 + uint32(n.index) }

// due says that it is time for the next packet.
func (n *sender) due() { n.makeReady() }

func (n *sender) makeReady() {
	if n.ready {
		return
	}
	n.ready = true
	n.cpu.ready = append(n.cpu.ready, n)
	n.cpu.wake()
}

// work is the task's turn: one packet of UDP, or what TCP lets go.
func (n *sender) work(c *cpu) {
	s := n.s
	if n.tcp != nil {
		n.tcp.write(c)
		return
	}
	if n.blocked {
		return
	}
	c.pass(s.cfg.Costs.Send)
	p, ok := n.packet()
	if !ok {
		return
	}
	n.wmem += p.truesize
	if n.index < s.cfg.Senders.Past {
		c.past(p)
	} else {
		c.transmit(p)
	}
	n.again()
}

// packet makes the next one; false when the simulation wants no more.
func (n *sender) packet() (packet, bool) {
	s, c := n.s, &n.s.cfg.Senders
	if s.left == 0 || s.now >= s.until {
		return packet{}, false
	}
	s.left--
	s.made++
	n.moved()
	p := gso(c.packetLen(), c.Segments, uint16(c.headers()))
	p.Queue = n.queue
	return packet{
		Packet: p, addr: s.address(), from: n, truesize: c.truesize(),
	}, true
}

// again plans the next packet.
func (n *sender) again() {
	c := &n.s.cfg.Senders
	if c.Sndbuf > 0 && n.wmem >= c.Sndbuf {
		n.blocked = true
		return
	}
	if n.interval > 0 {
		n.burst--
		if c.Pattern == PatternConstant || n.burst <= 0 {
			n.next += n.interval
			n.burst = c.Burst
		}
	}
	if n.next <= n.s.now {
		n.makeReady()
		return
	}
	n.s.agenda.plan(n.next, evSend, n.index)
}

// freed gives back memory of a packet that was sent or dropped. A task that
// waited for it goes on when half of it is free (sock_writeable).
func (n *sender) freed(c *cpu, truesize uint32) {
	if n.tcp != nil {
		n.tcp.wfree(c, truesize)
		return
	}
	n.wmem -= truesize
	if n.blocked && n.wmem*2 <= n.s.cfg.Senders.Sndbuf {
		n.blocked = false
		n.again()
	}
}

// acked plans the acknowledgement of a packet that the link has sent; lost
// forgets one that was dropped, as if it had been acknowledged at once.
func (s *sim) acked(o *out) {
	if o.from == nil || o.from.tcp == nil || o.truesize == 0 {
		return
	}
	s.agenda.plan(max(s.now, o.done+uint64(s.cfg.Senders.RTT)), evAck, o.from.index)
}

func (s *sim) lost(p packet) {
	if p.from != nil && p.from.tcp != nil && p.truesize > 0 {
		s.agenda.plan(s.now+uint64(s.cfg.Senders.RTT), evAck, p.from.index)
	}
}
