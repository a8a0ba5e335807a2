// SPDX-License-Identifier: Apache-2.0

package probes

import (
	"fmt"

	"github.com/txtrace/txtrace/internal/event"
)

// bpfQueue is struct tx_queue of bpf/queue.h.
type bpfQueue struct {
	Txq, Dev                     uint64
	Ifindex, Netns               uint32
	Completed, Queued, Generated uint32
	Index                        uint16
	Wanted, Active, Known, Sent  uint8
	Pad                          [6]uint8
}

// quietLeft returns the bypass sends that the programs counted and did not
// write yet. The programs must be disarmed.
func (l *ledger) quietLeft() ([]event.Quiet, error) {
	var cpus [][]byte
	if err := l.s.coll.Maps[txtraceMapCpus].Lookup(uint32(0), &cpus); err != nil {
		return nil, fmt.Errorf("read the quiet sends: %w", err)
	}
	var queues [maxSlots]bpfQueue
	if err := l.s.coll.Variables[txtraceVarQueues].Get(&queues); err != nil {
		return nil, fmt.Errorf("read the queues: %w", err)
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
			q.Ifindex, q.Netns, q.Txq = queues[slot].Ifindex, queues[slot].Netns, queues[slot].Index
			q.Time, q.Dur = now, uint32(min(now-begin, 1<<32-1))
			out = append(out, q)
		}
	}
	return out, nil
}

// maxSlots is TX_QUEUES of bpf/queue.h.
const maxSlots = 512
