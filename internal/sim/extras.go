// SPDX-License-Identifier: Apache-2.0

package sim

import (
	"fmt"
	"time"

	"github.com/txtrace/txtrace/internal/capture"
	"github.com/txtrace/txtrace/internal/event"
)

func (e *Extras) any() bool { return e.Choice.On || e.Receive.On || e.Packets }

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
