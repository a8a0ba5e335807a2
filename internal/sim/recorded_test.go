// SPDX-License-Identifier: Apache-2.0

package sim

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/txtrace/txtrace/internal/model"
)

// Real captures, replayed, give the batches and limits that were recorded.
// testdata has what the guests of testenv recorded on e1000e, on two processors
// that were emulated and busy: bulk-udp of two kernels, and a single UDP_STREAM
// of netperf (-m 100), whose packets mostly pass the qdisc by. The bounds
// of the distances are about twice what they are.
func TestRecorded(t *testing.T) {
	for _, c := range []struct {
		name          string
		bulk          model.Variant
		sizes, limits float64
		fewest, most  float64 // batches, of those recorded
	}{
		{"6.1-bulk-udp", model.BulkBudget, 0.08, 0.06, 0.9, 1.1},
		{"6.12.43-bulk-udp", model.BulkBytes, 0.04, 0.03, 0.9, 1.1},
		{"6.1-trickle", model.BulkBudget, 0.05, 0.02, 0.9, 1.1},
	} {
		t.Run(c.name, func(t *testing.T) {
			b, err := os.ReadFile(filepath.Join("testdata", c.name+".txtrace"))
			if err != nil {
				t.Fatal(err)
			}
			q, h := recorded(t, b)
			config := q.Configure(h)
			config.Kernel[model.SwitchBulk] = c.bulk
			sum, again := simulate(t, config)
			was, res := shapeOf(t, b, q.Netns, q.Ifindex)
			is, _ := shape(t, again)
			if n := uint64(res.Queues[0].Handovers.Taken); sum.Sent != n {
				t.Errorf("%d packets, recorded were %d", sum.Sent, n)
			}
			sizes := was.BatchPackets.Variation(&is.BatchPackets)
			limits := was.Limits.Transport(&is.Limits) / was.Limits.Mean()
			n := float64(is.BatchPackets.Count()) / float64(was.BatchPackets.Count())
			if sizes > c.sizes || limits > c.limits || n < c.fewest || n > c.most {
				t.Errorf("distance of sizes %.3f, of limits %.3f; %.2f times as many batches", sizes, limits, n)
			}
		})
	}
}
