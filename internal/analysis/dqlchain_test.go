// SPDX-License-Identifier: Apache-2.0

package analysis

import (
	"testing"

	"github.com/txtrace/txtrace/internal/event"
	"github.com/txtrace/txtrace/internal/model"
)

// Two completions at a limit held by limit_max look like a reset and one
// completion (from a real capture). What the step counts for is then how far
// num_completed moved, not all that was ever completed.
func TestStepLooksLikeReset(t *testing.T) {
	at := func(numCompleted, ovlimit uint32) *event.Complete {
		r := &event.Complete{
			NumQueued: numCompleted, AdjLimit: numCompleted + 3000, LastObjCnt: 142, Limit: 3000,
			NumCompleted: numCompleted, PrevOvlimit: ovlimit, PrevNumQueued: numCompleted, PrevLastObjCnt: 142,
			LowestSlack: 1<<32 - 1, MaxLimit: 3000, SlackHoldTime: 250, SlackStartTime: 4294897450, Jiffies: 4294897450,
			Source: event.SourceHardirq,
		}
		r.CPU = 1
		return r
	}
	var c dqlChain
	c.step(at(218924, 124), true)
	if s := c.step(at(222048, 0), true); s.Step.Outcome != model.OutcomeReset || s.Bytes != 222048-218924 {
		t.Errorf("%s, %d bytes", s.Step.Outcome, s.Bytes)
	}
	// One that goes back is a reset indeed.
	back := at(284, 0)
	back.Limit, back.AdjLimit = 284, 2*284
	if s := c.step(back, true); s.Step.Outcome != model.OutcomeReset || s.Bytes != 284 {
		t.Errorf("%s, %d bytes", s.Step.Outcome, s.Bytes)
	}
}
