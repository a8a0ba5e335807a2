// SPDX-License-Identifier: Apache-2.0

package analysis

import (
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
		for _, before := range m.header.Counters {
			if before.Netns == after.Netns && before.Ifindex == after.Ifindex {
				cs = append(cs, m.compareDevice(end, &before, &after)...)
			}
		}
	}
	return cs
}

func (m *meter) compareDevice(end *End, before, after *capture.Counters) []Comparison {
	var cs []Comparison
	var taken, segments uint64
	var of *Device
	for _, q := range end.Queues {
		if q.Netns != after.Netns || q.Ifindex != after.Ifindex || !m.queues.At(q).used {
			continue
		}
		of = q.Device
		for _, s := range m.queues.At(q).qdiscs {
			segments += s.packets
		}
		taken += uint64(m.queues.At(q).handovers.Taken)
		cs = append(cs, m.compareQdiscs(q, before, after)...)
		cs = append(cs, m.compareLimit(q, after)...)
	}
	switch {
	case of == nil:
		return nil
	case of.CountsSegments():
		taken = segments
	}
	c := Comparison{
		Netns: after.Netns, Ifindex: after.Ifindex, Ifname: end.ifname(after.Netns, after.Ifindex),
		Name: "tx_packets", Unit: "packets", Ours: U64(taken), Kernel: U64(after.TxPackets - before.TxPackets),
		Note: "drivers count frames, segments or skbs; sends outside of dev_hard_start_xmit count too",
	}
	return append(cs, c.decide())
}

// compareQdiscs compares the qdiscs that were run for a queue.
func (m *meter) compareQdiscs(q *Queue, before, after *capture.Counters) []Comparison {
	var cs []Comparison
	for _, sums := range m.sums(q) {
		b, a := counterOf(before.Qdiscs, q, sums), counterOf(after.Qdiscs, q, sums)
		if a == nil || b == nil || a.Qdisc != b.Qdisc {
			continue
		}
		base := Comparison{Netns: q.Netns, Ifindex: q.Ifindex, Ifname: q.Ifname, Qdisc: a.Kind}
		if q.Txq != event.NoQueue {
			txq := q.Txq
			base.Txq = &txq
		}
		add := func(name, unit string, ours, kernel uint64) {
			c := base
			c.Name, c.Unit, c.Ours, c.Kernel = name, unit, U64(ours), U64(kernel)
			cs = append(cs, c.decide())
		}
		add("qdisc_packets", "packets", sums.packets, a.Packets-b.Packets)
		add("qdisc_bytes", "bytes", sums.bytes, a.Bytes-b.Bytes)
		add("qdisc_requeues", "packets", sums.requeues, a.Requeues-b.Requeues)
	}
	return cs
}

// sums of the qdiscs that a queue's runs and sends were of. What a qdisc that
// serves several queues did is spread over them: it is summed up under the
// queue that stands for none.
func (m *meter) sums(q *Queue) []qdiscSums {
	own := m.queues.At(q)
	if q.shared() == nil {
		return own.qdiscs
	}
	if q.Txq != event.NoQueue {
		return nil
	}
	var all queueMeter
	for _, one := range q.queues {
		for _, s := range m.queues.At(one).qdiscs {
			t := all.qdisc(s.handle)
			t.kind, t.packets, t.bytes, t.requeues = s.kind, t.packets+s.packets, t.bytes+s.bytes, t.requeues+s.requeues
		}
	}
	return all.qdiscs
}

const rootParent = 0xffffffff

// counterOf finds the kernel's counters of a qdisc: by its handle, or, where it has
// none (the default children of mq), by the queue it hangs under.
func counterOf(qs []capture.QdiscCounters, q *Queue, s qdiscSums) *capture.QdiscCounters {
	for i := range qs {
		k := &qs[i]
		switch {
		case k.Kind == "mq" || k.Kind == "mqprio" || k.Kind == "noqueue":
		case s.handle != 0 && k.Handle == s.handle,
			s.handle == 0 && k.Handle == 0 && (k.Parent == rootParent || k.Parent&0xffff == uint32(q.Txq)+1):
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

func (e *End) ifname(netns, ifindex uint32) string {
	for _, q := range e.Queues {
		if q.Netns == netns && q.Ifindex == ifindex && q.Ifname != "" {
			return q.Ifname
		}
	}
	return ""
}
