// SPDX-License-Identifier: Apache-2.0

package rules

import (
	"github.com/txtrace/txtrace/internal/analysis"
)

var t5 = analysis.Rule{
	ID:         "T5",
	Sentence:   "A packet is freed to its socket by the last device that has it.",
	Why:        "TCP small queues count what is below TCP by what comes back. A device in the middle that lets the socket go ends the count before the queue that matters, and that grows without bound.",
	Fate:       analysis.Packet,
	Documents:  []string{"003_c93f631334ab3194", "9c4c325252c5"},
	Kernel:     "skb_orphan",
	Needs:      []string{"packet", "packet.life", "tsq.wfree"},
	Hooks:      lifeHooks,
	Strength:   analysis.Exact,
	Antecedent: "a TCP packet that was given to a device, and whose socket was told of it there or at its end",
	New: func(j *analysis.Judge) analysis.Checks {
		c := checkT5{j: j, skbs: make(bySkb[skbT5])}
		return analysis.Checks{Life: c.life}
	},
}

// skbT5 is a packet: the driver's call in which its socket was told, and the
// last call with it of any device.
type skbT5 struct {
	told, last call
	queue      *analysis.Queue // of told
	ends       ends
}

type checkT5 struct {
	j    *analysis.Judge
	skbs bySkb[skbT5]
}

// life: a call within another one of the same packet ends first. What a
// receiver tells the socket, outside of any call, is no device's doing.
func (c *checkT5) life(l *analysis.Life) {
	switch {
	case l.Enqueue != nil:
	case l.Free != nil:
		c.free(l)
	case l.Alone():
		if s := c.skbs.at(l.Skb()); s != nil {
			c.call(s, l)
		}
	}
}

func (c *checkT5) free(l *analysis.Life) {
	s := c.skbs.at(l.Skb())
	if l.Free.TCP != 0 && l.Free.Tries > 0 || s != nil && s.told.is {
		c.j.Held()
	}
	if s != nil {
		s.told.is, s.last.is = false, false
		s.ends.add(l)
	}
}

func (c *checkT5) call(s *skbT5, l *analysis.Life) {
	p := callOf(l)
	if s.told.is && p.head.Begin() > s.told.head.Begin() {
		c.broken(s.queue, s.told, p)
		s.told.is = false
	}
	if l.Orphaned() {
		if s.last.is && s.last.head.CPU == p.head.CPU && s.last.head.Begin() > p.head.Begin() {
			c.broken(l.Queue, p, s.last)
		} else if _, since := s.ends.of(l); since == 0 { // else its address may be another's
			s.told, s.queue = p, l.Queue
		}
	}
	s.last = p
}

// broken: the packet was in a call that told its socket, and then in another.
func (c *checkT5) broken(q *analysis.Queue, told, next call) {
	c.j.BrokenIf(during(told.head.Begin(), max(told.head.Time, next.head.Time)), func() *analysis.Evidence {
		return analysis.Show(q, &told.head.Header, "a device let the packet's socket go, and the packet went on to queue %d of the device of index %d", next.head.Txq, next.head.Ifindex).
			With("then_ifindex", "", int64(next.head.Ifindex)).With("then_queue", "", int64(next.head.Txq)).Record(&next.head.Header)
	})
}
