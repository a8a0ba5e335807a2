// SPDX-License-Identifier: Apache-2.0

package rules

import (
	"github.com/txtrace/txtrace/internal/analysis"
	"github.com/txtrace/txtrace/internal/model"
)

var b14 = analysis.Rule{
	ID:         "B14",
	Sentence:   "A device that could send does not stall for as long as its queue's stall_thrs.",
	Why:        "The kernel tells of each queue that completed nothing for so long with bytes in flight. It does not look whether the device had a link, or its driver had stopped the queue, where nothing could be completed; else the device or its interrupts are slow.",
	Fate:       analysis.Suspicion,
	Documents:  []string{"6025b9135f7a"},
	Kernel:     "dql_check_stall",
	Needs:      []string{"stall"},
	Strength:   analysis.Heuristic,
	Antecedent: "a stall that the kernel told of, which it does of queues that have a stall_thrs",
	New: func(j *analysis.Judge) analysis.Checks {
		c := checkB14{j: j, changed: make(map[*analysis.Device]uint64)}
		return analysis.Checks{Notice: c.notice, Sample: c.sample, Handover: c.handover, End: func(*analysis.End) { c.end() }}
	},
}

// stallB14 waits: what explains it may be told of later.
type stallB14 struct {
	notice analysis.Notice
	from   uint64
	reason string // that it was to be expected
}

// maxStalls bounds those that wait; later ones are told of at once.
const maxStalls = 1 << 10

type checkB14 struct {
	j       *analysis.Judge
	stalls  []stallB14
	changed map[*analysis.Device]uint64 // when a device changed last
	drv     analysis.PerQueue[uint64]   // when a queue was last seen stopped by its driver
	down    analysis.PerQueue[uint64]   // when a queue's device was last seen unable to send
}

func (c *checkB14) notice(n *analysis.Notice) {
	switch {
	case n.Device == nil:
	case n.OfStall():
		c.stall(n)
	default:
		c.changed[n.Device] = n.Time
		c.explain(n.Device, n.Time, "the device changed in that time")
	}
}

func (c *checkB14) stall(n *analysis.Notice) {
	s := stallB14{notice: *n, from: n.Time - min(n.Time, n.Stalled())}
	switch {
	case n.Stalled() == 0:
		c.j.Undecided("the kernel's clock tick is not known")
		return
	case !n.DeviceUp() || *c.down.At(n.Queue) >= s.from:
		s.reason = "the device had no link in that time"
	case model.QueueState(n.QueueState())&model.QueueDrv != 0 || *c.drv.At(n.Queue) >= s.from:
		s.reason = "the driver had stopped the queue in that time"
	case c.changed[n.Device] >= s.from:
		s.reason = "the device changed in that time"
	}
	if len(c.stalls) == maxStalls {
		c.judge(&s)
		return
	}
	c.stalls = append(c.stalls, s)
}

// explain: the recorder tells of a device's change some time after it.
func (c *checkB14) explain(d *analysis.Device, at uint64, reason string) {
	for i := range c.stalls {
		if s := &c.stalls[i]; s.reason == "" && s.notice.Device == d && at <= s.notice.Time+uint64(patience) && at >= s.from {
			s.reason = reason
		}
	}
}

func (c *checkB14) sample(s *analysis.Sampled) {
	if !s.Up() {
		*c.down.At(s.Queue) = s.Time
	}
	if model.QueueState(s.TxqState)&model.QueueDrv != 0 {
		*c.drv.At(s.Queue) = s.Time
	}
}

func (c *checkB14) handover(h *analysis.Handover) {
	if model.QueueState(h.TxqStateEnd)&model.QueueDrv != 0 {
		at := c.drv.At(h.Queue)
		*at = max(*at, h.Time)
	}
}

func (c *checkB14) judge(s *stallB14) {
	n := &s.notice
	show := func() *analysis.Evidence {
		return analysis.Show(n.Queue, &n.Header, "nothing was completed for %d ms", ms(n.Stalled())).
			With("stalled", "jiffies", int64(n.Before)).With("stall_thrs", "jiffies", int64(uint32(n.After))).
			With("txq_state", "", int64(n.QueueState()))
	}
	if s.reason != "" {
		c.j.Expected(s.reason, show)
		return
	}
	c.j.Suspect(show)
}

func (c *checkB14) end() {
	for i := range c.stalls {
		c.judge(&c.stalls[i])
	}
}
