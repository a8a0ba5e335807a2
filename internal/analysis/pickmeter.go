// SPDX-License-Identifier: Apache-2.0

package analysis

import (
	"maps"
	"slices"

	"github.com/txtrace/txtrace/internal/event"
	"github.com/txtrace/txtrace/internal/model"
)

// pickMeter counts how queues of one device were chosen.
type pickMeter struct {
	PickReport
	queues map[uint16]*PickQueue
	flows  map[SockID]uint16 // what each keeps
	most   int               // queues that the device had at once, as far as it was seen
}

func newPickMeter(d DeviceRef) *pickMeter {
	m := &pickMeter{queues: make(map[uint16]*PickQueue), flows: make(map[SockID]uint16)}
	m.DeviceRef, m.Why, m.By = d, make(map[string]U64), make(map[string]U64)
	return m
}

// pickMeters are those of all devices.
type pickMeters struct{ by perDevice[pickMeter] }

func (m *pickMeters) of(q *Queue) *pickMeter { return m.by.at(q.Device, newPickMeter) }

// add counts picks of a queue.
func (m *pickMeter) add(txq uint16, picks, bytes uint64) {
	q := m.queues[txq]
	if q == nil {
		q = &PickQueue{Txq: txq}
		m.queues[txq] = q
	}
	q.Picks += U64(picks)
	q.Bytes += U64(bytes)
	m.Picks += U64(picks)
	m.Bytes += U64(bytes)
}

func (m *pickMeters) pick(p *Pick) {
	d := m.of(p.Queue)
	d.add(p.Txq, 1, uint64(p.Len))
	d.Why[string(p.Why())]++
	d.most = max(d.most, int(min(p.QueuesEnd, 1<<16)))
	switch {
	case !p.Chooses() || p.Hit() || !p.Plain():
	case p.XPS():
		d.by("xps", 1)
	case p.RxMapping != 0:
		d.by("hint", 1)
	default:
		d.by("hash", 1)
	}
	if p.Moved() {
		d.Moves++
		if n := p.InFlight(); n > 0 {
			d.MovesInFlight++
			d.InFlight.add(uint64(n))
		}
	}
	if p.Birth == 0 {
		return
	}
	id := SockID{p.Sock, p.Birth}
	if _, known := d.flows[id]; p.After != event.NoQueue && (known || len(d.flows) < maxSockets) {
		d.flows[id] = p.After
	}
}

func (m *pickMeters) picks(p *Picks) {
	d := m.of(p.Queue)
	d.add(p.Txq, p.All(), p.Bytes)
	d.by("xps", p.Mapped)
	d.by("hint", p.Hinted)
	d.by("hash", p.Hashed-min(p.Hinted, p.Hashed))
	for why, n := range map[model.PickReason]uint32{
		model.PickOnly: p.Only, model.PickHit: p.Kept, model.PickDriver: p.Driver, model.PickOOO: p.Again, model.PickNew: p.Unkept,
	} {
		if n > 0 {
			d.Why[string(why)] += U64(n)
		}
	}
}

// by counts what chose a queue.
func (m *pickMeter) by(what string, n uint32) {
	if n > 0 {
		m.By[what] += U64(n)
	}
}

func (m *pickMeters) report() []PickReport {
	var rs []PickReport
	for _, dev := range m.by.sorted() {
		d := m.by[dev]
		for _, txq := range d.flows {
			if q := d.queues[txq]; q != nil {
				q.Flows++
			}
		}
		for _, txq := range slices.Sorted(maps.Keys(d.queues)) {
			q := d.queues[txq]
			d.Queues = append(d.Queues, *q)
			d.Flows.add(q.Flows)
			d.QueueBytes.add(q.Bytes)
			d.most = max(d.most, int(txq)+1)
		}
		d.Flows.over(d.most)
		d.QueueBytes.over(d.most)
		rs = append(rs, d.PickReport)
	}
	return rs
}

func (s *Spread) add(n U64) {
	s.Sum += n
	s.Max = max(s.Max, n)
}

func (s *Spread) over(queues int) { s.Mean = float64(s.Sum) / float64(max(queues, 1)) }
