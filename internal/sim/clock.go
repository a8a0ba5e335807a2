// SPDX-License-Identifier: Apache-2.0

package sim

import "errors"

// What may be due at a time.
type kind uint8

const (
	evResume  kind = iota // a CPU goes on; who is the CPU
	evSend                // a sender has a packet; who is the sender
	evDone                // the device interrupts; who is the queue
	evAck                 // a packet was acknowledged; who is the sender
	evPace                // a paced sender may go on; who is the sender
	evArrive              // the next packets of the load reach the qdisc
	evAction              // net_tx_action of the load
	evReceive             // a skb arrives
	evLimit               // the next change of the load's bounds of BQL
)

// due is something that will happen.
type due struct {
	at    uint64 // virtual ns
	order uint64 // what was planned first happens first at the same time
	kind  kind
	who   int32
}

func (d due) before(e due) bool { return d.at < e.at || d.at == e.at && d.order < e.order }

// agenda is what is due, as a binary heap.
type agenda struct {
	list  []due
	order uint64
}

func (a *agenda) plan(at uint64, k kind, who int) {
	d := due{at, a.order, k, int32(who)}
	a.order++
	a.list = append(a.list, d)
	i := len(a.list) - 1
	for i > 0 {
		up := (i - 1) / 2
		if !d.before(a.list[up]) {
			break
		}
		a.list[i] = a.list[up]
		i = up
	}
	a.list[i] = d
}

// take removes what is due first. There must be something.
func (a *agenda) take() due {
	first := a.list[0]
	n := len(a.list) - 1
	d := a.list[n]
	a.list = a.list[:n]
	i := 0
	for {
		down := 2*i + 1
		if down >= n {
			break
		}
		if down+1 < n && a.list[down+1].before(a.list[down]) {
			down++
		}
		if !a.list[down].before(d) {
			break
		}
		a.list[i] = a.list[down]
		i = down
	}
	if n > 0 {
		a.list[i] = d
	}
	return first
}

// errStopped unwinds a CPU when the simulation ends early.
var errStopped = errors.New("simulation stopped")

// random is splitmix64: small, and the same on every machine.
type random uint64

func (r *random) next() uint64 {
	*r += 0x9e3779b97f4a7c15
	z := uint64(*r)
	z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
	z = (z ^ z>>27) * 0x94d049bb133111eb
	return z ^ z>>31
}

// below gives a number from 0 to n-1.
func (r *random) below(n uint64) uint64 {
	if n == 0 {
		return 0
	}
	return r.next() % n
}
