// SPDX-License-Identifier: Apache-2.0

package accept

import (
	"path/filepath"
	"testing"

	"github.com/txtrace/txtrace/internal/analysis"
)

// lifeFloors are as floors: how often the rules of skbs are exercised.
var lifeFloors = map[string]analysis.U64{
	"M6": 500, "R2": 500, "O1": 100, "N2": 100, "T1": 100, "T5": 100, "T7": 50,
}

// lived holds the calls of drivers that have a record to what perf counted of
// the same run, and those that have none of TCP's and past the hand-over to the
// calls that kprobe_profile counted.
func lived(t *testing.T, g *guest, dir string) {
	file := filepath.Join(dir, "capture.txtrace")
	v, r := g.verify(t, file), g.report(t, file)
	clean(t, file, v, r)
	exercised(t, v, lifeFloors)
	given, started := uint64(0), uint64(0)
	for _, q := range r.Queues {
		given += uint64(q.Handovers.Calls)
	}
	for dev, queues := range eventsOf(t, dir).started {
		for _, n := range queues {
			if dev != "lo" {
				started += n
			}
		}
	}
	if missed := uint64(v.Lost.Missed); given > started || started-given > missed {
		t.Errorf("%d calls of drivers, %d net_dev_start_xmit by perf, %d runs skipped", given, started, missed)
	}
	for id, name := range map[string]string{"R3": "directs", "T1": "transmits"} {
		if n := calls(t, dir, name); n < 100 || uint64(rule(t, v, id).Exercised) > n {
			t.Errorf("%s: exercised %d times, %d calls", id, rule(t, v, id).Exercised, n)
		}
	}
	t.Logf("%d calls of drivers; R3 %d of %d direct sends", given, rule(t, v, "R3").Exercised, calls(t, dir, "directs"))
}
