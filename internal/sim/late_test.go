// SPDX-License-Identifier: Apache-2.0

package sim

import (
	"testing"
	"time"

	"github.com/txtrace/txtrace/internal/analysis"
	"github.com/txtrace/txtrace/internal/analysis/rules"
)

// A poll on one CPU that asked whether there is room starts the queue after a
// charge on another one stopped it: it goes on over its limit, and no
// num_completed tells. Where senders are about as fast as the link that comes
// now and then, and no rule takes it for a fault.
func TestStartsLate(t *testing.T) {
	doubts := analysis.U64(0)
	for seed := range uint64(40) {
		c := Default()
		c.Seed, c.Duration = seed, 20*time.Millisecond
		c.Device.Completion, c.Device.LimitMax, c.Device.Delay = CompleteNAPI, 3000, 5*time.Microsecond
		c.Costs.Complete, c.Costs.Send, c.Costs.Jitter = 20*time.Microsecond, time.Duration(1+seed/2)*time.Microsecond, 60
		c.Senders.Count, c.Senders.Length = 2, 1000
		res, err := analysis.Analyze(tapeOf(t, c), analysis.Options{Rules: rules.All()})
		if err != nil {
			t.Fatal(err)
		}
		for _, r := range res.Verify.Rules {
			switch {
			case r.Verdict == analysis.VerdictFail || r.Verdict == analysis.VerdictSuspect:
				t.Errorf("seed %d: %s: %s: %s", seed, r.ID, r.Verdict, r.Evidence[0].Says)
			case r.ID == "B16":
				doubts += r.Inconclusive
			}
		}
	}
	if doubts == 0 {
		t.Error("it never came")
	}
	t.Logf("%d doubts", doubts)
}
