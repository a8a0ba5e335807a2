// SPDX-License-Identifier: Apache-2.0

package rules

import (
	"github.com/txtrace/txtrace/internal/analysis"
)

// keptKin enqueues of a queue are remembered; what waited behind more of them is
// not held to its enqueue.
const keptKin = 1 << 10

// kinM6 holds the moments of one life to each other: its packet has the address
// and the name that it was enqueued with, each call of a driver is one more than
// those before, and its end knows of them all.
type kinM6 struct {
	j      *analysis.Judge
	queues analysis.PerQueue[*enqueuesKin]
	early  []earlyKin
}

// enqueuesKin are the last enqueues of a queue's qdiscs, by their order.
type enqueuesKin struct {
	last uint32
	head analysis.Mark // of the last
	at   [keptKin]enqueueKin
}

// earlyKin is a packet that was told of before its enqueue, as clocks of two CPUs
// may make it.
type earlyKin struct {
	life analysis.Life
	of   *enqueuesKin
}

type enqueueKin struct {
	order uint32
	skb   uint64
	call
}

// momentKin is the last call or end at an address.
type momentKin struct {
	call
	free, freed bool // it is an end; it ended inside a call
	tries       uint8
}

func (k *kinM6) enqueue(l *analysis.Life) {
	if l.Enqueue.Order == 0 {
		return
	}
	q := k.queues.At(l.Queue)
	if *q == nil {
		*q = new(enqueuesKin)
	}
	(*q).add(k, l)
}

// add: a queue that is new counts from one.
func (q *enqueuesKin) add(k *kinM6, l *analysis.Life) {
	order, head := l.Enqueue.Order, l.Mark()
	ahead := int32(order-q.last) > 0
	if q.last != 0 && !ahead && order != 1 && before(&q.head, &head) {
		k.broken(l, "a packet was enqueued as number %d of its queue, after a later one", q.head.Time, order)
	}
	if ahead || order == 1 {
		q.last, q.head = order, head
	}
	q.at[order%keptKin] = enqueueKin{order, l.Skb(), callOf(l)}
}

// settle judges those whose enqueue no clock explains any more.
func (k *kinM6) settle(now uint64) {
	for len(k.early) > 0 && now > k.early[0].life.Time()+clockError {
		e := k.early[0]
		k.early = k.early[1:]
		if int32(e.life.Packet.Order-e.of.last) > 0 {
			k.unqueued(&e.life)
		}
	}
}

func (k *kinM6) unqueued(l *analysis.Life) {
	k.broken(l, "a packet was enqueued as number %d of its queue, and of no such enqueue there is a record", 0, l.Packet.Order)
}

// look at a call or an end of what has a name.
func (k *kinM6) look(l *analysis.Life, last *momentKin) {
	now := momentKin{call: callOf(l), free: l.Free != nil}
	if f := l.Free; f != nil {
		now.freed, now.tries = f.Life != 0, f.Tries
	} else {
		if !l.Alone() {
			last.is = false
			return
		}
		now.freed, now.tries = l.FreedInside(), l.Packet.Tries
	}
	if last.is && last.id == now.id {
		k.follows(l, last, &now)
	}
	*last = now
}

// before says that a moment was over when another began, whatever the clocks.
func before(a, b *analysis.Mark) bool {
	if a.CPU == b.CPU {
		return a.Time <= b.Begin()
	}
	return a.Time+clockError < b.Begin()
}

// packet holds a call to the enqueue whose number it has, whatever its own name.
func (k *kinM6) packet(l *analysis.Life) {
	p := l.Packet
	q := *k.queues.At(l.Queue)
	switch {
	case p.Order == 0 || q == nil:
		return
	case int32(p.Order-q.last) > 0:
		if len(k.early) < maxQdiscs {
			k.early = append(k.early, earlyKin{l.Kept(), q})
		}
		return
	case q.last-p.Order >= keptKin:
		return
	}
	e := &q.at[p.Order%keptKin]
	switch {
	case e.order != p.Order:
		k.unqueued(l)
	case !before(&e.head, &analysis.Mark{Header: p.Header}):
	case e.skb != p.Skb || e.id != l.ID():
		k.broken(l, "a packet was enqueued as number %d of its queue, and another one's enqueue has that number", e.head.Begin(), p.Order)
	default:
		k.j.Held()
	}
}

// follows: of two moments of one life the second knows how many calls of drivers
// there were. What ends while a call is under way ends before that.
func (k *kinM6) follows(l *analysis.Life, last, now *momentKin) {
	from := last.head.Begin()
	switch {
	case last.free && !now.free && last.head.Time >= now.head.Begin():
		if last.tries != now.tries+1 || last.head.CPU == now.head.CPU && last.freed != now.freed {
			k.broken(l, "a packet ended within call %d of a driver, and does not say so", from, uint32(now.tries)+1)
		}
	case last.free || !before(&last.head, &now.head):
	case now.free && (last.freed || now.tries-last.tries != 1 && now.tries-last.tries != 2) && now.tries != 255,
		!now.free && now.tries-last.tries != 1 && now.tries != 255:
		k.broken(l, "a packet that a driver was called with %d times before does not say so", from, uint32(last.tries)+1)
	default:
		k.j.Held()
	}
}

func (k *kinM6) broken(l *analysis.Life, says string, from uint64, n uint32) {
	head, skb, id := l.Mark().Header, l.Skb(), l.ID()
	k.j.BrokenIf(during(from, head.Time), func() *analysis.Evidence {
		return analysis.Show(l.Queue, &head, says, n).
			With("turn", "", int64(id.Turn)).With("sender", "", int64(id.Sender)).With("skb", "", int64(skb))
	})
}
