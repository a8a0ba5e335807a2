// SPDX-License-Identifier: Apache-2.0

package rules

import (
	"github.com/txtrace/txtrace/internal/analysis"
)

var w3 = analysis.Rule{
	ID:         "W3",
	Sentence:   "A packet that the driver takes sets the queue's trans_start to the time of the call.",
	Why:        "The watchdog goes by trans_start. Where it is not set a queue that works looks stuck, and its device is reset.",
	Fate:       analysis.Packet,
	Documents:  []string{"9d21493b4beb", "net/core/dev.c"},
	Kernel:     "txq_trans_update",
	Needs:      []string{"packet"},
	Strength:   analysis.Exact,
	Antecedent: "a call of a driver that took the packet, of a device that has the core's transmit lock",
	New: func(j *analysis.Judge) analysis.Checks {
		return analysis.Checks{Call: func(c *analysis.Call) { judgeW3(j, c) }}
	},
}

// judgeW3: jiffies was read on both sides of the call. A driver that has no use
// for the core's transmit lock keeps the time itself or not at all.
func judgeW3(j *analysis.Judge, c *analysis.Call) {
	switch {
	case !c.Sent() || c.Unlocked():
	case c.TransStart-c.JiffiesBegin <= c.JiffiesEnd-c.JiffiesBegin:
		j.Held()
	default:
		j.Broken(func() *analysis.Evidence { return showW3(c) })
	}
}

func showW3(c *analysis.Call) *analysis.Evidence {
	return analysis.Show(c.Queue, &c.Header, "the driver took a packet at jiffy %d, and trans_start is %d", c.JiffiesEnd, c.TransStart).
		With("trans_start", "jiffies", int64(c.TransStart)).With("begin", "jiffies", int64(c.JiffiesBegin)).With("end", "jiffies", int64(c.JiffiesEnd))
}
