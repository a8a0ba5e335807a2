// SPDX-License-Identifier: Apache-2.0

package probes

import (
	"strings"
	"testing"
)

// What must never be hooked: qdisc_reset stops kernels before 6.10 when a trace
// event is attached (bab4923132fe), and what a ring buffer's own helpers may
// call, the slow paths of locks above all, recurses.
func TestHooksNoneThatHurt(t *testing.T) {
	n := 0
	for _, p := range points {
		for _, s := range p.Sources {
			for _, name := range append(append([]string{}, s.Functions...), s.Tracepoints...) {
				n++
				for _, hurts := range []string{"qdisc_reset", "spin_lock", "spin_unlock", "_slowpath", "ringbuf", "contention"} {
					if strings.Contains(name, hurts) {
						t.Errorf("%s is observed at %s", p.Fact, name)
					}
				}
			}
		}
	}
	if n == 0 {
		t.Error("nothing is hooked")
	}
}
