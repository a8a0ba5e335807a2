// SPDX-License-Identifier: Apache-2.0

package sim

import (
	"fmt"
	"time"

	"github.com/txtrace/txtrace/internal/capture"
	"github.com/txtrace/txtrace/internal/event"
)

func (e *Extras) any() bool { return e.Choice.On || e.Receive.On || e.Packets || e.Sched }

func (e *Extras) checks() []check {
	c, r := &e.Choice, &e.Receive
	return []check{
		{c.Reselect < 0 || c.Forwarded < 0 || c.Migrate < 0 || c.Reroute < 0 || c.Resize < 0, "choice", "a number below 0", "use 0 or more"},
		{r.On && (r.Batch < 1 || r.Budget < 1), "receive", fmt.Sprintf("a batch of %d, a budget of %d", r.Batch, r.Budget), "use 1 or more"},
		{r.Count < 0 || r.Merge < 0 || r.Merge > 64 || r.Gap < 0 || r.Gap > time.Second, "receive", "a number that no device has", "use up to 64 segments, and up to 1s between two"},
	}
}

// facts are those that are recorded only if they are asked for.
func (e *Extras) facts() (list []capture.Choice) {
	add := func(on bool, facts ...string) {
		for _, f := range facts {
			c := capture.Choice{Fact: f, Source: "simulated", State: "chosen"}
			if !on {
				c = capture.Choice{Fact: f, State: "absent", Reason: "the simulator was not asked for it"}
			}
			list = append(list, c)
		}
	}
	add(e.Choice.On, "pick")
	add(e.Receive.On, "gro", "gro.batch", "gro.poll")
	add(e.Packets, "packet")
	add(e.Sched, "schedule")
	return list
}

// giving is a call of the driver under way.
type giving struct {
	begin, jiffies uint64
	queued         uint32
	state          uint8
}

func (o *recorder) give(q *queue) giving {
	return giving{o.s.now, o.s.jiffies(), q.dql.NumQueued, uint8(q.state)}
}

// given records the call, if such are wanted, after txq_trans_update.
func (o *recorder) given(c *cpu, q *queue, g *giving, p *packet, more, took bool) {
	if took {
		q.transStart = o.s.jiffies()
	}
	if !o.s.cfg.Extras.Packets {
		return
	}
	c.lane.count(progGive)
	c.lane.count(progGiven)
	r := event.Packet{
		Skb: p.addr, JiffiesBegin: g.jiffies, JiffiesEnd: o.s.jiffies(), TransStart: q.transStart, Len: p.Len, Segs: uint32(p.Segments()),
		NumQueuedBegin: g.queued, NumQueuedEnd: q.dql.NumQueued, TxqStateBegin: g.state, TxqStateEnd: uint8(q.state),
	}
	if more {
		r.More = 1
	}
	if !took {
		r.RC = txBusy
	}
	r.Ifindex, r.Txq, r.Parent = Ifindex, uint16(q.index), c.parent()
	put(o, c, &r.Header, &r, g.begin)
}

// listed records that a qdisc was put on its CPU's list, which is the last of
// it, if such is wanted.
func (o *recorder) listed(c *cpu, q *qdisc) {
	if !o.s.cfg.Extras.Sched {
		return
	}
	c.lane.count(progScheduled)
	r := event.Schedule{
		What: event.ScheduleListed, Qdisc: q.addr, QdiscFlags: q.flags, Handle: q.handle,
		Waiting: uint32(len(c.output)), QdiscState: q.stateBits(),
	}
	if c.acting {
		r.InAction = 1
	}
	r.Ifindex, r.Txq = Ifindex, q.txq
	if q.txq != event.NoQueue {
		r.TxqState = uint8(o.s.queues[q.index].state)
	}
	put(o, c, &r.Header, &r, 0)
}

// served records that net_tx_action takes the list.
func (o *recorder) served(c *cpu) {
	if !o.s.cfg.Extras.Sched {
		return
	}
	if len(c.output) == 0 {
		c.lane.filter(progServed)
		return
	}
	c.lane.count(progServed)
	r := event.Schedule{What: event.ScheduleServed, Waiting: uint32(len(c.output))}
	r.Txq = event.NoQueue
	put(o, c, &r.Header, &r, 0)
}
