// SPDX-License-Identifier: Apache-2.0

package accept

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/txtrace/txtrace/internal/analysis"
	"github.com/txtrace/txtrace/internal/model"
)

// vethFloors are as floors, for each scenario of a device without hardware.
var vethFloors = map[string]map[string]analysis.U64{
	"veth-full": {"D4": 500, "D5": 5000, "X1": 5000, "X5": 100, "X6": 5000, "R1": 5000, "R5": 100, "T2": 50, "T4": 20},
	"noqueue":   {"X1": 5000, "X6": 5000, "R4": 5000},
	"htb":       {"D3": 50, "R1": 2000, "X1": 2000, "N6": 25, "T2": 20},
	"mixed":     {"D3": 50, "X2": 100, "R1": 1000, "X1": 1000, "T2": 20},
	"tcp-rr":    {"X1": 500, "X6": 500},
	"paced":     {"T1": 100, "T2": 10, "T4": 10},
}

// vethProves is what a scenario proves of 6.12.117: it puts back before what is
// parked (net/sched: fix packet reordering on requeue), and has
// tcp_limit_output_bytes bound no paced flow (c73e5807e4f6).
var vethProves = map[string]struct {
	of model.Switch
	is model.Variant
}{
	"veth-full": {model.SwitchRequeue, model.RequeueHead},
	"paced":     {model.SwitchTSQLimit, model.TSQLimitUnpaced},
}

// TestVeth plays loads of several kinds where no hardware is, and those that no
// hardware can.
func TestVeth(t *testing.T) {
	g := newGuest(t)
	names := []string{"veth-full", "noqueue", "htb", "mixed", "tcp-rr", "paced"}
	dir := g.boot(t, "boot", "6.12.117", "-nic", "veth", "-seconds", "2", "-scenario", strings.Join(names, ","))
	for _, name := range names {
		t.Run(name, func(t *testing.T) {
			file := filepath.Join(dir, name, "capture.txtrace")
			v, r := g.verify(t, file), g.report(t, file)
			clean(t, file, v, r)
			exercised(t, v, vethFloors[name])
			if want, ok := vethProves[name]; ok {
				if s := variant(t, v, string(want.of)); s.State != analysis.StateProven || s.Variant != string(want.is) {
					t.Errorf("%+v", s)
				}
			}
		})
	}
}
