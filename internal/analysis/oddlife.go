// SPDX-License-Identifier: Apache-2.0

package analysis

import "github.com/txtrace/txtrace/internal/event"

// lifeBits are all that are known of a life during a call.
const lifeBits = event.LifeFollowed | event.LifeShared | event.LifeDeferred | event.LifeFreed | event.LifeOrphaned | event.LifeDirect

// oddLife of a call of a driver: a skb that is not followed has no name, and a
// direct send no hand-over around it.
func (c *Call) oddLife() string {
	named := c.Order|c.Turn != 0 || c.Tries != 0 || c.Life&event.LifeDeferred != 0
	switch {
	case c.Life > lifeBits:
		return "a life that is none"
	case c.Life&event.LifeFollowed == 0 && named, c.Life&event.LifeFollowed != 0 && c.Sender == event.NoQueue,
		c.Life&event.LifeDeferred != 0 && c.Order == 0:
		return "the name of a life"
	case c.Life&event.LifeDirect != 0 && c.Parent != 0:
		return "a direct send in a hand-over"
	}
	return ""
}

// Odd of what is said of a packet that went into a qdisc. Only qdiscs with a lock
// count their enqueues.
func (l *Life) Odd() string {
	switch e, f := l.Enqueue, l.Free; {
	case l.Skb() == 0:
		return "a packet that is none"
	case e != nil && e.Qdisc == 0:
		return "a qdisc that is none"
	case e != nil && l.Lockless() != (e.Order == 0):
		return "the count of enqueues"
	case e != nil && e.Sender == event.NoQueue && e.Turn != 0, f != nil && f.Sender == event.NoQueue:
		return "the name of a life"
	case f != nil && f.How > event.FreedBurst:
		return "an end that is none"
	case f != nil && f.How != event.FreedBurst && f.Defer|uint64(f.Burst) != 0:
		return "a burst that is none"
	case f != nil && (f.Life > lifeBits || f.Life != 0 && f.Life&event.LifeFreed == 0):
		return "a life that is none"
	case f != nil && !bools(f.TCP):
		return "neither yes nor no"
	}
	return ""
}

// Head is that of the moment.
func (l *Life) Head() *event.Header {
	switch {
	case l.Enqueue != nil:
		return &l.Enqueue.Header
	case l.Packet != nil:
		return &l.Packet.Header
	}
	return &l.Free.Header
}

// Odd of a step in how a qdisc comes to be run: to be listed and to be served
// take no time, a list that is served names no qdisc, and only lockless ones are
// told of when they are emptied.
func (s *Schedule) Odd() string {
	named := s.Qdisc != 0
	switch {
	case s.What > event.ScheduleReset:
		return "a step that is none"
	case !bools(s.InAction):
		return "neither yes nor no"
	case named == s.Served(), s.Served() && (s.QdiscFlags|s.Handle != 0 || s.QdiscState|s.TxqState|s.InAction != 0):
		return "whose list it is"
	case !s.Emptied() && (s.Dur != 0 || s.Held != 0), s.Emptied() && (s.Waiting != 0 || s.TxqState|s.InAction != 0):
		return "what another step has"
	case s.Emptied() && s.QdiscFlags&event.QdiscNoLock == 0:
		return "a qdisc with a lock"
	case s.Held&^(event.HeldRun|event.HeldByWhom) != 0:
		return "who had it"
	}
	return ""
}

// Odd of a list of received packets on its way up. More that passed than came is
// for a rule to say.
func (d *Delivery) Odd() string {
	switch {
	case d.Skbs == 0 || uint64(d.Followed)+uint64(d.Overtaken) > uint64(d.Skbs):
		return "the packets"
	case d.Overtaken == 0 && d.Early|d.Late != 0, d.Overtaken != 0 && d.Early >= d.Late:
		return "when they came"
	}
	return ""
}

// Odd of a packet that TCP sends.
func (t *Transmit) Odd() string {
	const bits = event.SendingHead | event.SendingProbes | event.SendingRace | event.SendingSummed
	switch {
	case t.Sending > bits || t.Sending&event.SendingHead == 0:
		return "which packet it is"
	case t.Rtx > event.RtxMore:
		return "neither yes nor no"
	case t.PacingStatus > pacingFq:
		return "a pacing that is none"
	case t.Truesize == 0:
		return "a packet without memory"
	}
	return ""
}

// Odd of a look at a queue.
func (s *Sampled) Odd() string {
	switch {
	case s.Held&^(event.HeldLock|event.HeldRun|event.HeldByWhom) != 0:
		return "who had it"
	case s.Qdisc == 0 && s.QdiscFlags|s.Handle != 0:
		return "a qdisc that is none"
	}
	return ""
}
