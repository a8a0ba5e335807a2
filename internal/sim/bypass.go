// SPDX-License-Identifier: Apache-2.0

package sim

import (
	"cmp"
	"math"
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
	if t.quiet == 0 {
		return t.passed
	}
	slices.SortStableFunc(t.quiets, func(a, b event.Quiet) int { return cmp.Compare(a.Time, b.Time) })
	list := t.passed
	if times := t.grown(); len(times) > 0 {
		settle(times, t.quiet)
		t.tie(times)
		for i := range times {
			list = t.share(list, &times[i])
		}
		return list
	}
	for i := range t.quiets {
		list = spread(list, &t.quiets[i])
	}
	return list
}

// sends is what was sent in a time.
type sends struct {
	span
	bytes, n uint64
	want     float64 // packets, if they had the length of those that were counted then
	cpu      uint16
}

// grown are the times in which num_queued grew outside of the hand-overs that
// are recorded.
func (t *trace) grown() (list []sends) {
	length := t.usualLength()
	inside := false
	k := 0
	for i := 1; i < len(t.meter); i++ {
		from, to := &t.meter[i-1], &t.meter[i]
		if from.hand != noHand {
			inside = from.hand == handBegins
		}
		bytes := int32(to.queued - from.queued)
		if inside || bytes <= 0 {
			continue
		}
		for k < len(t.quiets)-1 && t.quiets[k].Time < to.at {
			k++
		}
		q := &t.quiets[k]
		list = append(list, sends{
			span: span{from.at, to.at}, bytes: uint64(bytes), cpu: q.CPU % event.UserCPU,
			want: t.packets(float64(bytes), float64(q.Bytes)/float64(max(q.Packets, 1)), length),
		})
	}
	return list
}

// usualLength is the one that most packets have that were only counted.
func (t *trace) usualLength() float64 {
	packets := make(map[uint32]uint64)
	most := uint32(1)
	for i := range t.quiets {
		if q := &t.quiets[i]; q.Packets > 0 && q.Bytes >= q.Packets && q.Bytes%q.Packets == 0 {
			n := q.Bytes / q.Packets
			if packets[n] += uint64(q.Packets); packets[n] > packets[most] {
				most = n
			}
		}
	}
	return float64(most)
}

// packets guesses how many were sent that have so many bytes, when packets were
// of a mean length: of the usual one, where that fits; else one, if a frame can
// be as long.
func (t *trace) packets(bytes, mean, usual float64) float64 {
	n := math.Ceil(bytes / usual)
	switch {
	case n*usual == bytes, math.Abs(mean-usual) < usual/8:
		return n
	case bytes <= float64(t.frame):
		return 1
	}
	return bytes / max(mean, 1)
}

// settle makes as many packets of the sends as were counted, one at least of
// each, where that changes their lengths least.
func settle(list []sends, packets uint64) {
	var sum float64
	for i := range list {
		sum += list[i].want
	}
	order := make([]*sends, len(list))
	var made uint64
	for i := range list {
		s := &list[i]
		s.want *= float64(packets) / sum
		s.n = max(uint64(s.want+0.5), 1)
		made += s.n
		order[i] = s
	}
	lacks := func(s *sends) float64 { return s.want - float64(s.n) }
	slices.SortStableFunc(order, func(a, b *sends) int { return cmp.Compare(lacks(b), lacks(a)) })
	for made < packets {
		each := max((packets-made)/uint64(len(order)), 1)
		for _, s := range order {
			n := min(each, packets-made)
			s.n, made = s.n+n, made+n
		}
	}
	slices.Reverse(order)
	for made > packets {
		order = slices.DeleteFunc(order, func(s *sends) bool { return s.n == 1 })
		if len(order) == 0 {
			return // more times than packets
		}
		each := max((made-packets)/uint64(len(order)), 1)
		for _, s := range order {
			n := min(each, made-packets, s.n-1)
			s.n, made = s.n-n, made-n
		}
	}
}

// tie gives each run that a packet past the qdisc began the time when that one
// was sent, where no record tells: a usual time before the run, or before a
// completion reported it, which then took time of its sender until the run.
func (t *trace) tie(list []sends) {
	slices.SortStableFunc(t.points, func(a, b point) int { return cmp.Compare(a.at, b.at) })
	took := t.passing()
	var before uint64
	k := 0
	for i := range t.points {
		p := &t.points[i]
		for k < len(list)-1 && list[k+1].from < p.at {
			k++
		}
		s := &list[k]
		if p.begins && p.who == event.WhoBypass && (p.bypass < before || p.bypass >= p.at) && s.from < p.at && s.to > before {
			end := min(p.at, s.to)
			p.bypass = max(end-min(took, end), s.from, before)
			t.ties = append(t.ties, p.bypass)
			t.steps = append(t.steps, step{at: p.bypass, took: p.at - p.bypass, n: 1, kind: stepPass})
		}
		before = max(before, p.at)
	}
	slices.SortStableFunc(t.steps, func(a, b step) int { return cmp.Compare(a.at, b.at) })
}

// share adds the packets, spread over the time; the last of them is the one that
// began a run.
func (t *trace) share(list []Arrival, s *sends) []Arrival {
	a := Arrival{Segs: 1, CPU: s.cpu, Passed: true}
	to, evenly := s.to, s.n
	for len(t.ties) > 0 && t.ties[0] < s.to {
		if t.ties[0] >= s.from {
			to, evenly = t.ties[0], s.n-1
		}
		t.ties = t.ties[1:]
	}
	bytes := s.bytes
	for i := range s.n {
		a.At = to
		if i < evenly {
			a.At = s.from + (to-s.from)*(2*i+1)/(2*evenly)
		}
		a.Len = uint32(bytes / (s.n - i))
		bytes -= uint64(a.Len)
		list = append(list, a)
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
		list[i] = Moment{Since: c.at, At: c.at, With: c.with, CPU: c.cpu}
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
