// SPDX-License-Identifier: Apache-2.0

package accept

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/txtrace/txtrace/internal/analysis"
)

// lifeFloors are as floors: how often the rules of skbs are exercised.
var lifeFloors = map[string]analysis.U64{
	"M6": 500, "R2": 500, "O1": 100, "N2": 100, "T1": 100, "T5": 100, "T7": 50,
}

// lived holds the calls of drivers that have a record to what perf counted of
// the same run, and the direct sends that were refused to what their sender was
// told.
func lived(t *testing.T, g *guest, dir string) {
	file := filepath.Join(dir, "capture.txtrace")
	v, r := g.verify(t, file), g.report(t, file)
	if v.Exit != analysis.ExitOK || v.Lost.Records > 0 {
		t.Errorf("exit %d, lost %+v", v.Exit, v.Lost) // not clean: direct sends are in tx_packets, and in no hand-over
	}
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
	said, err := os.ReadFile(filepath.Join(dir, "direct.txt"))
	if err != nil {
		t.Fatal(err)
	}
	refused, _, _ := strings.Cut(string(said), " ")
	r3 := uint64(rule(t, v, "R3").Exercised)
	if n := number(t, refused); r3 > n || n-r3 > uint64(v.Lost.Missed) {
		t.Errorf("R3: exercised %d times, the sender was refused %d times", r3, n)
	}
	t.Logf("%d calls of drivers; %d of %d direct sends refused", given, r3, calls(t, dir, "directs"))
}
