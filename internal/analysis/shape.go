// SPDX-License-Identifier: Apache-2.0

package analysis

import "slices"

// Shape is how much one queue was given at a time. Its Checks fill it in.
type Shape struct {
	Netns, Ifindex uint32
	Txq            uint16

	BatchPackets Sample // of every dequeue
	BatchBytes   Sample // on the wire
	RunPackets   Sample // of every run
	RunBytes     Sample
	Restarts     Sample
	Limits       Sample // of BQL, after every completion, bytes
}

func (s *Shape) is(q *Queue) bool {
	return q.Txq == s.Txq && q.Ifindex == s.Ifindex && q.Netns == s.Netns
}

// Of says that a report is of the same queue.
func (s *Shape) Of(r *QueueReport) bool {
	return r.Txq == s.Txq && r.Ifindex == s.Ifindex && r.Netns == s.Netns
}

// Checks look at every decision of the queue; see Options.Watch.
func (s *Shape) Checks() Checks {
	return Checks{Batch: s.batch, Run: s.run, Completion: s.completion}
}

func (s *Shape) batch(b *Batch) {
	if s.is(b.Queue) {
		s.BatchPackets.add(b.Listed())
		s.BatchBytes.add(b.wire())
	}
}

func (s *Shape) run(r *Run) {
	if !s.is(r.Queue) || r.Partial() {
		return
	}
	var bytes uint32
	for i := range r.Restarts {
		if b := r.Restarts[i].Batch; b != nil {
			bytes += b.wire()
		}
	}
	s.RunPackets.add(r.Packets)
	s.RunBytes.add(bytes)
	s.Restarts.add(r.Restarted())
}

func (s *Shape) completion(c *Completion) {
	if s.is(c.Queue) && !c.Torn() {
		s.Limits.add(c.Limit)
	}
}

// wire is the bytes of a batch on the wire. A segment that was requeued still
// has the qdisc_pkt_len of the packet it was cut from.
func (b *Batch) wire() uint32 {
	if b.Origin == OriginGSOSkb {
		return b.Bytes
	}
	return b.PktLen
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

// Counts are the values that occur, and how often.
func (s *Sample) Counts() []Count {
	s.sort()
	var list []Count
	for _, v := range s.values {
		if n := len(list); n > 0 && list[n-1].N == v {
			list[n-1].Count++
		} else {
			list = append(list, Count{v, 1})
		}
	}
	return list
}

// Variation is the total variation distance of two samples of sizes: the share
// of one that would have to be other sizes for both to be alike. It is for few
// different values; 0 is alike, 1 has nothing in common.
func (s *Sample) Variation(t *Sample) (d float64) {
	s.walk(t, func(v uint64, ds, dt float64) { d += max(ds-dt, 0) })
	return d
}

// Transport is by how much the values of one sample have to be changed, in the
// mean, for both to be alike (Wasserstein's distance).
func (s *Sample) Transport(t *Sample) (d float64) {
	var last uint64
	var below float64 // more of s than of t up to the last value
	s.walk(t, func(v uint64, ds, dt float64) {
		d += max(below, -below) * float64(v-last)
		last, below = v, below+ds-dt
	})
	return d
}

// walk goes through the values of both, with the share of each sample that
// equals them. Where one is empty it has a share of nothing.
func (s *Sample) walk(t *Sample, at func(v uint64, ds, dt float64)) {
	n, m := len(s.values), len(t.values)
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
		at(v, float64(i-fromI)/float64(max(n, 1)), float64(k-fromK)/float64(max(m, 1)))
	}
}

// valueAt is a value, or one beyond all when there are no more.
func valueAt(list []uint32, i int) uint64 {
	if i < len(list) {
		return uint64(list[i])
	}
	return 1 << 32
}
