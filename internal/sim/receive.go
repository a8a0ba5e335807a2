// SPDX-License-Identifier: Apache-2.0

package sim

import (
	"time"

	"github.com/txtrace/txtrace/internal/event"
	"github.com/txtrace/txtrace/internal/model"
)

// Receive is what arrives, when that is played and recorded. It has a NAPI of
// its own on the CPU that takes the interrupts.
type Receive struct {
	On     bool
	Count  int           // skbs that GRO is done with, in all
	Gap    time.Duration // from one to the next, about
	Batch  int           // net.core.gro_normal_batch
	Merge  int           // segments of a skb, at most; 0: GRO is off
	Budget int           // of a poll, in skbs
	Frags  bool          // the driver gives them by napi_gro_frags
	Busy   bool          // a task polls the device, not its interrupt
}

// receiver is the device's receive queue and its NAPI.
type receiver struct {
	s       *sim
	left    int // skbs that are still to arrive
	waiting int // in the ring
	raised  bool
	list    model.RxList

	grown  event.GRO // what is in the list
	held   uint32    // in it when the poll under way began, HeldUnknown
	within uint8     // event.Within*
}

func newReceiver(s *sim) *receiver {
	c := &s.cfg.Extras.Receive
	r := &receiver{s: s, held: event.HeldUnknown}
	if c.On && c.Count > 0 {
		r.left = c.Count
		s.agenda.plan(s.now+s.random.below(2*uint64(c.Gap)+1), evReceive, 0)
	}
	return r
}

// arrive puts a skb into the ring, and has it polled.
func (r *receiver) arrive() {
	s := r.s
	r.left--
	r.waiting++
	if r.left > 0 {
		s.agenda.plan(s.now+s.random.below(2*uint64(s.cfg.Extras.Receive.Gap)+1), evReceive, 0)
	}
	if r.raised {
		return
	}
	r.raised = true
	c := s.cpus[s.cfg.IRQ]
	c.interrupt(s.cfg.Costs.Complete/4, func() { c.receive = append(c.receive, r) })
	c.wake()
}

// poll is __napi_poll, or a task's own.
func (r *receiver) poll(c *cpu) {
	whole := false
	if r.s.cfg.Extras.Receive.Busy {
		whole = r.busyPoll(c)
	} else {
		whole = r.napiPoll(c)
	}
	if r.raised = whole || r.waiting > 0; r.raised {
		c.receive = append(c.receive, r)
	}
}

func (r *receiver) napiPoll(c *cpu) (whole bool) {
	c.lane.count(progPollBegin)
	r.held, r.within = uint32(r.list.Count), event.WithinPoll
	budget := r.s.cfg.Extras.Receive.Budget
	if whole = r.take(c, budget) == budget; !whole {
		r.complete(c)
	}
	d, up := r.list.Polled(whole)
	r.up(c, d, up)
	r.held, r.within = event.HeldUnknown, 0
	c.lane.count(progPollEnd)
	return whole
}

// busyPoll is napi_busy_loop: cycles until there is nothing, and a last poll to
// have the interrupts back.
func (r *receiver) busyPoll(c *cpu) (whole bool) {
	const budget = 8 // BUSY_POLL_BUDGET
	context, pid := c.context, c.pid
	c.context, c.pid = event.ContextTask, taskPid-1
	for r.waiting > 0 {
		r.take(c, budget)
		d, up := r.list.BusyCycle()
		r.up(c, d, up)
	}
	if whole = r.take(c, budget) == budget; !whole {
		r.complete(c)
	}
	d, up := r.list.BusyStop(whole)
	r.up(c, d, up)
	c.context, c.pid = context, pid
	return whole
}

// complete is napi_complete_done.
func (r *receiver) complete(c *cpu) {
	c.lane.count(progDoneBegin)
	r.within |= event.WithinDone
	d, up := r.list.Complete(false)
	r.up(c, d, up)
	r.within &^= event.WithinDone
	c.lane.count(progDoneEnd)
}

// take is the driver's: it gives GRO up to n skbs.
func (r *receiver) take(c *cpu, n int) (taken int) {
	conf := &r.s.cfg.Extras.Receive
	for ; taken < n && r.waiting > 0; taken++ {
		r.waiting--
		c.pass(r.s.cfg.Costs.Free)
		skb := model.RxSkb{Frags: conf.Frags}
		if conf.Merge > 0 {
			skb.Segments = 1 + int(r.s.random.below(uint64(conf.Merge)))
		}
		skb.Merged = skb.Segments > 1
		d, up := r.list.Add(r.s.kernel.groBatch, conf.Batch, skb)
		if d.Why == model.FlushAlone {
			continue // it is no list
		}
		g := &r.grown
		g.LastSegs = uint32(max(1, skb.Segments))
		g.Segs += g.LastSegs
		g.Skbs++
		g.Bytes += g.LastSegs * 1448
		r.up(c, d, up)
	}
	return taken
}

// up records a list that went to the protocols.
func (r *receiver) up(c *cpu, d model.Delivery, up bool) {
	if !up {
		return
	}
	g := r.grown
	r.grown = event.GRO{}
	g.NAPI, g.NapiID, g.Batch = napiAddress, minNAPI+uint32(len(r.s.cpus)), uint32(r.s.cfg.Extras.Receive.Batch)
	g.RxCount, g.Held, g.Within = uint32(d.Count), r.held, r.within
	g.Ifindex, g.Txq = Ifindex, event.NoQueue
	c.lane.count(progListUp)
	put(r.s.out, c, &g.Header, &g, 0)
	c.pass(r.s.cfg.Costs.Free)
}

const (
	napiAddress = 0xffff_8883_0000_0000
	minNAPI     = 1 // MIN_NAPI_ID, above the numbers of CPUs
)
