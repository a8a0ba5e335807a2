// SPDX-License-Identifier: Apache-2.0

package accept

import (
	"testing"

	"github.com/txtrace/txtrace/internal/report"
)

// near is how far the model of a recording may be from it: the share of
// batches that would have to be of other sizes, and by how much of their mean
// the limits of BQL differ. Sizes were 0.04 to 0.13 off in most guests, and 0.28
// in one whose load trickled, since a replay is open loop; half of all would be
// no model of it.
const (
	nearSizes  = 0.5
	nearLimits = 0.2
)

// modelled holds that the simulator, given the arrivals of a capture, makes of
// them what the kernel made, and what another kernel would have: no batch of
// more than most packets.
func modelled(t *testing.T, g *guest, file, whatIf string, most uint32) {
	var d report.Model
	if code := g.ask(t, &d, "model", file, "--what-if", whatIf); code != 0 {
		t.Fatalf("exit %d", code)
	}
	was, is, other := &d.Columns[0], &d.Columns[1], &d.Columns[2]
	if is.Packets != was.Packets {
		t.Errorf("%d packets, recorded were %d", is.Packets, was.Packets)
	}
	if is.Distance.Batch > nearSizes || is.Distance.Limit == nil || *is.Distance.Limit > nearLimits {
		t.Errorf("far from the recording: %+v", is.Distance)
	}
	if other.Batch.Max != most {
		t.Errorf("%s: a batch of %d packets, want %d at most", whatIf, other.Batch.Max, most)
	}
	t.Logf("batches of %.1f packets, the model's of %.1f; distance of sizes %.3f, of limits %.3f",
		was.Batch.Mean, is.Batch.Mean, is.Distance.Batch, *is.Distance.Limit)
	t.Logf("recorded: %v", was.Sizes)
	t.Logf("modelled: %v", is.Sizes)
	t.Logf("%s: %v", whatIf, other.Sizes)
}
