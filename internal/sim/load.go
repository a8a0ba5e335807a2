// SPDX-License-Identifier: Apache-2.0

package sim

// Load is what a queue was given in a recording.
type Load struct {
	Arrivals []Arrival // by time
}

// Arrival is packets that reached the qdisc, or passed it by, at a time.
type Arrival struct {
	At   uint64 // ns after the recording began
	Len  uint32 // skb->len
	Segs uint16
	CPU  uint16
}

func (l *Load) longest(tso bool) uint32 {
	var most uint32
	for i := range l.Arrivals {
		n := l.Arrivals[i].Len
		if !tso {
			n /= uint32(max(l.Arrivals[i].Segs, 1))
		}
		most = max(most, n)
	}
	return most
}

// loadState is a load being replayed.
type loadState struct {
	load *Load
	next int
}

func (l *loadState) begin(s *sim) {
	l.load = s.cfg.Load
	l.plan(s)
}

func (l *loadState) plan(s *sim) {
	if l.next < len(l.load.Arrivals) {
		s.agenda.plan(beginNS+l.load.Arrivals[l.next].At, evArrive, 0)
	}
}

func (l *loadState) arrive(s *sim) {
	a := l.load.Arrivals[l.next]
	l.next++
	l.plan(s)
	p := packet{Packet: gso(a.Len, int(a.Segs), tcpHeaders), addr: s.address()}
	s.made++
	if q := s.queues[0].qdisc; q != nil && q.owner != nil {
		q.enqueue(q.owner, p)
		return
	}
	c := s.cpus[int(a.CPU)%len(s.cpus)]
	c.given = append(c.given, p)
	c.wake()
}

func (l *loadState) pause(s *sim) {}

// interruptAt is when the interrupt comes for a packet that the link has sent
// at done.
func (l *loadState) interruptAt(s *sim, done uint64) uint64 {
	return max(s.now, done+uint64(s.cfg.Device.Delay))
}

// irq is the CPU that takes the next interrupt.
func (l *loadState) irq(s *sim) int { return s.cfg.IRQ }
