// SPDX-License-Identifier: Apache-2.0

package probes

import (
	"fmt"

	"github.com/cilium/ebpf"
)

// sample runs the program that looks at a queue for each one that was met. It
// runs with preemption off, so its frames nest with those of interrupts.
func (s *session) sample() error {
	prog := s.coll.Programs["sample"]
	if prog == nil {
		return nil
	}
	var used uint32
	if err := s.coll.Variables[txtraceVarNqueues].Get(&used); err != nil {
		return fmt.Errorf("read the queues: %w", err)
	}
	for slot := uint64(1); slot <= uint64(used) && slot < maxSlots; slot++ {
		if _, err := prog.Run(&ebpf.RunOptions{Context: []uint64{slot}}); err != nil {
			return fmt.Errorf("look at a queue: %w", err)
		}
	}
	return nil
}
