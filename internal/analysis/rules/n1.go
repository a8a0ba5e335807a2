// SPDX-License-Identifier: Apache-2.0

package rules

import (
	"github.com/txtrace/txtrace/internal/analysis"
)

var n1 = analysis.Rule{
	ID:         "N1",
	Sentence:   "A packet in a lockless qdisc has somebody who runs it or will.",
	Why:        "Who finds the qdisc taken leaves a mark (MISSED) and goes; whoever has it must see the mark before it lets go. Where both look too early the packet waits until the next one comes, which may be never.",
	Documents:  []string{"a90c57f2cedd", "c4fef01ba479"},
	Kernel:     "qdisc_run_end",
	Needs:      []string{"sample"},
	Strength:   analysis.Interval,
	Antecedent: "a look at a lockless qdisc with packets in it",
	New: func(j *analysis.Judge) analysis.Checks {
		c := checkN1{j: j, limit: j.Limit(patience)}
		return analysis.Checks{Sample: c.sample}
	},
}

// leftN1 is the first look at packets that nobody had, the same ever since.
type leftN1 struct {
	is, told bool
	first    analysis.Sampled
}

type checkN1 struct {
	j      *analysis.Judge
	limit  uint64
	queues analysis.PerQueue[leftN1]
}

// sample: what an enqueue adds is seen before its sender goes on to run the
// qdisc, so that one look finds nobody proves nothing.
func (c *checkN1) sample(s *analysis.Sampled) {
	if !s.NoLock() || s.Torn() {
		return
	}
	left := c.queues.At(s.Queue)
	same := left.is && s.SameAs(&left.first)
	if left.is && !same && !left.told {
		c.j.Held() // somebody came
	}
	switch {
	case s.Waiting() == 0 || !s.Up() || s.Deactivated():
		left.is = false
	case s.Stopped() || s.HeldUnknown():
		left.is = false
		c.j.Undecided(analysis.Race) // a stopped queue's qdisc may wait for its start
	case !s.Free() || s.Scheduled():
		left.is = false
		c.j.Held()
	case !same:
		*left = leftN1{is: true, first: *s}
	case s.Time-left.first.Time > c.limit && !left.told:
		left.told = true
		c.stuck(&left.first, s)
	}
}

// stuck: the same packet is next after all this time, and none went in between.
// Where the packet that is next cannot be told, a count may be wrong instead.
func (c *checkN1) stuck(was, s *analysis.Sampled) {
	show := func() *analysis.Evidence {
		return analysis.Show(s.Queue, &s.Header, "%d packets wait, nobody runs the qdisc or will, and so it was %d ms before", s.Waiting(), ms(s.Time-was.Time)).
			With("qlen", "packets", int64(s.Qlen)).With("dequeued", "packets", int64(s.Dequeued)).
			With("qdisc_state", "", int64(s.QdiscState)).Record(&was.Header)
	}
	if s.First == 0 {
		c.j.Suspect(show)
		return
	}
	c.j.Broken(show)
}
