// SPDX-License-Identifier: Apache-2.0

package analysis

import (
	"cmp"
	"slices"

	"github.com/txtrace/txtrace/internal/capture"
)

// meter counts what reports print.
type meter struct {
	header *capture.Header
	queues PerQueue[queueMeter]
	tsq    tsqMeters
	picks  pickMeters
	lists  listMeters
}

func newMeter(h *capture.Header) *meter {
	return &meter{header: h, tsq: newTSQMeters()}
}

func (m *meter) checks() Checks {
	return Checks{
		Run:        func(r *Run) { m.of(r.Queue).run(r) },
		Batch:      func(b *Batch) { m.of(b.Queue).batch(b) },
		Direct:     func(d *Direct) { m.of(d.Queue).direct(d) },
		Handover:   func(h *Handover) { m.of(h.Queue).handover(h) },
		Completion: func(c *Completion) { m.of(c.Queue).completion(c) },
		Quiet:      func(q *Quiet) { m.of(q.Queue).quiet(q) },
		Pick:       m.picks.pick,
		Picks:      m.picks.picks,
		List:       m.lists.list,
		Call:       func(c *Call) { m.of(c.Queue).call(c) },
		Sojourn:    func(s *Sojourn) { m.of(s.Queue).wait(s) },
		Throttle:   m.tsq.throttle,
		Wfree:      m.tsq.wfree,
		Resume:     m.tsq.resume,
	}
}

func (m *meter) of(q *Queue) *queueMeter { return m.queues.At(q) }

func (m *meter) report(res *Result, end *End) {
	for _, q := range end.Queues {
		if r := m.of(q); r.used {
			res.Queues = append(res.Queues, r.report(q, m.header))
		}
	}
	slices.SortFunc(res.Queues, func(a, b QueueReport) int {
		return cmp.Or(cmp.Compare(a.Netns, b.Netns), cmp.Compare(a.Ifindex, b.Ifindex),
			cmp.Compare(a.Generation, b.Generation), cmp.Compare(a.Txq, b.Txq))
	})
	res.TSQ = m.tsq.report(res.Queues)
	res.Picks = m.picks.report()
	res.GRO = m.lists.report()
	res.Checks = m.compare(res, end)
}
