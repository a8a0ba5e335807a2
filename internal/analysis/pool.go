// SPDX-License-Identifier: Apache-2.0

package analysis

// pool lends structs, so that a long capture does not make garbage.
type pool[T any] struct{ free []*T }

func (p *pool[T]) get() *T {
	if n := len(p.free); n > 0 {
		x := p.free[n-1]
		p.free = p.free[:n-1]
		return x
	}
	return new(T)
}

func (p *pool[T]) put(x *T) { p.free = append(p.free, x) }

// scratch has the decision that is handed out, of the kinds that wait for no
// other: the next of its kind takes its place.
type scratch struct {
	record     Record
	completion Completion
	throttle   Throttle
	wfree      Wfree
	resume     Resume
	pick       Pick
	list       List
	schedule   Schedule
	delivery   Delivery
	steer      Steer
	life       Life
	transmit   Transmit
	ring       Ring
}
