// SPDX-License-Identifier: Apache-2.0

package analysis

import (
	"maps"
	"slices"

	"github.com/txtrace/txtrace/internal/model"
)

// listMeter counts the lists that went up from one device.
type listMeter struct {
	GROReport
	why          tallyBy
	size, count  hist
	queues, cpus keyed[uint16, GROPart]
}

// listMeters are those of all devices.
type listMeters struct{ by perDevice[listMeter] }

// flushWhys are the reasons as listMeter counts them.
var flushWhys = []model.FlushReason{model.FlushThreshold, model.FlushComplete, model.FlushPoll, model.FlushBusy}

func (m *listMeters) list(g *List) {
	l := m.by.at(g.Device)
	if l.Lists == 0 {
		l.BatchMin = g.Batch
	}
	l.BatchMin, l.BatchMax = min(l.BatchMin, g.Batch), max(l.BatchMax, g.Batch)
	l.Lists++
	l.Skbs += U64(g.Skbs)
	l.Segs += U64(g.Segs)
	l.Bytes += U64(g.Bytes)
	l.why[slices.Index(flushWhys, g.Why())]++
	l.size.add(g.Skbs)
	l.count.add(g.RxCount)
	l.queues.at(g.RxQueue).add(g.RxQueue, g)
	l.cpus.at(g.CPU).add(g.CPU, g)
}

// add counts a list of the part with number n.
func (p *GROPart) add(n uint16, g *List) {
	p.N = n
	p.Lists++
	p.Skbs += U64(g.Skbs)
	p.Bytes += U64(g.Bytes)
}

func partsOf(all keyed[uint16, GROPart]) []GROPart {
	var ps []GROPart
	for _, n := range slices.Sorted(maps.Keys(all.by)) {
		ps = append(ps, *all.by[n])
	}
	return ps
}

func (m *listMeters) report() []GROReport {
	var rs []GROReport
	for ref, l := range m.by.sorted() {
		l.DeviceRef = ref
		l.Size, l.Count = l.size.counts(), l.count.counts()
		l.Queues, l.CPUs = partsOf(l.queues), partsOf(l.cpus)
		l.Why = named(l.why, flushWhys...)
		rs = append(rs, l.GROReport)
	}
	return rs
}
