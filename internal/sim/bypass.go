// SPDX-License-Identifier: Apache-2.0

package sim

import (
	"cmp"
	"slices"

	"github.com/txtrace/txtrace/internal/event"
)

// reading is num_queued at a time. What it grew by since the one before was
// sent in between; inside of a hand-over that is recorded, by that.
type reading struct {
	at     uint64
	queued uint32
	hand   hand
}

// hand says that a recorded hand-over begins or ends with a reading.
type hand uint8

const (
	noHand hand = iota
	handBegins
	handEnds
)

// bypasses are the packets that never sat in the qdisc: those of records of
// their own, and those that were only counted. Of these num_queued tells when
// they were sent, where there is BQL; else they are taken to have come evenly.
func (t *trace) bypasses() []Arrival {
	packets, bytes := t.quiet, uint64(0)
	for i := range t.quiets {
		bytes += uint64(t.quiets[i].Bytes)
	}
	if packets == 0 {
		return t.passed
	}
	each := uint32(bytes / packets)
	if found := t.grown(each); len(found) > 0 {
		return share(t.passed, found, packets, Arrival{Len: each, Segs: 1, CPU: t.quiets[0].CPU % event.UserCPU, Passed: true})
	}
	list := t.passed
	for i := range t.quiets {
		list = spread(list, &t.quiets[i])
	}
	return list
}

// sends is a number of packets that were sent in a time.
type sends struct {
	span
	n uint64
}

// grown are the times in which num_queued grew outside of the hand-overs that
// are recorded, by packets of a length.
func (t *trace) grown(each uint32) (list []sends) {
	if each == 0 {
		return nil
	}
	var carry uint32
	inside := false
	for i := 1; i < len(t.meter); i++ {
		from, to := &t.meter[i-1], &t.meter[i]
		if from.hand != noHand {
			inside = from.hand == handBegins
		}
		bytes := to.queued - from.queued
		if inside || int32(bytes) <= 0 {
			continue
		}
		bytes += carry
		carry = bytes % each
		if n := uint64(bytes / each); n > 0 {
			list = append(list, sends{span{from.at, to.at}, n})
		}
	}
	return list
}

// share adds as many packets as were counted, spread over the times in which
// they seem to have been sent.
func share(list []Arrival, times []sends, packets uint64, like Arrival) []Arrival {
	var total, sum, added uint64
	for _, s := range times {
		total += s.n
	}
	for _, s := range times {
		sum += s.n
		n := uint64(float64(packets)*float64(sum)/float64(total)) - added
		added += n
		for k := range n {
			like.At = s.from + (s.to-s.from)/(n+1)*(k+1)
			list = append(list, like)
		}
	}
	return list
}

// spread adds the sends of a record evenly over its time.
func spread(list []Arrival, r *event.Quiet) []Arrival {
	n := uint64(max(r.Packets, 1))
	for i := range n {
		list = append(list, Arrival{At: r.Begin() + uint64(r.Dur)*i/n, Len: r.Bytes / uint32(n), Segs: 1, CPU: r.CPU % event.UserCPU, Passed: true})
	}
	return list
}

// interrupts are the completions, each with the time since when it had
// something to report: since num_queued had grown beyond what the one before
// left completed.
func (t *trace) interrupts() []Moment {
	slices.SortStableFunc(t.completions, func(a, b completion) int { return cmp.Compare(a.at, b.at) })
	list := make([]Moment, len(t.completions))
	k := 0
	for i, c := range t.completions {
		list[i] = Moment{c.at, c.at, c.cpu}
		if i == 0 {
			continue
		}
		before := t.completions[i-1]
		for k < len(t.meter) && t.meter[k].at < before.at {
			k++
		}
		for ; k < len(t.meter) && t.meter[k].at <= c.at; k++ {
			if t.meter[k].queued != before.completed {
				list[i].Since = before.at
				if k > 0 {
					list[i].Since = max(before.at, t.meter[k-1].at)
				}
				break
			}
		}
	}
	return list
}
