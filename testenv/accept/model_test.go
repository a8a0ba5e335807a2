// SPDX-License-Identifier: Apache-2.0

package accept

import (
	"testing"

	"github.com/txtrace/txtrace/internal/report"
)

// Bounds of how far the model of a recording may be from it: how many batches
// would have to be of other sizes, and by how much of their mean the limits of
// BQL differ. In a dozen guests, idle and busy, the loads of bulk-udp were 0.08
// and 0.10 away at most; what is left is when packets came, which is known in
// part only. Sizes alone would not tell that there are more batches of each, so
// their number is held to half and double.
//
// A limit that grows adds what was completed, about itself, from a few packets to
// where it stays within three completions. What little these differ by is doubled
// each time: a guest on a busy machine was 0.23 away, its sizes 0.005.
// sim.TestRecorded holds recordings that do not change to less.
const (
	nearSizes  = 0.2
	nearLimits = 0.5
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
	if is.Distance.Limit == nil {
		t.Fatal("no limits of BQL")
	}
	sizes, limits := is.Distance.Batch, *is.Distance.Limit
	if sizes > nearSizes || limits > nearLimits {
		t.Errorf("far from the recording: sizes by %.3f, limits by %.3f", sizes, limits)
	}
	if is.Dequeues*2 < was.Dequeues || is.Dequeues > was.Dequeues*2 {
		t.Errorf("%d batches, recorded were %d", is.Dequeues, was.Dequeues)
	}
	if other.Batch.Max != most {
		t.Errorf("%s: a batch of %d packets, want %d at most", whatIf, other.Batch.Max, most)
	}
	t.Logf("%d batches of %.1f packets, the model's %d of %.1f; distance of sizes %.3f, of limits %.3f",
		was.Dequeues, was.Batch.Mean, is.Dequeues, is.Batch.Mean, sizes, limits)
	t.Logf("recorded: %v", was.Sizes)
	t.Logf("modelled: %v", is.Sizes)
	t.Logf("%s: %v", whatIf, other.Sizes)
}
