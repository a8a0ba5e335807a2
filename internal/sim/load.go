// SPDX-License-Identifier: Apache-2.0

package sim

import (
	"sort"

	"github.com/txtrace/txtrace/internal/event"
)

// Load is what a queue was given in a recording: all times are ns since the
// recording began, in order.
//
// Decision: beside the arrivals a load holds what the machine did and the
// kernel's code did not decide: when interrupts and softirqs came, and how fast
// the CPU was at each time. They are played at their times under every variant,
// so that two variants differ by the variant alone.
//
// Decision: senders are a closed loop, as UDP with a full buffer and TCP are: a
// packet comes at its time, but not before the kernel has done as much as the
// recorded one had; see Arrival. In an open loop each delay would leave a queue
// behind it that no sender had made.
type Load struct {
	Arrivals   []Arrival
	Interrupts []Moment      // at which the device's came; empty: Device.Delay after a packet was sent
	Actions    []Moment      // at which net_tx_action ran the qdisc; empty: Costs.Softirq after it was scheduled
	Speeds     []Speed       // where the CPU that worked for the queue was slow, or quick
	Limits     []LimitChange // of BQL's bounds
}

// Arrival is a packet that reached the qdisc, or passed it by: then no other
// was under way, and it waits for one that seems to be.
type Arrival struct {
	At     uint64
	Len    uint32 // skb->len
	Behind uint32 // packets that may wait before it: as many as did, and as its batch took with it
	Segs   uint16
	CPU    uint16
	Passed bool
}

// Moment is a time at which a CPU did what was to be done since another.
type Moment struct {
	Since, At uint64
	With      uint64 // not 0: it came with a doorbell of the hand-over that began then
	CPU       uint16
}

// with says whether a doorbell at a time brings it: from the hand-over's begin
// on, and until a little later than it did.
func (m *Moment) with(at uint64) bool {
	return m.With != 0 && m.With <= at && at <= m.At+(m.At-m.With)/8
}

// Speed says that in a time the CPU got as much done as it usually does in
// Work: it was interrupted, or its time was given to others.
type Speed struct{ At, Took, Work uint64 }

// LimitChange is a write to limit_min or limit_max.
type LimitChange struct {
	At       uint64
	Min, Max uint32 // bytes
}

func (l *Load) longest(tso bool) uint32 {
	var most uint32
	for i := range l.Arrivals {
		n := l.Arrivals[i].Len
		if !tso {
			n = n/uint32(max(l.Arrivals[i].Segs, 1)) + tcpHeaders
		}
		most = max(most, n)
	}
	return most
}

// loadState is a load being replayed.
type loadState struct {
	load                   *Load
	next, nextSpeed, limit int
	held                   bool   // the next arrival waits for the qdisc
	most                   uint32 // packets that ever waited
	nextIRQ                int    // of the interrupts, after one that came with a doorbell
	irqCPU, actionCPU      int    // of the interrupt and the softirq that are planned
}

func (l *loadState) begin(s *sim) {
	l.load = s.cfg.Load
	for i := range l.load.Arrivals {
		l.most = max(l.most, l.load.Arrivals[i].Behind)
	}
	l.plan(s)
	if len(l.load.Limits) > 0 {
		s.agenda.plan(beginNS+l.load.Limits[0].At, evLimit, 0)
	}
}

func (l *loadState) plan(s *sim) {
	if l.next < len(l.load.Arrivals) {
		s.agenda.plan(max(s.now, beginNS+l.load.Arrivals[l.next].At), evArrive, 0)
	}
}

// early says that the recorded kernel had done more by the next arrival than
// this one has so far: its sender is not yet ready to send. A stopped queue
// keeps none of them back until as many wait as ever did. Where nothing is under
// way that it could wait for it comes all the same.
func (l *loadState) early(q *qdisc) bool {
	a := &l.load.Arrivals[l.next]
	switch {
	case q.s.queues[q.index].stopped():
		return q.fresh.n > int(l.most)
	case q.owner != nil:
		return a.Passed || q.fresh.n > int(a.Behind)
	}
	return false
}

// moved lets an arrival come that waited for the qdisc.
func (l *loadState) moved(q *qdisc) {
	if l.held && !l.early(q) {
		l.held = false
		l.plan(q.s)
	}
}

// arrive lets the next packet come. A CPU that can run the qdisc does so; while
// one runs it others only enqueue, and what that costs them is in the arrivals.
// Of packets that come at one moment the last makes the run: the others were
// enqueued while nobody could.
func (l *loadState) arrive(s *sim) {
	q := s.queues[0].qdisc
	if l.early(q) {
		l.held = true
		return
	}
	list := l.load.Arrivals
	a := list[l.next]
	l.next++
	l.plan(s)
	p := packet{Packet: gso(a.Len, int(a.Segs), tcpHeaders), addr: s.address()}
	s.made++
	c := s.cpus[int(a.CPU)%len(s.cpus)]
	together := l.next < len(list) && list[l.next].At == a.At && !list[l.next].Passed
	switch {
	case q.owner != nil:
		q.enqueue(q.owner, p)
	case !a.Passed && together:
		q.enqueue(c, p)
	default:
		c.given = append(c.given, p)
		c.wake()
	}
}

// finish is when work of cost ns is done that begins now.
func (l *loadState) finish(now, cost uint64) uint64 {
	list := l.load.Speeds
	at := now - beginNS
	for l.nextSpeed < len(list) && list[l.nextSpeed].At+list[l.nextSpeed].Took <= at {
		l.nextSpeed++
	}
	for i := l.nextSpeed; i < len(list); i++ {
		v := &list[i]
		if at < v.At { // at the usual speed until then
			if cost <= v.At-at {
				break
			}
			cost -= v.At - at
			at = v.At
		}
		left := v.At + v.Took - at
		if does := uint64(float64(left) * float64(v.Work) / float64(v.Took)); cost > does {
			cost -= does
			at += left
			continue
		}
		return at + uint64(float64(cost)*float64(v.Took)/float64(v.Work)) + beginNS
	}
	return at + cost + beginNS
}

// bounds takes over the next change of BQL's bounds.
func (l *loadState) bounds(s *sim) {
	c := l.load.Limits[l.limit]
	l.limit++
	if l.limit < len(l.load.Limits) {
		s.agenda.plan(beginNS+l.load.Limits[l.limit].At, evLimit, 0)
	}
	d := &s.queues[0].dql
	for _, b := range []struct {
		name string
		to   *uint32
		now  uint32
	}{{"limit_min", &d.MinLimit, c.Min}, {"limit_max", &d.MaxLimit, c.Max}} {
		if *b.to != b.now {
			s.out.limit(b.name, *b.to, b.now)
			*b.to = b.now
		}
	}
}

func (o *recorder) limit(name string, before, after uint32) {
	n := event.Notice{Subtype: event.NoticeQueueLimit, Before: uint64(before), After: uint64(after)}
	n.Ifindex, n.Netns = Ifindex, Netns
	copy(n.Name[:], name)
	own(o, &n.Header, &n)
}

// interruptAt is when the interrupt comes for a packet that the link has sent
// at done.
func (l *loadState) interruptAt(s *sim, done uint64) uint64 {
	at := max(s.now, done)
	usual := max(s.now, done+uint64(s.cfg.Device.Delay))
	if l.load == nil {
		return usual
	}
	i := max(find(l.load.Interrupts, at), l.nextIRQ)
	for k := max(i-1, l.nextIRQ); k <= i && k < len(l.load.Interrupts); k++ {
		if m := &l.load.Interrupts[k]; m.with(at - beginNS) {
			l.nextIRQ, l.irqCPU = k+1, int(m.CPU)
			return at
		}
	}
	m := next(l.load.Interrupts, i, usual)
	l.irqCPU = int(m.CPU)
	return m.At
}

// irq is the CPU that takes the interrupt.
func (l *loadState) irq(s *sim) int {
	if l.load != nil && l.irqCPU < len(s.cpus) {
		return l.irqCPU
	}
	return s.cfg.IRQ
}

// schedule plans net_tx_action for the qdisc.
func (l *loadState) schedule(s *sim) {
	m := next(l.load.Actions, find(l.load.Actions, s.now), s.now+uint64(s.cfg.Costs.Softirq))
	l.actionCPU = int(m.CPU)
	s.agenda.plan(m.At, evAction, 0)
}

// action raises the softirq.
func (l *loadState) action(s *sim) {
	c := s.cpus[l.actionCPU%len(s.cpus)]
	c.output = append(c.output, s.queues[0].qdisc)
	c.wake()
}

// find is the first moment from a time on.
func find(list []Moment, from uint64) int {
	return sort.Search(len(list), func(i int) bool { return list[i].At+beginNS >= from })
}

// next is when something is done that is to be done: at one of the recording's
// moments, if it was to be done there too by the time it usually takes; else at
// that time.
func next(list []Moment, i int, usual uint64) Moment {
	if i == len(list) || list[i].Since+beginNS > usual {
		return Moment{At: usual}
	}
	return Moment{At: list[i].At + beginNS, CPU: list[i].CPU}
}
