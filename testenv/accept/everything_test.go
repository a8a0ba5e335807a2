// SPDX-License-Identifier: Apache-2.0

package accept

import (
	"path/filepath"
	"slices"
	"testing"

	"github.com/txtrace/txtrace/internal/analysis"
	"github.com/txtrace/txtrace/internal/model"
)

// everythingFloors are as floors, where all that can be recorded is.
var everythingFloors = map[string]analysis.U64{
	"D1": 60, "D2": 20, "D4": 20, "D5": 100, "X1": 500, "X5": 15, "X6": 500, "R1": 500, "R5": 15, "B13": 500, "B16": 10,
	"T2": 500, "T3": 500, "T4": 300, "Q2": 2000, "Q6": 2000, "G1": 500, "G2": 500, "M5": 500, "M11": 2000, "W3": 5000,
}

// TestEverything has every rule look at the loads of every scenario, on the
// newest kernel. Flows that fq paces prove which limit TCP has there, where the
// machine lets them send in time, and never prove another. Then senders that
// leave their packets to each other.
func TestEverything(t *testing.T) {
	g := newGuest(t)
	dir := g.boot(t, "boot", "7.2", "-scenario", "everything,bursts", "-seconds", "2", "-smp", "4")
	file := filepath.Join(dir, "everything", "capture.txtrace")
	v, r := g.verify(t, file), g.report(t, file)
	clean(t, file, v, r)
	exercised(t, v, everythingFloors)
	limit := variant(t, v, string(model.SwitchTSQLimit))
	switch {
	case limit.State == analysis.StateProven && limit.Variant == string(model.TSQLimitAlways):
	case limit.State == analysis.StateUndecided && slices.Contains(limit.Left, string(model.TSQLimitAlways)):
		t.Logf("not proven: %+v", limit)
	default:
		t.Errorf("%+v", limit)
	}
	file = filepath.Join(dir, "bursts", "capture.txtrace")
	v, r = g.verify(t, file), g.report(t, file)
	clean(t, file, v, r)
	exercised(t, v, map[string]analysis.U64{"D7": 100})
}
