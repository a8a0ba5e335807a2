// SPDX-License-Identifier: Apache-2.0

package rules

import (
	"github.com/txtrace/txtrace/internal/event"
)

// drain takes all that is parked, in runs of at most n batches.
func (t *trace) drain(n int) {
	for t.gso() > 0 {
		r := t.run()
		for i := 0; i < n && t.gso() > 0; i++ {
			r.fromGSO(1514)
			r.send(sent{})
		}
		r.end()
	}
}

// unstop lets the driver and its completions start the queue again.
func (t *trace) unstop() {
	t.state &^= event.DrvXoff
	if n := t.dql.InFlight(); n > 0 {
		t.complete(n)
	}
	t.state &^= event.StackXoff
}

// legal is a trace of a right kernel in which every rule has something to
// judge: bulk dequeues to the quota, requeues of all causes, a bypass, a queue
// without BQL, a qdisc that serves two queues, throttled sockets.
func legal() *trace {
	t := newTrace()
	t.own(notice(event.NoticeSysctl, "net.core.dev_weight", 64, 64))
	for range 3 {
		r := t.run() // the quota ends it, with bytes and packets left
		r.dequeue(65, 142, 10)
		r.send(sent{})
		r.end()
		r = t.run()
		r.dequeue(10, 142, 0)
		r.send(sent{})
		r.end()
		t.complete(t.dql.InFlight() / 2)
		t.complete(t.dql.InFlight())
		t.bypass(142, sent{})
	}
	for _, s := range []sent{
		{n: 40, rest: 12, busy: true},
		{n: 40, rest: 1, busy: true},
		{n: 40, rest: 12, stop: event.DrvXoff},
	} {
		r := t.run() // a GSO skb, segmented, and not all of it taken
		r.dequeue(1, 40*1514, 0)
		r.send(s)
		r.end()
		t.unstop()
		t.drain(5)
	}
	r := t.run() // BQL stops the queue, so the next list goes back whole
	n := uint32(t.dql.Avail())/1514 + 2
	r.dequeue(1, n*1514, 5)
	r.send(sent{n: n})
	r.dequeue(1, 1514, 0)
	r.send(sent{n: 1, stopped: true})
	r.end()
	t.unstop()
	t.drain(5)
	t.complete(t.dql.InFlight())
	t.bursts(9, 20_000)
	t.looked()
	t.lives()
	t.waiting()
	t.list(true)
	t.throttle()
	t.wfree()
	t.resume()
	t.picking()
	t.receiving()
	t.dummy()
	t.shared()
	t.purged(11, true)
	t.scheduling()
	t.delivered(3, 0)
	t.alone(1514, sent{n: 1})
	t.complete(t.dql.InFlight())
	t.steer(1, 1)
	return t
}

// list hands over a list during which BQL stops the queue, and which goes on.
func (t *trace) list(goesOn bool) *event.Hand {
	r := t.run()
	r.dequeue(1, 60*1514, 0)
	s := sent{n: 60}
	if !goesOn {
		s.rest = 7
	}
	_, h := r.send(s)
	h.OwedAny, h.OwedDrv = 5, 1
	r.end()
	t.unstop()
	t.drain(50)
	return h
}

func (t *trace) throttle() *event.Throttle {
	e := &event.Throttle{
		Sock: 0x99, Birth: 5, PacingRate: 100 << 20, PacingShift: 10, WmemBegin: 1 << 17, WmemEnd: 300 << 10, Truesize: 70 << 10,
		LimitSysctl: 1 << 20, Rtx: event.RtxMore, TSQEnd: event.TSQThrottled,
	}
	t.sock(e)
	return e
}

func (t *trace) wfree() *event.Wfree {
	e := &event.Wfree{Sock: 0x99, Birth: 5, WmemBegin: 100001, WmemEnd: 99002, Truesize: 1000, TSQBegin: event.TSQThrottled, TSQEnd: event.TSQQueued}
	t.sock(e)
	return e
}

func (t *trace) resume() {
	t.sock(&event.Resume{Sock: 0x99, Birth: 5, Wmem: 5000, TSQ: event.TSQQueued})
}

// dummy runs a queue that nobody charges, on another device.
func (t *trace) dummy() *event.Dequeue {
	was := *t
	t.ifindex, t.dql.AdjLimit, t.dql.NumQueued, t.dql.NumCompleted, t.state = 3, 0, 0, 0, 0
	r := t.run()
	d := r.dequeue(1, 142, 3)
	r.send(sent{noBQL: true})
	r.end()
	t.back(was)
	return d
}

// shared runs a qdisc that serves two queues, on a third device.
func (t *trace) shared() *event.Dequeue {
	was := *t
	t.ifindex, t.qflags, t.kind = 4, 0, "pfifo"
	r := t.run()
	t.txq = 1
	d := r.dequeue(9, 142, 3)
	r.send(sent{noBQL: true})
	t.txq = 0
	r.end()
	t.back(was)
	return d
}

// back returns to the device that was before.
func (t *trace) back(was trace) {
	t.ifindex, t.txq, t.qflags, t.kind, t.dql, t.state, t.qlen = was.ifindex, was.txq, was.qflags, was.kind, was.dql, was.state, was.qlen
}

func notice(subtype uint8, name string, before, after uint64) *event.Notice {
	n := &event.Notice{Subtype: subtype, Before: before, After: after}
	copy(n.Name[:], name)
	return n
}

// last is the last record of a type; nth counts from the end.
func last[T any](t *trace, nth int) *T {
	for i := len(t.recs) - 1; i >= 0; i-- {
		if r, ok := any(t.recs[i]).(*T); ok {
			if nth--; nth < 0 {
				return r
			}
		}
	}
	return nil
}

// where is the last record of a type that the test says.
func where[T any](t *trace, is func(*T) bool) *T {
	for i := len(t.recs) - 1; i >= 0; i-- {
		if r, ok := any(t.recs[i]).(*T); ok && is(r) {
			return r
		}
	}
	return nil
}

// hand is the first hand-over inside a direct that the test says.
func hand(t *trace, is func(*event.Hand) bool) *event.Hand {
	for _, r := range t.recs {
		if d, ok := r.(*event.Direct); ok && d.Handovers > 0 && is(&d.Hand) {
			return &d.Hand
		}
	}
	return nil
}

// any one will do.
func anyHand(*event.Hand) bool { return true }
