// SPDX-License-Identifier: Apache-2.0

package accept

import (
	"fmt"
	"path/filepath"
	"testing"

	"github.com/txtrace/txtrace/internal/analysis"
)

// TestFaultnic6_1 and TestFaultnic6_12 hold txtrace to a NIC that does one thing
// wrong at a time, and to the same NIC when it does nothing wrong. One boot
// each.
func TestFaultnic6_1(t *testing.T)  { faultnic(t, "6.1") }
func TestFaultnic6_12(t *testing.T) { faultnic(t, "6.12.95") }

func faultnic(t *testing.T, kernel string) {
	g := newGuest(t)
	out := g.boot(t, "boot", kernel, "-nic", "faultnic", "-scenario", "faults", "-timeout", "25m")
	for _, mode := range []string{"napi", "hardirq", "xmit"} {
		for each := range 2 {
			name := fmt.Sprintf("%s-%d", mode, each)
			t.Run(name, func(t *testing.T) { g.healthyNIC(t, filepath.Join(out, name+".txtrace"), each == 1) })
		}
	}
}

// healthyNIC: no rule fails or is suspect, and those that faults break were
// exercised. Of a driver that reports packet by packet most completions lie
// between two looks, so the model need not follow them.
func (g *guest) healthyNIC(t *testing.T, file string, each bool) {
	v := g.verify(t, file)
	for _, r := range v.Rules {
		switch {
		case r.Verdict == analysis.VerdictFail, r.Verdict == analysis.VerdictSuspect:
			t.Errorf("%s %s: %+v", r.ID, r.Verdict, r.Evidence)
		case r.Verdict == analysis.VerdictInconclusive && !(each && r.ID == "B13"):
			t.Errorf("%s inconclusive: %s", r.ID, r.Reason)
		}
	}
	for id, least := range map[string]uint64{"B3": 1000, "B7": 1000, "B8": 1000, "B10": 5, "X1": 1000} {
		if r := rule(t, v, id); uint64(r.Held) < least {
			t.Errorf("%s: held %d, want %d at least", id, r.Held, least)
		}
	}
}
