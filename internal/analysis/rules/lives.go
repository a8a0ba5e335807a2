// SPDX-License-Identifier: Apache-2.0

package rules

import (
	"github.com/txtrace/txtrace/internal/analysis"
)

// lifeHooks are those that a skb's life is followed by: one call that is
// skipped hides a free, or the begin of another life.
var lifeHooks = append([]string{"skb_release_head_state", "net_dev_queue", "net_dev_start_xmit"}, attemptHooks...)

// maxSkbs bounds the addresses that are followed.
const maxSkbs = 1 << 16

// bySkb is what a rule knows of each address. Slabs use theirs again, so they
// are few, and none is forgotten: what a driver's call tells may come after the
// free that followed it.
type bySkb[T any] map[uint64]*T

// at is the state of an address, nil when there is no room for one more.
func (m bySkb[T]) at(skb uint64) *T {
	s := m[skb]
	if s == nil && len(m) < maxSkbs {
		s = new(T)
		m[skb] = s
	}
	return s
}

// call is a driver's call with a skb, as far as rules remember it.
type call struct {
	id   analysis.LifeID
	is   bool
	head analysis.Mark
}

func callOf(l *analysis.Life) call { return call{l.ID(), true, l.Mark()} }

// ends are the lives that ended last at an address. A call's record is written
// when the call ends. Its packet may be freed by another CPU before, and other
// packets may have come and gone at the address: a virtual CPU was seen to stand
// still in a driver for 13 ms.
type ends struct {
	last [4]end
	n    int
}

type end struct {
	id   analysis.LifeID
	time uint64
	cpu  uint16
}

func (e *ends) add(l *analysis.Life) {
	e.last[e.n%len(e.last)] = end{l.ID(), l.Time(), l.Mark().CPU}
	e.n++
}

// of says whether the life that a call is of had ended when the call did, and how
// many that are remembered ended since it began: as many as are remembered may
// hide one.
func (e *ends) of(l *analysis.Life) (ended bool, since int) {
	id, call := l.ID(), l.Mark()
	for _, at := range e.last[:min(e.n, len(e.last))] {
		ended = ended || id.Known() && at.id == id
		if at.cpu != call.CPU {
			at.time += clockError
		}
		if at.time >= call.Begin() {
			since++
		}
	}
	return ended, since
}

// during is a claim that all of a time was seen, and no run of a hook skipped
// in it.
func during(from, to uint64) analysis.Claim {
	s := analysis.Span{From: from, To: to}
	return analysis.Claim{Over: s, When: s}
}
