// SPDX-License-Identifier: Apache-2.0

package sim

import (
	"iter"
	"time"

	"github.com/txtrace/txtrace/internal/event"
)

// cpu is one processor: a coroutine that does what it is given.
type cpu struct {
	s       *sim
	id      int
	context uint8 // event.Context* of what it does
	pid     uint32
	frames  []uint32 // ids of open spans
	stolen  uint64   // ns that interrupts took from what it does

	resume func() (struct{}, bool)
	stop   func()
	yield  func(struct{}) bool
	idle   bool

	ready  []*sender // have a packet to send, first come first
	given  []packet  // of a load, to be sent by this CPU
	output []*qdisc  // scheduled, for net_tx_action
	acting bool      // it is under way
	freed  []packet  // by hard interrupts, for net_tx_action
	poll   []*queue  // of NAPI
	acked  []*sender
	tasks  []*sender // throttled sockets that the TSQ handler is to resume

	receive, received []*receiver // raised, and what softirqs have taken of them

	// What softirqs have taken of these and work on.
	outputNow          []*qdisc
	freedNow           []packet
	polled             []*queue
	ackedNow, tasksNow []*sender

	choosing  uint64 // since when it chooses a queue; 0: it does not
	handovers uint64 // that ended on this CPU
	more      uint8  // softnet_data.xmit.more: what the last one left

	lane lane
}

func (c *cpu) start() {
	c.resume, c.stop = iter.Pull(func(yield func(struct{}) bool) {
		c.yield = yield
		defer func() {
			if p := recover(); p != nil && p != any(errStopped) {
				panic(p)
			}
		}()
		c.loop()
	})
}

// loop is what the CPU does all its life: softirqs before tasks.
func (c *cpu) loop() {
	for {
		switch {
		case len(c.freed)+len(c.output)+len(c.poll)+len(c.receive)+len(c.acked)+len(c.tasks) > 0:
			c.softirqs()
		case len(c.ready) > 0:
			s := c.ready[0]
			c.ready = c.ready[:copy(c.ready, c.ready[1:])]
			s.ready = false
			c.context, c.pid = event.ContextTask, s.pid()
			s.work(c)
		case len(c.given) > 0:
			p := c.given[0]
			c.given = c.given[:copy(c.given, c.given[1:])]
			c.context, c.pid = event.ContextTask, taskPid+uint32(c.id)
			c.transmit(p)
		default:
			c.idle = true
			if !c.yield(struct{}{}) {
				return
			}
			c.idle = false
		}
	}
}

// Pids of what runs: senders follow taskPid, softirqs are ksoftirqd's number.
const (
	softirqPid = 10
	taskPid    = 1000
)

// wake lets an idle CPU look for work.
func (c *cpu) wake() {
	if c.idle {
		c.idle = false
		c.s.agenda.plan(c.s.now, evResume, c.id)
	}
}

// pass lets time go by, 1 ns at least: spans are told apart by when they began.
// What is due meanwhile happens at its time; interrupts of this CPU make it
// longer.
func (c *cpu) pass(cost time.Duration) {
	s := c.s
	at := s.now + max(1, s.jitter(cost))
	if s.load.load != nil {
		at = s.load.finish(s.now, max(1, uint64(cost)))
	}
	for {
		for len(s.agenda.list) > 0 && s.agenda.list[0].at <= at {
			if s.agenda.list[0].kind == evResume {
				s.agenda.plan(at, evResume, c.id)
				if !c.yield(struct{}{}) {
					panic(errStopped)
				}
				break // now is at
			}
			s.happen(s.agenda.take())
		}
		s.now = at
		if c.stolen == 0 {
			return
		}
		at, c.stolen = s.now+c.stolen, 0
	}
}

// interrupt runs a hard interrupt on the CPU: it costs time of what runs.
func (c *cpu) interrupt(cost time.Duration, handler func()) {
	context := c.context
	c.context = event.ContextHardirq
	handler()
	c.context = context
	if !c.idle {
		c.stolen += uint64(cost)
	}
}

// softirqs does what was raised, in the kernel's order.
func (c *cpu) softirqs() {
	c.context, c.pid = event.ContextSoftirq, softirqPid+uint32(c.id)
	if c.s.load.load == nil {
		c.pass(c.s.cfg.Costs.Softirq)
	}
	c.netTxAction()
	for _, q := range swap(&c.poll, &c.polled) {
		q.napi(c)
	}
	for _, r := range swap(&c.receive, &c.received) {
		r.poll(c)
	}
	for _, s := range swap(&c.acked, &c.ackedNow) {
		s.tcp.acknowledge(c)
	}
	for _, s := range swap(&c.tasks, &c.tasksNow) {
		s.tcp.handle(c)
	}
}

// netTxAction frees what interrupts left and runs the scheduled qdiscs.
func (c *cpu) netTxAction() {
	if len(c.freed)+len(c.output) == 0 {
		return
	}
	c.lane.count(progActionBegin)
	c.s.out.served(c)
	c.acting = true
	freed := swap(&c.freed, &c.freedNow)
	for i := range freed {
		freed[i].free(c)
	}
	for _, q := range swap(&c.output, &c.outputNow) {
		q.scheduled = false
		if q.owner == nil {
			q.take(c)
			q.run(c, event.WhoNetTxAction)
			q.release()
		}
	}
	c.acting = false
	c.lane.count(progActionEnd)
}

// swap takes what was raised; more may come meanwhile.
func swap[T any](raised, now *[]T) []T {
	*raised, *now = (*now)[:0], *raised
	return *now
}
