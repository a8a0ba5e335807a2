// SPDX-License-Identifier: Apache-2.0

package probes

import (
	"encoding/binary"
	"unsafe"

	"github.com/txtrace/txtrace/internal/event"
)

// strangers are the namespaces that records name and nobody watches: made
// after recording began.
//
// Decision: a namespace is looked for when the first record names it, and not
// by going through all processes every second: one that sends nothing needs no
// name, and a machine may have thousands of processes.
type strangers struct {
	last  uint32         // of the record before
	tries map[uint32]int // how often each was looked for
}

// mostTries bounds how often a namespace is looked for: no process may hold
// it, or none that may be looked at.
const mostTries = 5

const netnsAt = int(unsafe.Offsetof(event.Header{}.Netns))

// record notes the namespace of a record.
func (s *strangers) record(b []byte) {
	if len(b) < netnsAt+4 {
		return
	}
	n := binary.NativeEndian.Uint32(b[netnsAt:])
	if n == s.last || n == 0 {
		return
	}
	s.last = n
	if s.tries == nil {
		s.tries = map[uint32]int{}
	}
	if _, ok := s.tries[n]; !ok {
		s.tries[n] = 0
	}
}

// due says whether it is time to look for any; with again also for those that
// were not found before. What is watched is forgotten: its number may come to
// name another.
func (s *strangers) due(watches func(uint32) bool, again bool) (due bool) {
	s.last = 0
	for n, tries := range s.tries {
		switch {
		case watches(n):
			delete(s.tries, n)
		case tries == 0, again && tries < mostTries:
			s.tries[n]++
			due = true
		}
	}
	return due
}
