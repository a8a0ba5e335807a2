// SPDX-License-Identifier: Apache-2.0

package probes

import (
	"fmt"

	"github.com/cilium/ebpf"

	"github.com/txtrace/txtrace/internal/event"
)

// pickSum is struct tx_pick_sum of bpf/event.h: a part of a record.
type pickSum = event.PickCounts

// plus adds o, times sign; counts wrap.
func plus(n, o pickSum, sign int32) pickSum {
	by := uint32(sign)
	return pickSum{
		Bytes: n.Bytes + o.Bytes*uint64(int64(sign)),
		Only:  n.Only + by*o.Only, Kept: n.Kept + by*o.Kept, Driver: n.Driver + by*o.Driver, Again: n.Again + by*o.Again,
		Unkept: n.Unkept + by*o.Unkept, Hashed: n.Hashed + by*o.Hashed, Mapped: n.Mapped + by*o.Mapped, Hinted: n.Hinted + by*o.Hinted,
	}
}

// pickCounts reads the picks that the programs count by queue.
type pickCounts struct {
	s    *session
	last [maxSlots]pickSum // of all CPUs
	time uint64            // of the last look, CLOCK_MONOTONIC
}

// changed returns what was counted since the last call, a record for each
// queue.
func (p *pickCounts) changed() ([]event.Picks, error) {
	if !p.s.loaded("pick_end") {
		return nil, nil
	}
	last, err := p.s.lastSlot()
	if err != nil {
		return nil, err
	}
	queues, err := p.s.queues()
	if err != nil {
		return nil, err
	}
	now := clocks().Monotonic
	sums := p.s.coll.Maps[txtraceMapPickSums]
	var out []event.Picks
	for slot := uint32(1); slot <= last; slot++ {
		n, err := sumOf(sums, slot)
		if err != nil {
			return nil, err
		}
		d := plus(n, p.last[slot], -1)
		if d == (pickSum{}) {
			continue
		}
		p.last[slot] = n
		q := event.Picks{PickCounts: d}
		queues[slot].name(&q.Header)
		q.Time, q.Dur = now, uint32(min(now-p.time, 1<<32-1))
		out = append(out, q)
	}
	p.time = now
	return out, nil
}

func sumOf(sums *ebpf.Map, slot uint32) (sum pickSum, err error) {
	var cpus []pickSum
	if err := sums.Lookup(slot, &cpus); err != nil {
		return sum, fmt.Errorf("read the picks: %w", err)
	}
	for _, n := range cpus {
		sum = plus(sum, n, 1)
	}
	return sum, nil
}
