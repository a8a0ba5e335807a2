// SPDX-License-Identifier: Apache-2.0

package rules

import (
	"github.com/txtrace/txtrace/internal/event"
	"github.com/txtrace/txtrace/internal/model"
)

// second passes time in which nothing happens, and then the recorder tells of
// itself.
func (t *trace) second(n uint64) {
	t.tick(n * 1_000_000_000)
	t.own(&event.Ledger{})
}

// waiting is what the rules of liveness judge, on a device of its own.
func (t *trace) waiting() {
	was := *t
	t.ifindex, t.txq, t.state, t.qlen = 5, 0, 0, 0
	t.dql.NumQueued, t.dql.NumCompleted = 50_000, 50_000
	t.dql.AdjLimit = t.dql.NumCompleted + t.dql.Limit
	t.snapshot()
	t.burst(sent{n: 20, rest: 8, busy: true}) // none of the first rang, and then the driver did
	t.burst(sent{n: 20})
	last[event.Direct](t, 0).Hand.Uncharged = 3 // it dropped three
	t.complete(t.dql.InFlight())
	t.held()
	t.stopped()
	t.watchdog()
	t.again()
	last[event.Run](t, 0).QdiscStateBegin = event.QdiscStateDeactivated
	t.complete(t.dql.InFlight())
	t.back(was)
}

// burst sends a list whose packets owe no doorbell but the last.
func (t *trace) burst(s sent) {
	r := t.run()
	r.dequeue(20, 142, 0)
	_, h := r.send(s)
	r.end()
	if h.Rest > 0 {
		h.OwedAny, h.OwedDrv = 0, 0
		t.complete(t.dql.InFlight())
		t.drain(50)
		t.complete(t.dql.InFlight())
	}
}

// held leaves packets in the qdisc of a queue that BQL stopped, until a
// completion starts it.
func (t *trace) held() {
	r := t.run()
	r.dequeue(1, uint32(t.dql.Avail())+1000, 5)
	r.send(sent{})
	r.end()
	t.complete(t.dql.InFlight())
	r = t.run()
	r.dequeue(5, 142, 0)
	r.send(sent{})
	r.end()
}

// stopped completes all that is in flight while the driver has its queue
// stopped, which it starts then.
func (t *trace) stopped() {
	t.state = event.DrvXoff
	t.complete(t.dql.InFlight())
	t.state = 0
	t.bypass(142, sent{})
	t.complete(t.dql.InFlight())
}

// watchdog gives the queue up, and BQL is reset with nothing in flight.
func (t *trace) watchdog() *event.Notice {
	t.tick(6_000_000_000)
	n := &event.Notice{Subtype: event.NoticeWatchdog}
	t.put(n, 0)
	t.dql.Reset(model.DQLResetMin, t.jiffies)
	t.snapshot()
	return n
}

// bursts are so many of two hand-overs as L3 wants, on a device of its own. The
// last of each is completed so many ns after it was handed over.
func (t *trace) bursts(ifindex uint32, last uint64) {
	was := *t
	t.ifindex, t.txq, t.state, t.qlen = ifindex, 0, 0, 0
	t.dql.NumQueued, t.dql.NumCompleted = 20_000, 20_000
	t.dql.AdjLimit = t.dql.NumCompleted + t.dql.Limit
	t.snapshot()
	for range enoughL3 {
		first := t.alone(1514, sent{n: 1})
		t.alone(1514, sent{n: 1})
		t.complete(uint32(first.Bytes))
		t.tick(last)
		t.complete(t.dql.InFlight())
	}
	t.alone(1514, sent{n: 1}) // tells that nothing came before the last was completed
	t.complete(t.dql.InFlight())
	t.back(was)
}

// purged resets the first of two queues that both have bytes in flight, on a
// device of its own, and then the second, or not.
func (t *trace) purged(ifindex uint32, both bool) {
	was := *t
	t.ifindex, t.txq, t.state, t.qlen = ifindex, 0, 0, 0
	t.dql.NumQueued, t.dql.NumCompleted = 30_000, 30_000
	t.dql.AdjLimit = t.dql.NumCompleted + t.dql.Limit
	first := t.dql
	t.alone(1514, sent{n: 1})
	t.txq, t.dql = 1, first
	t.alone(1514, sent{n: 1})
	second := t.dql
	t.txq, t.dql = 0, model.NewDQL(250, t.jiffies)
	t.look(event.Sample{})
	t.txq, t.dql = 1, second
	if both {
		t.dql = model.NewDQL(250, t.jiffies)
	}
	for range 7 {
		t.look(event.Sample{})
		t.second(1)
	}
	t.back(was)
}

// again runs the qdisc on one CPU and then on another.
func (t *trace) again() {
	for cpu := range uint16(2) {
		t.cpu = cpu
		r := t.run()
		r.dequeue(1, 142, 0)
		r.send(sent{})
		r.end()
	}
	t.cpu = 0
}
