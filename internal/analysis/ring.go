// SPDX-License-Identifier: Apache-2.0

package analysis

import (
	"github.com/txtrace/txtrace/internal/event"
	"github.com/txtrace/txtrace/internal/model"
)

// Ring is a hand-over that charged bytes to a queue, and when the driver
// reported the last of them as sent.
type Ring struct {
	event.Header // of the hand-over
	Queue        *Queue
	NumQueued    uint32 // after it, bytes
	To           uint64 // when they were completed, or the capture ended, ns
	Left         bool   // not completed
	Own          bool   // the completing code told so itself, and not some other record later
}

// Took is how long, in ns.
func (r *Ring) Took() uint64 { return r.To - min(r.Time, r.To) }

// pastCompletions is how many of a queue's completions are remembered: those
// that may have come while a run was under way, which is told of at its end.
const pastCompletions = 256

// maxGiven bounds the hand-overs of one queue that wait for their completion.
const maxGiven = 1 << 14

// ringMeter follows what a queue's driver was given until it is completed. Both
// are positions: a hand-over ends at num_queued, and is done at the first
// completion that brings num_completed there. Bypass sends that are counted
// only (Quiet) have no position.
type ringMeter struct {
	gaps *gaps
	give func(Ring) // each hand-over that is done
	open []given    // not completed yet, by position
	past []finished // by position, the last ones
	cut  bool       // some were forgotten

	ring, oldest times
	late, lost   U64
}

// given is a hand-over: the bytes up to a position.
type given struct {
	at   uint32
	time uint64
	head event.Header
}

// finished is a completion up to a position.
type finished struct {
	at   uint32
	own  bool
	aged bool // age is known
	time uint64
	age  uint64 // of the oldest bytes in flight before it, ns
}

func (f *finished) meet(g given) {
	if f.time >= g.time {
		f.age, f.aged = max(f.age, f.time-g.time), true
	}
}

func (m *ringMeter) reset() {
	m.retire(len(m.past))
	m.lost += U64(len(m.open))
	m.open, m.past, m.cut = m.open[:0], m.past[:0], false
}

func (m *ringMeter) handover(h *Handover) {
	if h.Reset() {
		m.reset()
		return
	}
	if h.Partial() || h.Charged() == 0 {
		return
	}
	g := given{h.NumQueuedEnd, h.Time, h.Header}
	i := len(m.past)
	for i > 0 && int32(m.past[i-1].at-g.at) >= 0 {
		i--
	}
	if i == 0 && m.cut {
		m.lost++
		return
	}
	for k := min(i, len(m.past)-1); k >= 0 && m.past[k].time > g.time; k-- {
		m.past[k].meet(g)
	}
	if i == len(m.past) {
		m.add(g)
	} else {
		m.done(g, &m.past[i])
	}
}

// add keeps a hand-over; they seldom come out of order.
func (m *ringMeter) add(g given) {
	if len(m.open) == maxGiven {
		m.lost++
		return
	}
	m.open = append(m.open, g)
	for k := len(m.open) - 1; k > 0 && int32(m.open[k-1].at-g.at) > 0; k-- {
		m.open[k-1], m.open[k] = m.open[k], m.open[k-1]
	}
}

// done counts a hand-over that a completion covers. What some other record's
// program noticed was completed earlier.
func (m *ringMeter) done(g given, f *finished) {
	switch {
	case m.gaps.within(Span{min(g.time, f.time), f.time}):
		m.lost++
		return
	case !f.own:
		m.late++
	default:
		m.ring.add(f.time - min(g.time, f.time))
	}
	m.give(Ring{Header: g.head, NumQueued: g.at, To: f.time, Own: f.own})
}

// end gives the oldest that waits still.
func (m *ringMeter) end(now uint64) {
	if len(m.open) > 0 {
		g := m.open[0]
		m.give(Ring{Header: g.head, NumQueued: g.at, To: max(now, g.time), Left: true})
	}
}

func (m *ringMeter) completion(c *Completion) {
	if c.Torn() {
		return
	}
	if n := len(m.past); c.Step.Outcome == model.OutcomeReset || n > 0 && int32(c.NumCompleted-m.past[n-1].at) < 0 {
		m.reset()
	}
	f := finished{at: c.NumCompleted, own: c.Own(), time: c.Time}
	if len(m.open) > 0 {
		f.meet(m.open[0])
	}
	n := 0
	for n < len(m.open) && int32(f.at-m.open[n].at) >= 0 {
		m.done(m.open[n], &f)
		n++
	}
	m.open = append(m.open[:0], m.open[n:]...)
	if len(m.past) == 2*pastCompletions {
		m.retire(pastCompletions)
		m.cut = true
	}
	m.past = append(m.past, f)
}

// retire counts the age of the first n completions and forgets them.
func (m *ringMeter) retire(n int) {
	for _, f := range m.past[:n] {
		if f.own && f.aged {
			m.oldest.add(f.age)
		}
	}
	m.past = append(m.past[:0], m.past[n:]...)
}

// report is final: what waits still is told by its number.
func (m *ringMeter) report() LatencyReport {
	m.retire(len(m.past))
	return LatencyReport{
		RingNS: m.ring.report(), OldestNS: m.oldest.report(),
		Late: m.late, Lost: m.lost, Left: U64(len(m.open)),
	}
}
