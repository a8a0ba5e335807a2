// SPDX-License-Identifier: Apache-2.0

package rules

import (
	"math/bits"

	"github.com/txtrace/txtrace/internal/analysis"
)

// Decision: no document says how much longer the last of a burst may take. A
// hand-over that another one follows before it is completed is one that took
// long, so the others are the slower ones where all is well. L3 compares
// medians by the power of two: the last ones may take up to eight times as long
// as the others, and a half of a millisecond whatever the others do.
const (
	slowerL3 = 3       // powers of two
	littleL3 = 500_000 // ns
	enoughL3 = 32      // of each, or there is no instance
)

var l3 = analysis.Rule{
	ID:         "L3",
	Sentence:   "The last packets of a burst are completed as soon as others.",
	Why:        "A driver may ask the device to tell of every so many packets only. If it does not ask for the last of a burst, nothing tells of that until a timer does, and BQL and TSQ hold its sender back for so long.",
	Fate:       analysis.Suspicion,
	Documents:  []string{"004_9aeb9cc635f797dc", "d21a374995df"},
	Kernel:     "ndo_start_xmit",
	Needs:      []string{"handover", "bql", "complete.napi"},
	Strength:   analysis.Heuristic,
	Antecedent: "a queue of which enough hand-overs were completed before the next, and enough after",
	New: func(j *analysis.Judge) analysis.Checks {
		c := checkL3{j: j, little: j.Limit(littleL3)}
		return analysis.Checks{Ring: c.ring, End: c.end}
	},
}

// medianL3 is a distribution of times by the power of two above each.
type medianL3 struct {
	n  uint64
	by [65]uint64
}

func (m *medianL3) add(ns uint64) {
	m.n++
	m.by[bits.Len64(ns)]++
}

// median is the power of two above it.
func (m *medianL3) median() (power int) {
	left := (m.n + 1) / 2
	for left > m.by[power] {
		left -= m.by[power]
		power++
	}
	return power
}

// queueL3 are the hand-overs of a queue. What became of one is told when the
// next is known.
type queueL3 struct {
	before       analysis.Ring // valid only if has
	has          bool
	last, others medianL3
	from         uint64
}

type checkL3 struct {
	j      *analysis.Judge
	little uint64
	queues analysis.PerQueue[queueL3]
}

func (c *checkL3) ring(r *analysis.Ring) {
	q := c.queues.At(r.Queue)
	if q.from == 0 {
		q.from = r.Begin()
	}
	if b := &q.before; q.has && b.Own && !b.Left {
		if r.Begin() < b.To {
			q.others.add(b.Took())
		} else {
			q.last.add(b.Took())
		}
	}
	q.before, q.has = *r, true
}

func (c *checkL3) end(e *analysis.End) {
	for _, queue := range e.Queues {
		q := c.queues.At(queue)
		if q.last.n < enoughL3 || q.others.n < enoughL3 {
			continue
		}
		last, others := q.last.median(), q.others.median()
		if last <= others+slowerL3 || last <= bits.Len64(c.little) {
			c.j.Held()
			continue
		}
		c.j.SuspectIf(analysis.Claim{Over: analysis.Span{From: q.from, To: q.before.To}}, func() *analysis.Evidence {
			return analysis.Show(queue, &q.before.Header, "the last of %d bursts took %d us or more at the median, and what was followed by others less than %d us", q.last.n, uint64(1)<<(last-1)/1000, uint64(1)<<others/1000).
				With("last", "ns", 1<<(last-1)).With("others", "ns", 1<<others)
		})
	}
}
