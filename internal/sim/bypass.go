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
	var packets, bytes uint64
	for i := range t.quiets {
		packets += uint64(t.quiets[i].Packets)
		bytes += uint64(t.quiets[i].Bytes)
	}
	if packets == 0 {
		return t.passed
	}
	each := uint32(bytes / packets)
	slices.SortStableFunc(t.meter, func(a, b reading) int { return cmp.Compare(a.at, b.at) })
	list := slices.Clip(t.passed)
	var carry uint32
	inside := false
	for i := 1; i < len(t.meter); i++ {
		from, to := &t.meter[i-1], &t.meter[i]
		grown := to.queued - from.queued
		if from.hand != noHand {
			inside = from.hand == handBegins
		}
		if inside || int32(grown) <= 0 || each == 0 {
			continue
		}
		grown += carry
		n := uint64(grown / each)
		carry = grown % each
		for k := range n {
			list = append(list, Arrival{At: from.at + (to.at-from.at)*(k+1)/(n+1), Len: each, Segs: 1, CPU: t.quiets[0].CPU % event.UserCPU, Passed: true})
		}
	}
	if found := list[len(t.passed):]; len(found) > 0 {
		return append(t.passed, thinned(found, packets, each)...)
	}
	for i := range t.quiets {
		list = spread(list, &t.quiets[i])
	}
	return list
}

// thinned gives as many sends as were counted, at the times that were found.
func thinned(found []Arrival, packets uint64, each uint32) []Arrival {
	n := uint64(len(found))
	list := make([]Arrival, packets)
	for i := range list {
		list[i] = found[uint64(i)*n/packets]
		list[i].Len = each
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

// sinceCharged tells since when each interrupt had something to report: since
// num_queued had grown beyond what the one before left completed.
func (t *trace) sinceCharged() {
	k := 0
	for i := range t.interrupts {
		m := &t.interrupts[i]
		m.Since = m.At
		if i == 0 {
			continue
		}
		done := t.completions[i-1]
		before := t.interrupts[i-1].At
		for k < len(t.meter) && t.meter[k].at < before {
			k++
		}
		for ; k < len(t.meter) && t.meter[k].at <= m.At; k++ {
			if t.meter[k].queued != done {
				m.Since = before
				if k > 0 {
					m.Since = max(before, t.meter[k-1].at)
				}
				break
			}
		}
	}
}
