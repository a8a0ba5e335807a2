// SPDX-License-Identifier: Apache-2.0

package probes

import (
	"slices"
	"strings"
	"testing"
)

// What must never be hooked: the tracepoint qdisc_reset, which stops kernels
// before 6.10 when an event is attached (bab4923132fe; the function is no
// tracepoint), and what a ring buffer's own helpers may call, the slow paths of
// locks above all, recurses.
func TestHooksNoneThatHurt(t *testing.T) {
	n := 0
	for _, p := range points {
		for _, s := range p.Sources {
			if slices.Contains(s.Tracepoints, "qdisc_reset") {
				t.Errorf("%s is observed at the tracepoint qdisc_reset", p.Fact)
			}
			for _, name := range append(append([]string{}, s.Functions...), s.Tracepoints...) {
				n++
				for _, hurts := range []string{"spin_lock", "spin_unlock", "_slowpath", "ringbuf", "contention"} {
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
