// SPDX-License-Identifier: Apache-2.0

package rules

import (
	"github.com/txtrace/txtrace/internal/analysis"
)

var o1 = analysis.Rule{
	ID:         "O1",
	Sentence:   "A qdisc that is first in, first out sends each flow in the order of its enqueues.",
	Why:        "Receivers take packets out of order for loss: TCP sends again and slows down. A qdisc without classes has no reason to exchange two.",
	Fate:       analysis.Packet,
	Documents:  []string{"net/sched/sch_fifo.c", "79640a4ca695"},
	Kernel:     "dequeue_skb",
	Needs:      []string{"packet", "packet.life", "packet.enqueue"},
	Strength:   analysis.Exact,
	Antecedent: "the first call of a driver with a packet out of a qdisc that is first in, first out, which gave one before",
	New: func(j *analysis.Judge) analysis.Checks {
		c := checkO1{j: j, last: make(map[bandO1]lastO1)}
		return analysis.Checks{Call: c.call}
	},
}

// fifos are the kinds of qdiscs, and whether they keep the order of all packets.
// pfifo_fast, which is lockless, keeps that of a band, and what is first is
// known of what one CPU sent only: the tracepoint of an enqueue comes when
// another CPU may have sent the packet already.
var fifos = map[string]bool{"pfifo": true, "bfifo": true, "pfifo_head_drop": true, "pfifo_fast": false}

// bandO1 is what keeps its order: a queue, or a priority of one sender there.
type bandO1 struct {
	queue    *analysis.Queue
	sender   uint16
	priority uint32
}

// lastO1 is the packet of a band that came last to the driver.
type lastO1 struct {
	order uint32
	qdisc uint64
	head  analysis.Mark
}

type checkO1 struct {
	j    *analysis.Judge
	last map[bandO1]lastO1
}

// call: a packet that goes back is O2's. Who runs a qdisc holds it alone, so two
// packets out of order of two CPUs are so unless their clocks are wrong.
func (c *checkO1) call(p *analysis.Call) {
	if p.Tries != 0 || p.Handover == nil || p.Handover.Direct == nil || p.Handover.Direct.Run == nil {
		return
	}
	run := p.Handover.Direct.Run
	all, is := fifos[run.Kind]
	band, order := bandO1{queue: p.Queue}, p.Order
	if !all {
		band.sender, band.priority, order = p.Sender, p.Priority, p.Turn
	}
	if !is || order == 0 || all == (run.NoLock()) || !p.LifeID().Known() {
		return
	}
	before, ok := c.last[band]
	if !ok && len(c.last) >= maxQdiscs {
		return
	}
	now := lastO1{order, run.Qdisc, analysis.Mark{Header: p.Header}}
	switch ahead := int32(order - before.order); {
	case !ok || before.qdisc != run.Qdisc:
	case ahead > 0:
		c.j.Held()
	case before.head.CPU != p.CPU && p.Begin() < before.head.Time+clockError:
		c.j.Undecided(analysis.Race)
		return
	default:
		c.broken(p, run, before, now)
		return
	}
	c.last[band] = now
}

func (c *checkO1) broken(p *analysis.Call, run *analysis.Run, before, now lastO1) {
	c.j.Broken(func() *analysis.Evidence {
		return analysis.Show(p.Queue, &p.Header, "%s gave the packet that came as number %d after number %d of the same queue", run.Kind, now.order, before.order).
			With("order", "packets", int64(now.order)).With("before", "packets", int64(before.order)).Record(&before.head.Header)
	})
}
