// SPDX-License-Identifier: Apache-2.0

package analysis

// points is how many buckets of time a series has. When time goes past the
// last one, neighbours are joined and all become twice as long.
const points = 256

// firstWidth is the length of a bucket at the begin, in ns.
const firstWidth = 1_000_000

// series is what a value was over time, in constant memory.
type series struct {
	begin, width uint64
	points       []point // grows up to points
}

// point is one bucket.
type point struct {
	limit, inflight track
}

// track follows one value within a bucket.
type track struct {
	min, max, last uint32
	seen           bool
}

func (t *track) add(v uint32) {
	if !t.seen {
		t.min, t.max, t.seen = v, v, true
	}
	t.min, t.max, t.last = min(t.min, v), max(t.max, v), v
}

// join adds a later bucket's values.
func (t *track) join(later track) {
	switch {
	case !later.seen:
	case !t.seen:
		*t = later
	default:
		t.min, t.max, t.last = min(t.min, later.min), max(t.max, later.max), later.last
	}
}

// at is the bucket of a time. Times before the begin count as the begin.
func (s *series) at(ns uint64) *point {
	if s.width == 0 {
		s.begin, s.width = ns, firstWidth
	}
	i := (max(ns, s.begin) - s.begin) / s.width
	for i >= points {
		s.halve()
		i = (max(ns, s.begin) - s.begin) / s.width
	}
	for i >= uint64(len(s.points)) {
		s.points = append(s.points, point{})
	}
	return &s.points[i]
}

func (s *series) halve() {
	n := (len(s.points) + 1) / 2
	for i := range n {
		p := s.points[2*i]
		if 2*i+1 < len(s.points) {
			p.limit.join(s.points[2*i+1].limit)
			p.inflight.join(s.points[2*i+1].inflight)
		}
		s.points[i] = p
	}
	s.points = s.points[:n]
	s.width *= 2
}

// report lists the buckets in which something was seen, from the first one
// with a limit. A limit stays what it was until it is seen to move.
func (s *series) report() []Point {
	var ps []Point
	var limit track
	for i, p := range s.points {
		if !p.limit.seen && (!p.inflight.seen || !limit.seen) {
			continue
		}
		if !p.limit.seen {
			p.limit = track{limit.last, limit.last, limit.last, true}
		}
		limit = p.limit
		begin := s.begin + uint64(i)*s.width
		ps = append(ps, Point{
			BeginNS: U64(begin), EndNS: U64(begin + s.width),
			LimitMin: p.limit.min, LimitMax: p.limit.max, LimitLast: p.limit.last,
			InflightMin: p.inflight.min, InflightMax: p.inflight.max, InflightLast: p.inflight.last,
		})
	}
	return ps
}
