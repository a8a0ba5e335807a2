// SPDX-License-Identifier: Apache-2.0

package sim

import (
	"cmp"
	"math"
	"slices"

	"github.com/txtrace/txtrace/internal/event"
	"github.com/txtrace/txtrace/internal/model"
)

// point is how many packets had been enqueued at a time: at a dequeue, or at
// either end of a run.
type point struct {
	at     uint64
	total  uint64
	cpu    uint16
	begins bool   // a run begins here
	who    uint8  // started it, event.Who*
	bypass uint64 // when the bypass send before it began
}

// state is the queue's at a time.
type state struct {
	at  uint64
	txq uint8
}

// unknownLen marks an arrival whose length the dequeues tell.
const unknownLen = 0

// span is from a time to a later one.
type span struct{ from, to uint64 }

// enqueued adds the packets that sat in the qdisc. While a run is under way
// they are taken to have come evenly. Between runs they can only have come
// while the queue was stopped, since the first to come at another time would
// have made a run; and one that did make one came then.
func (t *trace) enqueued(list []Arrival) []Arrival {
	slices.SortStableFunc(t.points, func(a, b point) int { return cmp.Compare(a.at, b.at) })
	slices.SortStableFunc(t.states, func(a, b state) int { return cmp.Compare(a.at, b.at) })
	var before, last point
	if n := len(t.points); n > 0 {
		last = t.points[n-1] // what was dropped is not in its total
	}
	next := 0
	for _, p := range t.points {
		for next < len(t.states) && t.states[next].at <= before.at {
			next++
		}
		if p.total = min(p.total, last.total); p.total > before.total {
			n := p.total - before.total
			windows := []span{{before.at, p.at}}
			if p.begins {
				windows = t.stopped(next, before.at, p.at)
				if p.who == event.WhoBypass && p.bypass >= before.at && p.bypass < p.at {
					windows = append(windows, span{p.bypass, p.at}) // while it was sent
				}
				if p.who == event.WhoEnqueue || len(windows) == 0 {
					list = append(list, Arrival{At: p.at, CPU: p.cpu, Len: unknownLen})
					n--
				}
			}
			list = evenly(list, windows, n, p)
			before.total = p.total
		}
		before.at = max(before.at, p.at)
	}
	return list
}

// stopped are the times in between two others at which the queue was stopped.
// next is the first change of its state after the first of them.
func (t *trace) stopped(next int, from, to uint64) (list []span) {
	was := next > 0 && !startable(t.states[next-1].txq)
	since := from
	for ; next < len(t.states) && t.states[next].at < to; next++ {
		s := t.states[next]
		if was && s.at > since {
			list = append(list, span{since, s.at})
		}
		was, since = !startable(s.txq), s.at
	}
	if was && to > since {
		list = append(list, span{since, to})
	}
	return list
}

func startable(txq uint8) bool { return model.Startable(model.QueueState(txq)) }

// evenly spreads n packets over times, each in the middle of its share, or puts
// them at the point where there are none.
func evenly(list []Arrival, windows []span, n uint64, p point) []Arrival {
	var length uint64
	for _, w := range windows {
		length += w.to - w.from
	}
	for i := range n {
		at, left := p.at, length*(2*i+1)/(2*n)
		for _, w := range windows {
			if left <= w.to-w.from {
				at = w.from + left
				break
			}
			left -= w.to - w.from
		}
		list = append(list, Arrival{At: at, CPU: p.cpu, Len: unknownLen})
	}
	return list
}

// behind tells each arrival how much may wait before it: what did, and as much
// as was taken with it.
func (t *trace) behind(list []Arrival) {
	var came, gone uint64
	k, own := 0, 0
	for i := range list {
		for ; k < len(t.taken) && t.taken[k].at <= list[i].At; k++ {
			gone = t.taken[k].total
		}
		for own < len(t.taken)-1 && t.taken[own].total <= came {
			own++
		}
		behind := came - min(gone, came)
		if !list[i].Passed {
			came++
			if own < len(t.taken) {
				behind += t.taken[own].n - 1
			}
		}
		list[i].Behind = uint32(min(behind, math.MaxUint32))
	}
}
