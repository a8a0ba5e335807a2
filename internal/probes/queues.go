// SPDX-License-Identifier: Apache-2.0

package probes

import (
	"fmt"

	"github.com/txtrace/txtrace/internal/event"
)

// maxSlots is TX_QUEUES of bpf/queue.h.
const maxSlots = 512

// bpfQueue is struct tx_queue of bpf/queue.h.
type bpfQueue struct {
	Txq, Dev                     uint64
	Ifindex, Netns               uint32
	Completed, Queued, Generated uint32
	Index                        uint16
	Wanted, Active, Known, Sent  uint8
	Pad                          [2]uint8
	Enqueues, Woken, Restarted   uint32
}

// name makes the queue that of a record.
func (q *bpfQueue) name(h *event.Header) { h.Ifindex, h.Netns, h.Txq = q.Ifindex, q.Netns, q.Index }

// queues reads the programs' table of the queues they met, by slot.
func (s *session) queues() (all [maxSlots]bpfQueue, err error) {
	if err := s.coll.Variables[txtraceVarQueues].Get(&all); err != nil {
		return all, fmt.Errorf("read the queues: %w", err)
	}
	return all, nil
}

// lastSlot is that of the queue met last, 0 when there is none: slot 0 is no
// queue. The programs count on when their table is full.
func (s *session) lastSlot() (uint32, error) {
	var met uint32
	if err := s.coll.Variables[txtraceVarNqueues].Get(&met); err != nil {
		return 0, fmt.Errorf("read the queues: %w", err)
	}
	return min(met, maxSlots-1), nil
}
