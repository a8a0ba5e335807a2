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
	why, by tallyBy
	queues  keyed[uint16, PickQueue]
	flows   map[SockID]uint16 // what each keeps
	most    int               // queues that the device had at once, as far as it was seen
}

// pickMeters are those of all devices.
type pickMeters struct{ by perDevice[pickMeter] }

func (m *pickMeters) of(q *Queue) *pickMeter { return m.by.at(q.Device) }

// Reasons, and what chose, as pickMeter counts them.
var (
	pickWhys = []model.PickReason{
		model.PickHit, model.PickOnly, model.PickDriver, model.PickNew, model.PickExpired, model.PickShrunk, model.PickOOO,
	}
	pickBys = []string{"hash", "hint", "xps"}
)

const (
	byHash = iota
	byHint
	byXPS
)

// add counts picks of a queue.
func (m *pickMeter) add(txq uint16, picks, bytes uint64) {
	q := m.queues.at(txq)
	q.Txq = txq
	q.Picks += U64(picks)
	q.Bytes += U64(bytes)
	m.Picks += U64(picks)
	m.Bytes += U64(bytes)
}

func (m *pickMeters) pick(p *Pick) {
	d := m.of(p.Queue)
	d.add(p.Txq, 1, uint64(p.Len))
	d.why[slices.Index(pickWhys, p.Why())]++
	d.most = max(d.most, int(min(p.QueuesEnd, 1<<16)))
	switch {
	case !p.Chooses() || p.Hit() || !p.Plain():
	case p.XPS():
		d.by[byXPS]++
	case p.RxMapping != 0:
		d.by[byHint]++
	default:
		d.by[byHash]++
	}
	if p.Moved() {
		d.Moves++
		if n := p.InFlight(); n > 0 {
			d.MovesInFlight++
			d.InFlight.add(uint64(n))
		}
	}
	if p.Birth == 0 || p.After == event.NoQueue {
		return
	}
	if d.flows == nil {
		d.flows = make(map[SockID]uint16)
	}
	id := p.SockID()
	if queue, known := d.flows[id]; !known && len(d.flows) < maxSockets || known && queue != p.After {
		d.flows[id] = p.After
	}
}

func (m *pickMeters) picks(p *Picks) {
	d := m.of(p.Queue)
	d.add(p.Txq, p.All(), p.Bytes)
	for i, n := range [...]uint32{p.Kept, p.Only, p.Driver, p.Unkept, 0, 0, p.Again} { // as pickWhys
		d.why[i] += uint64(n)
	}
	for i, n := range [...]uint32{p.Hashed - min(p.Hinted, p.Hashed), p.Hinted, p.Mapped} { // as pickBys
		d.by[i] += uint64(n)
	}
}

func (m *pickMeters) report() []PickReport {
	var rs []PickReport
	for ref, d := range m.by.sorted() {
		d.DeviceRef = ref
		for _, txq := range d.flows {
			if q := d.queues.by[txq]; q != nil {
				q.Flows++
			}
		}
		for _, txq := range slices.Sorted(maps.Keys(d.queues.by)) {
			q := d.queues.by[txq]
			d.Queues = append(d.Queues, *q)
			d.Flows.add(q.Flows)
			d.QueueBytes.add(q.Bytes)
			d.most = max(d.most, int(txq)+1)
		}
		d.Flows.over(d.most)
		d.QueueBytes.over(d.most)
		d.Why, d.By = named(d.why, pickWhys...), named(d.by, pickBys...)
		rs = append(rs, d.PickReport)
	}
	return rs
}

func (s *Spread) add(n U64) {
	s.Sum += n
	s.Max = max(s.Max, n)
}

func (s *Spread) over(queues int) { s.Mean = float64(s.Sum) / float64(max(queues, 1)) }
