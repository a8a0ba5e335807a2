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
	last, err := s.lastSlot()
	if err != nil {
		return err
	}
	for slot := uint32(1); slot <= last; slot++ {
		if _, err := prog.Run(&ebpf.RunOptions{Context: []uint64{uint64(slot)}}); err != nil {
			return fmt.Errorf("look at a queue: %w", err)
		}
	}
	return nil
}
