// SPDX-License-Identifier: Apache-2.0

package rules

import (
	"github.com/txtrace/txtrace/internal/analysis"
)

var w1 = analysis.Rule{
	ID:         "W1",
	Sentence:   "The watchdog gives a queue up only when it was long since the driver last took a packet.",
	Why:        "It goes by trans_start, which some paths forgot to set: then it resets a device that works. The limit of the device (watchdog_timeo) is not recorded, but no driver has less than a fifth of a second.",
	Fate:       analysis.Suspicion,
	Documents:  []string{"95ecba62e2fd", "net/sched/sch_generic.c"},
	Kernel:     "dev_watchdog",
	Needs:      []string{"watchdog", "handover"},
	Strength:   analysis.Heuristic,
	Antecedent: "a watchdog's timeout of a queue that took a packet before",
	New: func(j *analysis.Judge) analysis.Checks {
		var c checkLately
		return analysis.Checks{
			Handover: func(h *analysis.Handover) {
				if h.Taken() > 0 {
					c.at(h.Queue, h.Time)
				}
			},
			Quiet:  func(q *analysis.Quiet) { c.at(q.Queue, q.Time) },
			Notice: func(n *analysis.Notice) { c.notice(j, n, "the driver took a packet") },
		}
	},
}

// shortest is the shortest time in ns that a watchdog waits.
const shortest = 200_000_000

// checkLately holds a watchdog's timeouts against what a queue did last.
type checkLately struct{ queues analysis.PerQueue[uint64] }

func (c *checkLately) at(q *analysis.Queue, ns uint64) {
	last := c.queues.At(q)
	*last = max(*last, ns)
}

// notice: what is of the queue and later was handed out before, by a run.
func (c *checkLately) notice(j *analysis.Judge, n *analysis.Notice, did string) {
	if n.Queue == nil || n.OfStall() {
		return
	}
	switch last := *c.queues.At(n.Queue); {
	case last == 0:
	case last > n.Time:
		j.Undecided(analysis.Race)
	case float64(n.Time-last) >= shortest:
		j.Held()
	default:
		j.Suspect(func() *analysis.Evidence {
			return analysis.Show(n.Queue, &n.Header, "the watchdog gave the queue up %d ms after %s", ms(n.Time-last), did).
				With("since", "ns", int64(n.Time-last))
		})
	}
}
