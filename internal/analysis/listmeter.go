// SPDX-License-Identifier: Apache-2.0

package analysis

import (
	"maps"
	"slices"
)

// listMeter counts the lists that went up from one device.
type listMeter struct {
	GROReport
	size, count hist
	queues      map[uint16]*GROPart
	cpus        map[uint16]*GROPart
}

func newListMeter(d DeviceRef) *listMeter {
	m := &listMeter{queues: make(map[uint16]*GROPart), cpus: make(map[uint16]*GROPart)}
	m.DeviceRef, m.Why = d, make(map[string]U64)
	return m
}

// listMeters are those of all devices.
type listMeters struct{ by perDevice[listMeter] }

func (m *listMeters) list(g *List) {
	l := m.by.at(g.Device, newListMeter)
	if l.Lists == 0 {
		l.BatchMin = g.Batch
	}
	l.BatchMin, l.BatchMax = min(l.BatchMin, g.Batch), max(l.BatchMax, g.Batch)
	l.Lists++
	l.Skbs += U64(g.Skbs)
	l.Segs += U64(g.Segs)
	l.Bytes += U64(g.Bytes)
	l.Why[string(g.Why())]++
	l.size.add(g.Skbs)
	l.count.add(g.RxCount)
	l.queues[g.RxQueue] = l.queues[g.RxQueue].add(g.RxQueue, g)
	l.cpus[g.CPU] = l.cpus[g.CPU].add(g.CPU, g)
}

// add counts a list; nil is a part without any.
func (p *GROPart) add(n uint16, g *List) *GROPart {
	if p == nil {
		p = &GROPart{N: n}
	}
	p.Lists++
	p.Skbs += U64(g.Skbs)
	p.Bytes += U64(g.Bytes)
	return p
}

func partsOf(by map[uint16]*GROPart) []GROPart {
	var ps []GROPart
	for _, n := range slices.Sorted(maps.Keys(by)) {
		ps = append(ps, *by[n])
	}
	return ps
}

func (m *listMeters) report() []GROReport {
	var rs []GROReport
	for _, dev := range m.by.sorted() {
		l := m.by[dev]
		l.Size, l.Count = l.size.counts(), l.count.counts()
		l.Queues, l.CPUs = partsOf(l.queues), partsOf(l.cpus)
		rs = append(rs, l.GROReport)
	}
	return rs
}
