// SPDX-License-Identifier: Apache-2.0

package analysis

import (
	"slices"
)

// Shape is how much one queue was given at a time. Its Checks fill it in.
type Shape struct {
	Queue func(*Queue) bool // whose

	BatchPackets Sample // of every dequeue
	BatchBytes   Sample // on the wire
	RunPackets   Sample // of every run
	RunBytes     Sample
	Restarts     Sample
	Limits       Sample // of BQL, after every completion, bytes
}

// Checks look at every decision of the queue; see Options.Watch.
func (s *Shape) Checks() Checks {
	return Checks{Batch: s.batch, Run: s.run, Completion: s.completion}
}

func (s *Shape) batch(b *Batch) {
	if s.Queue(b.Queue) {
		s.BatchPackets.add(b.Listed())
		s.BatchBytes.add(b.PktLen)
	}
}

func (s *Shape) run(r *Run) {
	if !s.Queue(r.Queue) || r.Partial() {
		return
	}
	var bytes uint32
	for i := range r.Restarts {
		if b := r.Restarts[i].Batch; b != nil {
			bytes += b.PktLen
		}
	}
	s.RunPackets.add(r.Packets)
	s.RunBytes.add(bytes)
	s.Restarts.add(r.Restarted())
}

func (s *Shape) completion(c *Completion) {
	if s.Queue(c.Queue) && !c.Torn() {
		s.Limits.add(c.Limit)
	}
}

// Sample is a number of values.
type Sample struct {
	values []uint32
	sorted bool
	sum    uint64
}

func (s *Sample) add(v uint32) {
	s.values, s.sorted, s.sum = append(s.values, v), false, s.sum+uint64(v)
}

func (s *Sample) sort() {
	if !s.sorted {
		slices.Sort(s.values)
		s.sorted = true
	}
}

// Count of values.
func (s *Sample) Count() int { return len(s.values) }

// Mean of the values, 0 of none.
func (s *Sample) Mean() float64 {
	if len(s.values) == 0 {
		return 0
	}
	return float64(s.sum) / float64(len(s.values))
}

// Percentile is the least value that p percent of all do not exceed, 0 of none.
func (s *Sample) Percentile(p int) uint32 {
	if len(s.values) == 0 {
		return 0
	}
	s.sort()
	i := (len(s.values)*p + 99) / 100
	return s.values[max(i, 1)-1]
}

// Max is the largest value, 0 of none.
func (s *Sample) Max() uint32 { return s.Percentile(100) }

// Variation is the total variation distance of two samples of sizes: the share
// of one that would have to be other sizes for both to be alike. It is for few
// different values; 0 is alike, 1 has nothing in common.
func (s *Sample) Variation(t *Sample) float64 {
	return s.walk(t, func(ds, dt, _ float64) float64 { return max(ds-dt, 0) }, func(a, b float64) float64 { return a + b })
}

// Smirnov is the Kolmogorov-Smirnov distance: the largest difference of the
// shares that lie below a value.
func (s *Sample) Smirnov(t *Sample) float64 {
	return s.walk(t, func(_, _, below float64) float64 { return max(below, -below) }, func(a, b float64) float64 { return max(a, b) })
}

// walk goes through the values of both: at gives, of the shares that equal a
// value and the difference of those up to it, what join joins.
func (s *Sample) walk(t *Sample, at func(ds, dt, below float64) float64, join func(a, b float64) float64) (d float64) {
	n, m := len(s.values), len(t.values)
	if n == 0 || m == 0 {
		if n == m {
			return 0
		}
		return 1
	}
	s.sort()
	t.sort()
	for i, k := 0, 0; i < n || k < m; {
		v := min(valueAt(s.values, i), valueAt(t.values, k))
		fromI, fromK := i, k
		for i < n && uint64(s.values[i]) == v {
			i++
		}
		for k < m && uint64(t.values[k]) == v {
			k++
		}
		ds, dt := float64(i-fromI)/float64(n), float64(k-fromK)/float64(m)
		d = join(d, at(ds, dt, float64(i)/float64(n)-float64(k)/float64(m)))
	}
	return d
}

// valueAt is a value, or one beyond all when there are no more.
func valueAt(list []uint32, i int) uint64 {
	if i < len(list) {
		return uint64(list[i])
	}
	return 1 << 32
}
