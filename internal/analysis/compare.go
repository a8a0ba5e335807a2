// SPDX-License-Identifier: Apache-2.0

package analysis

import (
	"maps"
	"slices"

	"github.com/txtrace/txtrace/internal/capture"
	"github.com/txtrace/txtrace/internal/event"
)

// compare sets our sums beside the kernel's counters, read before and after.
func (m *meter) compare(res *Result, end *End) []Comparison {
	if res.Footer == nil {
		return nil
	}
	var cs []Comparison
	for _, after := range res.Footer.Counters {
		var before *capture.Counters
		for i := range m.header.Counters {
			if b := &m.header.Counters[i]; b.Netns == after.Netns && b.Ifindex == after.Ifindex {
				before = b
			}
		}
		cs = append(cs, m.compareDevice(end, before, &after)...)
	}
	return cs
}

// compareDevice compares what is there at the end with what was there before,
// which is nil, or was another device, for one that came meanwhile: such a
// one may have sent before, elsewhere.
func (m *meter) compareDevice(end *End, before, after *capture.Counters) []Comparison {
	var cs []Comparison
	var taken, segments uint64
	var of *Device
	for _, q := range end.Queues {
		if q.Netns != after.Netns || q.Ifindex != after.Ifindex || q.Removed || !m.queues.At(q).used {
			continue
		}
		of = q.Device
		for _, s := range m.queues.At(q).qdiscs {
			segments += uint64(s.Packets)
		}
		taken += uint64(m.queues.At(q).handovers.Taken)
		if of.Generation > 0 {
			before = nil
		}
		cs = append(cs, m.compareQdiscs(q, before, after)...)
		cs = append(cs, m.compareLimit(q, after)...)
	}
	switch {
	case of == nil || before == nil:
		return cs
	case of.CountsSegments():
		taken = segments
	}
	c := Comparison{
		Netns: after.Netns, Ifindex: after.Ifindex, Ifname: of.Ifname,
		Name: "tx_packets", Unit: "packets", Ours: U64(taken), Kernel: U64(after.TxPackets - before.TxPackets),
		Note: "drivers count frames, segments or skbs; sends outside of dev_hard_start_xmit count too",
	}
	return append(cs, c.decide())
}

// compareQdiscs compares the qdiscs that were run for a queue, those that are
// still there.
func (m *meter) compareQdiscs(q *Queue, before, after *capture.Counters) []Comparison {
	var cs []Comparison
	for _, sums := range m.sums(q) {
		a := counterOf(after.Qdiscs, q, &sums)
		if a == nil {
			continue
		}
		b, ok := q.atStart(before, a)
		if !ok {
			continue
		}
		base := Comparison{Netns: q.Netns, Ifindex: q.Ifindex, Ifname: q.Ifname, Qdisc: a.Kind}
		if q.Txq != event.NoQueue {
			txq := q.Txq
			base.Txq = &txq
		}
		add := func(name, unit string, ours U64, kernel uint64) {
			c := base
			c.Name, c.Unit, c.Ours, c.Kernel = name, unit, ours, U64(kernel)
			cs = append(cs, c.decide())
		}
		add("qdisc_packets", "packets", sums.Packets, a.Packets-b.Packets)
		add("qdisc_bytes", "bytes", sums.Bytes, a.Bytes-b.Bytes)
		add("qdisc_requeues", "packets", sums.Requeues, a.Requeues-b.Requeues)
	}
	return cs
}

// atStart is what a qdisc that is there at the end had counted when recording
// began: what the header says, or nothing when a notice tells that it was made
// since. It is not known where several of one handle followed each other.
func (q *Queue) atStart(before *capture.Counters, after *capture.QdiscCounters) (b capture.QdiscCounters, ok bool) {
	changes := q.qdiscs[after.Handle].changes
	if before != nil {
		for _, b := range before.Qdiscs {
			if b.Qdisc == after.Qdisc {
				return b, changes == 0
			}
		}
	}
	return b, changes == 1
}

// sums of the qdiscs that a queue's runs and sends were of. What a qdisc that
// serves several queues did is spread over them: it is summed up under the
// queue that stands for none.
func (m *meter) sums(q *Queue) qdiscSums {
	own := m.queues.At(q)
	if q.shared() == nil {
		return own.qdiscs
	}
	if q.Txq != event.NoQueue {
		return nil
	}
	var all qdiscSums
	for _, txq := range slices.Sorted(maps.Keys(q.queues)) {
		all = MergeQdiscs(all, m.queues.At(q.queues[txq]).qdiscs)
	}
	return all
}

const rootParent = 0xffffffff

// counterOf finds the kernel's counters of a qdisc: by its handle, or, where it has
// none (the default children of mq), by the queue it hangs under.
func counterOf(qs []capture.QdiscCounters, q *Queue, s *QdiscReport) *capture.QdiscCounters {
	for i := range qs {
		k := &qs[i]
		switch {
		case holdsOthers(k.Kind), s.Kind != "" && k.Kind != s.Kind:
		case s.Handle != 0 && k.Handle == s.Handle,
			s.Handle == 0 && k.Handle == 0 && (k.Parent == rootParent || k.Parent&0xffff == uint32(q.Txq)+1):
			return k
		}
	}
	return nil
}

// compareLimit compares the last limit that a completion left with sysfs.
func (m *meter) compareLimit(q *Queue, after *capture.Counters) []Comparison {
	r := m.queues.At(q)
	if !r.limitSeen {
		return nil
	}
	for _, b := range after.BQL {
		if b.Txq == uint32(q.Txq) {
			txq := q.Txq
			c := Comparison{
				Netns: q.Netns, Ifindex: q.Ifindex, Ifname: q.Ifname, Txq: &txq,
				Name: "bql_limit", Unit: "bytes", Ours: U64(r.bql.LimitLast), Kernel: U64(b.Limit),
			}
			return []Comparison{c.decide()}
		}
	}
	return nil
}

func (c Comparison) decide() Comparison {
	c.Equal = c.Ours == c.Kernel
	if c.Equal {
		c.Note = ""
	} else if c.Note == "" {
		c.Note = "exact only between two quiet moments, with nothing lost"
	}
	return c
}
