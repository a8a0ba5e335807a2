// SPDX-License-Identifier: Apache-2.0

package rules

import (
	"github.com/txtrace/txtrace/internal/analysis"
)

var b2 = analysis.Rule{
	ID:         "B2",
	Sentence:   "The bytes that a driver has are completed before long, whether or not it is given more.",
	Why:        "A queue that nobody uses has nothing in flight. Bytes that stay were lost in a ring that was resized or reset, or wait for an interrupt that does not come; BQL counts them for ever.",
	Documents:  []string{"004_9aeb9cc635f797dc", "lib/dynamic_queue_limits.c"},
	Kernel:     "netdev_tx_completed_queue",
	Needs:      []string{"sample", "bql", "complete.napi"},
	Hooks:      lifeHooks,
	Strength:   analysis.Heuristic,
	Antecedent: "a look at a queue with bytes in flight, whose completions were seen in a poll or an interrupt, until the last of them is completed",
	New: func(j *analysis.Judge) analysis.Checks {
		c := checkB2{j: j, limit: j.Limit(patience), skbs: make(bySkb[skbB2])}
		return analysis.Checks{Sample: c.sample, Completion: c.completion, Life: c.life}
	},
}

// queueB2 is what was in flight at the first look that is not done with.
type queueB2 struct {
	polled bool // its driver completes by itself, not when it is called next
	open   bool
	told   bool
	first  analysis.Sampled
	given  chargedB2
}

// chargedB2 are the packets that a queue was charged for without a break, as far
// as each was followed to its end.
//
// Decision: bytes in flight for long are suspect, for a device may be paused.
// They are broken if each packet they were charged for is freed: a driver frees
// what its device is done with, and no completion of it can come.
type chargedB2 struct {
	is       bool
	from, to uint32 // num_queued before the first and after the last
	since    uint64
	alive    int    // packets that are not freed
	last     uint64 // when one was freed
}

type checkB2 struct {
	j      *analysis.Judge
	limit  uint64
	queues analysis.PerQueue[queueB2]
	skbs   bySkb[skbB2]
}

// reportsB2 is how long a driver may take from its last free to its report, in
// ns; a virtual CPU was seen to stand still for more than a second.
const reportsB2 = 3_000_000_000

// skbB2 is an address: what the packet at it that lives was charged to, and those
// that ended last.
type skbB2 struct {
	of   *chargedB2
	ends ends
}

// life: calls of the driver of one queue come in their order, and each begins
// with the bytes that the last one left, unless others charged some.
func (c *checkB2) life(l *analysis.Life) {
	p, s := l.Packet, c.skbs.at(l.Skb())
	switch {
	case l.Free != nil && s != nil:
		if s.of != nil {
			s.of.alive--
			s.of.last = l.Time()
		}
		s.of = nil
		s.ends.add(l)
	case p == nil || p.NumQueuedBegin == p.NumQueuedEnd:
	default:
		c.charged(&c.queues.At(l.Queue).given, s, l)
	}
}

func (c *checkB2) charged(g *chargedB2, s *skbB2, l *analysis.Life) {
	p := l.Packet
	if !l.Taken() || !l.Alone() || !l.ID().Known() || s == nil || s.of != nil {
		g.is = false
		return
	}
	// A driver that frees a packet in its own call may have sent a copy.
	if l.FreedInside() {
		g.is = false
		return
	}
	ended, since := s.ends.of(l)
	if !ended && since > 0 { // or its address is another's already
		g.is = false
		return
	}
	if !g.is || g.to != p.NumQueuedBegin {
		*g = chargedB2{is: true, from: p.NumQueuedBegin, since: p.Begin(), alive: g.alive, last: g.last}
	}
	g.to = p.NumQueuedEnd
	if !ended {
		g.alive++
		s.of = g
	}
}

// freed says that all that was charged and is not reported was freed, and not
// just now: a driver frees first and reports, or resets, then. What came before
// the packets that were followed is done with: reports come in order.
func (g *chargedB2) freed(s *analysis.Sampled) bool {
	return g.is && g.alive == 0 && s.Time > g.last+reportsB2 && g.to == s.NumQueued && int32(s.NumCompl-g.from) >= 0
}

func (c *checkB2) completion(s *analysis.Completion) {
	if s.ByItself() {
		c.queues.At(s.Queue).polled = true
	}
}

func (c *checkB2) sample(s *analysis.Sampled) {
	q := c.queues.At(s.Queue)
	if s.Torn() {
		return
	}
	switch was := &q.first; {
	case !s.Up() || q.open && int32(s.NumQueued-was.NumQueued) < 0: // or it was reset
		q.open = false
	case !q.open:
	case int32(s.NumCompl-was.NumQueued) >= 0:
		if !q.told {
			c.j.Held()
		}
		q.open = false
	case s.NumCompl != was.NumCompl:
		return // slow, and it goes on
	case s.Time-was.Time > c.limit && !q.told:
		q.told = true
		was := *was
		if q.given.freed(s) {
			c.j.BrokenIf(during(q.given.since, s.Time), func() *analysis.Evidence {
				return showB2(&was, s, "%d bytes were in flight, and %d ms later none of them is completed, though every packet was freed")
			})
			return
		}
		c.j.Suspect(func() *analysis.Evidence {
			return showB2(&was, s, "%d bytes were in flight, and %d ms later none of them is completed")
		})
	}
	if !q.open && q.polled && s.Up() && s.NumQueued != s.NumCompl {
		q.open, q.told, q.first = true, false, *s
	}
}

func showB2(was, s *analysis.Sampled, says string) *analysis.Evidence {
	return analysis.Show(s.Queue, &s.Header, says, was.NumQueued-was.NumCompl, ms(s.Time-was.Time)).
		With("in_flight", "bytes", int64(was.NumQueued-was.NumCompl)).With("num_completed", "bytes", int64(s.NumCompl)).Record(&was.Header)
}
