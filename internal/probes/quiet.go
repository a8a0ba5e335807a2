// SPDX-License-Identifier: Apache-2.0

package probes

import (
	"fmt"

	"github.com/txtrace/txtrace/internal/event"
)

// quietLeft returns the bypass sends that the programs counted and did not
// write yet. The programs must be disarmed.
func (l *ledger) quietLeft() ([]event.Quiet, error) {
	var cpus [][]byte
	if err := l.s.coll.Maps[txtraceMapCpus].Lookup(uint32(0), &cpus); err != nil {
		return nil, fmt.Errorf("read the quiet sends: %w", err)
	}
	queues, err := l.s.queues()
	if err != nil {
		return nil, err
	}
	now := clocks().Monotonic
	var out []event.Quiet
	for _, b := range cpus {
		for i := range l.layout.quietCount {
			at := l.layout.quiets + i*l.layout.quietSize
			begin, slot := l.layout.u64(b, at), l.layout.u32(b, at+8)
			q := event.Quiet{Handle: l.layout.u32(b, at+12), Packets: l.layout.u32(b, at+16), Bytes: l.layout.u32(b, at+20)}
			if q.Packets == 0 || slot >= maxSlots {
				continue
			}
			queues[slot].name(&q.Header)
			q.Time, q.Dur = now, uint32(min(now-begin, 1<<32-1))
			out = append(out, q)
		}
	}
	return out, nil
}
