// SPDX-License-Identifier: Apache-2.0

package rules

import (
	"github.com/txtrace/txtrace/internal/analysis"
)

var b8 = analysis.Rule{
	ID:         "B8",
	Sentence:   "A driver charges the bytes of a hand-over to the queue that it was handed over to.",
	Why:        "Each queue's bytes come back by its own completions. Charged elsewhere, one queue is never stopped and the other stays so.",
	Documents:  []string{"2d9f5a118205", "lib/dynamic_queue_limits.c"},
	Kernel:     "netdev_tx_sent_queue",
	Needs:      []string{"handover", "handover.attempts", "bql"},
	Hooks:      attemptHooks,
	Strength:   analysis.Heuristic,
	Antecedent: "a hand-over that was charged, or whose bytes appeared later or on another queue of the device",
	New: func(j *analysis.Judge) analysis.Checks {
		c := &checkB8{j: j, devices: make(map[*analysis.Device]*chargesB8)}
		return analysis.Checks{Handover: c.handover, Quiet: c.quiet, Completion: c.completion, End: c.end}
	},
}

// uncharged is a packet, or a hand-over, that the driver took without charging
// its queue: dropped, or charged elsewhere.
type uncharged struct {
	queue *analysis.Queue
	end   uint64
	bytes uint32
	kept  bool // a packet, and the driver did not drop it
}

// chargesB8 are the last of those of one device.
type chargesB8 struct {
	charges bool // some queue of it was charged
	lengths [2]lengthsB8
	quiet   uint64    // packets that were counted only
	keeps   lengthsB8 // packets that were charged, and others that were kept without
	paid    []paidB8  // such others, whose bytes were charged outside of any hand-over
	last    [32]uncharged
	n       int
}

// lengthsB8 compares what a device charged with the lengths that were handed
// over, in hand-overs without or with GSO skbs: many drivers charge skb->len,
// others what goes over the wire.
type lengthsB8 struct {
	same, other, twice uint64               // twice: single packets, charged for with double their length
	show, showTwice    []*analysis.Evidence // of the first ones
}

// Decision: a device charges lengths if it did so in 64 hand-overs, and in 64
// times as many as it did not. Then one that it did not is suspect: some
// drivers add to what they send. Up to 64 bytes more per packet are neither:
// short frames are padded.
const (
	sureB8   = 64
	padsToB8 = 64

	soonB8 = 10_000_000 // ns from a hand-over to the late charge of what was kept

	maxShowB8 = 3
)

// paidB8 is a packet that was kept and not charged, and a charge that it explains.
type paidB8 struct {
	claim analysis.Claim
	show  *analysis.Evidence
}

// Decision: what was kept and not charged, and a charge of as many bytes within
// 10 ms, are one packet, and so are all that were kept between two hand-overs of
// a queue and what was charged to it in between. Those are broken if three such
// are found and they are half of all that was kept so: else others may have sent
// as many bytes (XDP) beside packets that a driver keeps in a ring of its own,
// and they are suspect.
const (
	leastPaidB8 = 3
	maxPaidB8   = 1 << 10
)

// queueB8 is what is known of one queue.
type queueB8 struct {
	handed    bool   // some hand-over of it was seen
	end       uint64 // of the last one
	numQueued uint32
	time      uint64
	known     bool
}

// strangeB8 is a charge without a hand-over, on a queue that had none so far.
type strangeB8 struct {
	queue *analysis.Queue
	show  *analysis.Evidence
	over  analysis.Span
}

// maxStrange bounds what waits for the end of the capture.
const maxStrange = 1 << 10

type checkB8 struct {
	j       *analysis.Judge
	queues  analysis.PerQueue[queueB8]
	devices map[*analysis.Device]*chargesB8
	order   []*chargesB8 // of devices
	strange []strangeB8
}

func (c *checkB8) device(d *analysis.Device) *chargesB8 {
	if c.devices[d] == nil {
		c.devices[d] = &chargesB8{}
		c.order = append(c.order, c.devices[d])
	}
	return c.devices[d]
}

func (c *checkB8) handover(h *analysis.Handover) {
	if h.Partial() || h.Reset() || h.Nested() {
		return
	}
	dev, q := c.device(h.Queue.Device), c.queues.At(h.Queue)
	if h.ForeignKnown && h.Foreign > 0 {
		c.foreign(dev, h, q.end)
	}
	q.handed, q.end = true, h.Time
	q.numQueued, q.time, q.known = h.NumQueuedEnd, h.Time, true
	switch {
	case h.Attempts > 0 && h.Hand.Charged+h.BusyCharged != h.Charged():
		c.strays(h)
	case h.Taken() == 0:
	case h.Charged() > 0:
		dev.charges = true
		dev.keep(h)
		c.charged(dev, h)
	case dev.charges && !dev.keep(h):
		dev.remember(uncharged{h.Queue, h.Time, h.Bytes, false})
	}
}

func (d *chargesB8) remember(u uncharged) {
	d.last[d.n%len(d.last)] = u
	d.n++
}

// foreign looks for what the bytes are of that were charged outside of any
// hand-over: since the last one of the queue, but of a packet that was kept it is
// known that they are owed.
func (c *checkB8) foreign(dev *chargesB8, h *analysis.Handover, since uint64) {
	owed := dev.owed(since, h.Begin(), h.Foreign)
	for _, u := range owed {
		u.kept = false // it was charged
		if len(dev.paid) < maxPaidB8 {
			claim := analysis.Claim{Over: analysis.Span{From: u.end, To: h.Begin()}}
			dev.paid = append(dev.paid, paidB8{claim, showB8(h.Queue, u, u.bytes, h)})
		}
	}
	if owed != nil {
		return
	}
	if u := dev.find(nil, since, h.Begin(), h.Foreign); u != nil {
		c.j.Suspect(func() *analysis.Evidence { return showB8(h.Queue, u, h.Foreign, h) })
	}
}

// owed looks for packets that were kept and not charged, and are that many bytes:
// one of not long ago, or all since the queue was looked at.
func (d *chargesB8) owed(since, at uint64, bytes uint32) (owed []*uncharged) {
	sum := uint32(0)
	for i := range d.last {
		u := &d.last[i]
		if !u.kept || u.end > at {
			continue
		}
		if u.bytes == bytes && at-u.end <= soonB8 {
			return []*uncharged{u}
		}
		if u.end >= since {
			owed, sum = append(owed, u), sum+u.bytes
		}
	}
	if sum != bytes {
		return nil
	}
	return owed
}

// keep counts and remembers the packets of a hand-over that were kept and not
// charged. Others that are not charged were dropped, and so freed in the call.
func (d *chargesB8) keep(h *analysis.Handover) (some bool) {
	for _, call := range h.Calls {
		l := analysis.Life{Queue: h.Queue, Packet: &call.Packet}
		switch {
		case call.NumQueuedBegin != call.NumQueuedEnd:
			d.keeps.same++
		case call.Sent() && l.Alone() && !l.FreedInside():
			some = true
			d.remember(uncharged{h.Queue, call.Time, call.Len, true})
			if d.keeps.other++; len(d.keeps.show) < maxShowB8 {
				d.keeps.show = append(d.keeps.show, analysis.Show(h.Queue, &call.Header, "the driver took a packet of %d bytes, did not free it, and charged nothing", call.Len).
					With("bytes", "bytes", int64(call.Len)))
			}
		}
	}
	return some
}

// quiet are single packets that were each charged with their length, if their
// device charges at all.
func (c *checkB8) quiet(q *analysis.Quiet) {
	c.device(q.Queue.Device).quiet += uint64(q.Packets)
}

// strays: num_queued moves by what the attempts charged and by nothing else,
// for the transmit lock is held. A reset after the last attempt leaves nothing.
func (c *checkB8) strays(h *analysis.Handover) {
	switch {
	case h.Unlocked():
		c.j.Undecided(analysis.Race)
		return
	case h.NumQueuedEnd|h.NumComplEnd == 0 && h.Hand.Charged > 0 && int32(h.Charged()-h.Hand.Charged-h.BusyCharged) < 0:
		c.j.Undecided(analysis.Reset)
		return
	}
	c.j.Broken(func() *analysis.Evidence {
		return analysis.Show(h.Queue, &h.Header, "num_queued moved by %d bytes in a hand-over, its attempts account for %d", h.Charged(), h.Hand.Charged+h.BusyCharged).
			With("moved", "bytes", int64(h.Charged())).With("charged", "bytes", int64(h.Hand.Charged)).
			With("busy_charged", "bytes", int64(h.BusyCharged))
	})
}

// charged: what is charged is what was handed over.
func (c *checkB8) charged(dev *chargesB8, h *analysis.Handover) {
	c.j.Held()
	if h.Rest > 0 || h.Uncharged > 0 || h.Cut() || h.Direct == nil {
		return
	}
	l := &dev.lengths[0]
	if h.Direct.GsoSegs != h.Direct.Packets {
		l = &dev.lengths[1]
	}
	switch over := int64(h.Charged()) - int64(h.Bytes); {
	case over == 0:
		l.same++
	case over > 0 && over <= padsToB8*int64(h.Packets):
	case over == int64(h.Bytes) && h.Packets == 1 && l == &dev.lengths[0]:
		if l.twice++; len(l.showTwice) < maxShowB8 {
			l.showTwice = append(l.showTwice, showCharged(h))
		}
	default:
		if l.other++; len(l.show) < maxShowB8 {
			l.show = append(l.show, showCharged(h))
		}
	}
}

func showCharged(h *analysis.Handover) *analysis.Evidence {
	return analysis.Show(h.Queue, &h.Header, "%d bytes were charged for %d packets of %d bytes", h.Charged(), h.Packets, h.Bytes).
		With("charged", "bytes", int64(h.Charged())).With("bytes", "bytes", int64(h.Bytes))
}

// completion looks at a queue that never saw a hand-over and yet was charged.
// Whether it really never saw one is known at the end.
func (c *checkB8) completion(s *analysis.Completion) {
	if s.Torn() {
		return
	}
	q := c.queues.At(s.Queue)
	moved := s.NumQueued - q.numQueued
	if !q.handed && q.known && int32(moved) > 0 && len(c.strange) < maxStrange {
		if u := c.device(s.Queue.Device).find(s.Queue, q.time, s.Time, moved); u != nil {
			e := showB8(s.Queue, u, moved, nil).Record(&s.Header)
			c.strange = append(c.strange, strangeB8{s.Queue, e, analysis.Span{From: 1, To: s.Time}})
		}
	}
	q.numQueued, q.time, q.known = s.NumQueued, s.Time, true
}

// find looks for an uncharged hand-over with that many bytes of any queue but one.
func (d *chargesB8) find(not *analysis.Queue, from, to uint64, bytes uint32) *uncharged {
	for i := range d.last {
		u := &d.last[i]
		if u.queue != not && u.end >= from && u.end <= to && u.bytes == bytes {
			return u
		}
	}
	return nil
}

func (c *checkB8) end(*analysis.End) {
	for _, dev := range c.order {
		judge := c.j.SuspectIf
		if n := uint64(len(dev.paid)); n >= leastPaidB8 && 2*n >= dev.keeps.other {
			judge = c.j.BrokenIf
		}
		for _, p := range dev.paid {
			judge(p.claim, func() *analysis.Evidence { return p.show })
		}
		if dev.charges {
			dev.lengths[0].same += dev.quiet
			dev.keeps.same += dev.quiet
		}
		for _, l := range append(dev.lengths[:], dev.keeps) {
			if l.same/sureB8 < l.other+l.twice {
				continue
			}
			for i := range l.other {
				c.j.Suspect(func() *analysis.Evidence { return l.show[min(int(i), len(l.show)-1)] })
			}
			for i := range l.twice {
				c.j.Broken(func() *analysis.Evidence { return l.showTwice[min(int(i), len(l.showTwice)-1)] })
			}
		}
	}
	for _, s := range c.strange {
		if c.queues.At(s.queue).handed {
			c.j.Suspect(func() *analysis.Evidence { return s.show })
			continue
		}
		c.j.BrokenIf(analysis.Claim{Over: s.over}, func() *analysis.Evidence { return s.show })
	}
}

func showB8(q *analysis.Queue, u *uncharged, bytes uint32, h *analysis.Handover) *analysis.Evidence {
	says := "queue %d was charged %d bytes that were handed over to queue %d"
	if u.queue == q {
		says = "queue %d was charged %d bytes after the hand-over to queue %d that they are of"
	}
	e := analysis.ShowAt(u.end, says, q.Txq, bytes, u.queue.Txq).Of(q)
	if h != nil {
		e.Record(&h.Header)
	}
	return e.With("bytes", "bytes", int64(bytes)).With("handed_to_txq", "", int64(u.queue.Txq)).With("charged_txq", "", int64(q.Txq))
}
