// SPDX-License-Identifier: Apache-2.0

package rules

import (
	"github.com/txtrace/txtrace/internal/analysis"
)

var m6 = analysis.Rule{
	ID:         "M6",
	Sentence:   "A skb's address names one skb only between two frees of it.",
	Why:        "What joins records by an address, from the enqueue of a packet to its free, is right only if no free is missed. Where one is, two packets look like one.",
	Fate:       analysis.Packet,
	Documents:  []string{"net/core/skbuff.c"},
	Kernel:     "skb_release_head_state",
	Needs:      []string{"packet", "packet.life"},
	Hooks:      append([]string{"qdisc_enqueue"}, lifeHooks...),
	Strength:   analysis.Exact,
	Antecedent: "a packet that was sent and given to a driver at an address whose packet before a device had, or of whose life other records tell",
	New: func(j *analysis.Judge) analysis.Checks {
		c := checkM6{j: j, kin: kinM6{j: j}, skbs: make(bySkb[skbM6])}
		return analysis.Checks{Life: c.life, End: func(*analysis.End) { c.settle(^uint64(0)) }}
	},
}

// skbM6 is an address: the last call that gave what was there to a device, and
// the lives of it that ended last.
type skbM6 struct {
	taken call
	ends  ends
	last  momentKin
}

// reuseM6 is a second life without an end of the first, which may come late by
// what the clocks of two CPUs differ.
type reuseM6 struct {
	skb           uint64
	before, after call
	queue         *analysis.Queue
}

type checkM6 struct {
	j     *analysis.Judge
	kin   kinM6
	skbs  bySkb[skbM6]
	reuse []reuseM6
}

// life: only a device that charges what it takes keeps it to the end; others
// may hand it on, and it is sent again.
func (c *checkM6) life(l *analysis.Life) {
	if len(c.reuse)+len(c.kin.early) > 0 {
		c.settle(l.Time())
	}
	id := l.ID()
	if l.Enqueue != nil {
		c.kin.enqueue(l)
		return
	}
	if l.Alone() {
		c.kin.packet(l)
	}
	if !id.Known() {
		return
	}
	s := c.skbs.at(l.Skb())
	if s == nil {
		return
	}
	c.kin.look(l, &s.last)
	if l.Free != nil {
		c.free(s, l, id)
		return
	}
	if !l.Alone() {
		return
	}
	switch ended, since := s.ends.of(l); {
	case ended:
		return
	case since == len(s.ends.last):
		s.taken.is = false
		c.j.Undecided(analysis.Race)
		return
	}
	if s.taken.is && s.taken.id != id && l.Packet.Tries == 0 {
		c.again(s, l)
	}
	if l.Taken() {
		s.taken = callOf(l)
	}
}

func (c *checkM6) free(s *skbM6, l *analysis.Life, id analysis.LifeID) {
	s.ends.add(l)
	for i, r := range c.reuse {
		if r.skb == l.Skb() && r.before.id == id {
			c.reuse = append(c.reuse[:i], c.reuse[i+1:]...)
			c.j.Undecided(analysis.Race)
			return
		}
	}
	if s.taken.is && s.taken.id == id {
		s.taken.is = false
		c.j.Held()
	}
}

func (c *checkM6) again(s *skbM6, l *analysis.Life) {
	if len(c.reuse) < maxQdiscs {
		c.reuse = append(c.reuse, reuseM6{l.Skb(), s.taken, callOf(l), l.Queue})
	}
	s.taken.is = false
}

// settle judges what no late free can explain any more.
func (c *checkM6) settle(now uint64) {
	c.kin.settle(now)
	for len(c.reuse) > 0 && now > c.reuse[0].after.head.Time+clockError {
		r := c.reuse[0]
		c.reuse = c.reuse[1:]
		c.j.BrokenIf(during(r.before.head.Begin(), r.after.head.Time+clockError), func() *analysis.Evidence {
			return analysis.Show(r.queue, &r.after.head.Header, "the packet sent as number %d by CPU %d has the address of number %d of CPU %d, which a driver took and nobody freed",
				r.after.id.Turn, r.after.id.Sender, r.before.id.Turn, r.before.id.Sender).
				With("turn", "", int64(r.after.id.Turn)).With("before", "", int64(r.before.id.Turn)).Record(&r.before.head.Header)
		})
	}
}
