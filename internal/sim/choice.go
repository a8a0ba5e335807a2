// SPDX-License-Identifier: Apache-2.0

package sim

import (
	"time"

	"github.com/txtrace/txtrace/internal/event"
	"github.com/txtrace/txtrace/internal/model"
)

// Choice is how packets come by their queue, when that is played and recorded.
// Devices on top have one queue and are not asked.
type Choice struct {
	On        bool
	Select    bool          // the driver has ndo_select_queue, which goes by the CPU
	XPS       bool          // xps_cpus gives each CPU a queue
	RxQueues  bool          // xps_rxqs gives each receive queue one
	Loose     bool          // UDP sockets are not connected, and keep no queue
	Forwarded int           // of the senders of UDP, the first ones forward what they received
	Reselect  time.Duration // net.core.txq_reselection_ms; 0: never
	Migrate   int           // a task goes to the next CPU after so many packets; 0: never
	Reroute   int           // a socket loses its route once in so many choices; 0: never
	Resize    int           // the device loses half its queues, or has them again, after so many; 0: never
}

// chooser is the device's side of it.
type chooser struct {
	real   int    // real_num_tx_queues
	resize int    // choices until it changes
	last   uint64 // time at which it did
	sums   []event.PickCounts
}

func newChooser(c *Config) chooser {
	return chooser{real: c.Device.Queues, resize: c.Extras.Choice.Resize, sums: make([]event.PickCounts, c.Device.Queues)}
}

// flow is the socket's side, and what the recorder keeps of it.
type flow struct {
	sk    model.PickSocket
	hash  uint32
	rx    int // queue that a forwarded packet came from; NoQueue
	known knownFlow
}

func newFlow(n *sender) flow {
	s, c := n.s, &n.s.cfg.Extras.Choice
	f := flow{hash: uint32(s.random.next()), rx: model.NoQueue}
	f.sk = model.PickSocket{Queue: model.NoQueue, RxQueue: model.NoQueue, Full: true, Route: !c.Loose || n.tcp != nil}
	switch {
	case n.index < c.Forwarded:
		f.rx = int(s.random.below(8))
		return f
	case f.sk.Route && s.random.below(2) == 0:
		f.sk.Queue = int(s.random.below(uint64(len(s.queues)) + 2)) // of a device that had more
		if s.kernel.pickCache == model.PickCacheUnchecked {
			f.sk.Queue %= len(s.queues)
		}
		f.sk.Stamp = s.jiffies() - s.random.below(3*uint64(s.cfg.HZ))
	}
	if s.random.below(2) == 0 {
		f.sk.RxQueue = int(s.random.below(uint64(len(s.queues)) + 2))
	}
	return f
}

// maps of XPS. The last entry names a queue that the device may have lost.
func (c *Choice) maps(cpus, queues int) (rx, cpu model.XPSMap) {
	if c.RxQueues {
		for i := range queues {
			rx = append(rx, []int{(i + 1) % queues})
		}
	}
	if c.XPS {
		for i := range cpus {
			cpu = append(cpu, []int{i % queues, (i + 1) % queues})
		}
	}
	return rx, cpu
}

// choose is netdev_core_pick_tx. It takes time, in which the device and the
// route may change.
func (c *cpu) choose(p *packet) uint16 {
	s, conf, f := c.s, &c.s.cfg.Extras.Choice, &p.from.flow
	c.lane.count(progPickBegin)
	r := event.Pick{
		JiffiesBegin: s.jiffies(), QueuesBegin: uint32(s.choice.real), Before: queueNumber(f.sk.Queue),
		RxMapping: uint16(f.rx + 1), Len: p.Len, Truesize: p.truesize, Hash: f.hash,
		SenderCPU: uint32(c.id) + 1, SkRx: event.NoQueue, XpsRx: event.NoQueue, XpsCPU: event.NoQueue, Exact: 1,
	}
	if p.from.ooo() {
		r.OOO = 1
	}
	if conf.Select {
		r.Select = 1
	}
	begin := s.now
	c.choosing = begin
	if p.socket() && s.stamped() {
		r.StampBegin = f.sk.Stamp
	}
	c.pass(20 * time.Nanosecond)
	s.resized()
	if conf.Reroute > 0 && p.socket() && f.sk.Route && s.random.below(uint64(conf.Reroute)) == 0 {
		f.sk.SetRoute(true)
		r.Rerouted = 1
	}
	queue := s.pick(c, p, &r)
	c.pass(20 * time.Nanosecond)

	c.choosing = 0
	r.JiffiesEnd, r.QueuesEnd = s.jiffies(), uint32(s.choice.real)
	r.Index, r.Mapping, r.After = uint32(queue), uint16(queue), queueNumber(f.sk.Queue)
	if p.socket() {
		r.Sock, r.State, r.Full, r.SkRx = p.from.sock(), tcpEstablished, 1, queueNumber(f.sk.RxQueue)
		r.Wmem = p.from.below()
		if f.sk.Route {
			r.Route = 1
		}
		if s.stamped() {
			r.Stamped, r.StampEnd, r.Reselect = 1, f.sk.Stamp, uint32(s.reselect())
		}
	}
	s.out.pick(c, p, &r, begin)
	return uint16(queue)
}

// pick asks the model, and notes what the maps of XPS name.
func (s *sim) pick(c *cpu, p *packet, r *event.Pick) int {
	conf, f := &s.cfg.Extras.Choice, &p.from.flow
	dev := model.TxDevice{Queues: s.choice.real}
	dev.RxMap, dev.CPUMap = conf.maps(len(s.cpus), len(s.queues))
	most := len(s.cpus) // that the driver names, whether it is there or not
	if s.kernel.pickCache == model.PickCacheUnchecked {
		most = min(most, len(s.queues))
	}
	if conf.Select {
		dev.Select = func() int { return c.id % most }
	}
	if dev.CPUMap != nil {
		r.Maps |= event.MapsCPUs
		r.XpsCPU = named(dev.CPUMap, c.id, f.hash)
	}
	if dev.RxMap != nil {
		r.Maps |= event.MapsRxQueue
		if p.socket() {
			r.XpsRx = named(dev.RxMap, f.sk.RxQueue, f.hash)
		}
	}
	skb := model.PickSkb{Hash: f.hash, CPU: c.id, RxQueue: f.rx, OOOOkay: r.OOO != 0}
	at := model.PickTime{Now: s.jiffies(), HZ: uint64(s.cfg.HZ), Reselect: s.reselect()}
	sk := &f.sk
	if !p.socket() {
		sk = nil
	}
	queue, _ := model.Pick(s.kernel.pickCache, dev, skb, sk, at)
	return queue
}

// named is what a map has for an index, whether the device has it or not.
func named(m model.XPSMap, index int, hash uint32) uint16 {
	if index < 0 || index >= len(m) {
		return event.NoQueue
	}
	return uint16(m[index][model.ReciprocalScale(hash, uint32(len(m[index])))])
}

// socket says that the packet has one: what is forwarded has none.
func (p *packet) socket() bool { return p.from.flow.rx == model.NoQueue }

// stamped says whether sockets of the kernel hold the time of their queue.
func (s *sim) stamped() bool { return s.kernel.pickCache == model.PickCacheExpires }

// reselect is in jiffies.
func (s *sim) reselect() uint64 {
	return uint64(s.cfg.Extras.Choice.Reselect.Milliseconds()) * uint64(s.cfg.HZ) / 1000
}

// tcpEstablished is the state of a connected socket, of UDP too.
const tcpEstablished = 1

func queueNumber(queue int) uint16 {
	if queue == model.NoQueue {
		return event.NoQueue
	}
	return uint16(queue)
}

// resized lets the device lose half of its queues, or have them again. What
// waits in those that are gone is still sent. No choice is so slow that two
// changes fall into it.
func (s *sim) resized() {
	d := &s.choice
	if d.resize--; d.resize > 0 || s.cfg.Extras.Choice.Resize == 0 {
		return
	}
	for _, c := range s.cpus {
		if c.choosing != 0 && c.choosing <= d.last {
			return
		}
	}
	d.resize, d.last = s.cfg.Extras.Choice.Resize, s.now
	if d.real == len(s.queues) {
		d.real = (d.real + 1) / 2
	} else {
		d.real = len(s.queues)
	}
}
