// SPDX-License-Identifier: Apache-2.0

package analysis

import "github.com/txtrace/txtrace/internal/event"

// lane is one CPU: the record before, and the spans that wait for the span
// around them. A span is written at its end, so children come before parents.
type lane struct {
	before    event.Header
	has       bool
	goodSince uint64 // no record of this CPU is missing after this time
	lost      uint64 // records missing so far
	wait      []child
}

// maxWaiting bounds the spans that wait on one CPU; the oldest is given up.
const maxWaiting = 1 << 12

// child is a record whose enclosing span has not ended yet.
type child struct {
	parent uint32 // ID of that span
	since  uint64 // when that span began
	time   uint64
	pid    uint32

	batch    *Batch
	direct   *Direct
	handover *Handover
	packet   *Call
}

// parentBegin is when the enclosing span of h began, 0 when there is none.
// Parent is the low half of that time, which lies less than 4.3 s back: a span
// that lasts longer says so and is not whole.
func parentBegin(h *event.Header) uint64 {
	if h.Parent == 0 {
		return 0
	}
	b := h.Begin()
	return b - uint64(uint32(b)-h.Parent)
}

// whole says whether the span was seen from its begin to its end with nothing
// missing on its CPU.
func (l *lane) whole(h *event.Header) bool {
	return h.Flags&(event.FlagPartial|event.FlagDurLong) == 0 && h.Begin() > l.goodSince
}

// hold makes a child wait.
func (l *lane) hold(h *event.Header, c child) (given child, overflow bool) {
	c.parent, c.since, c.time, c.pid = h.Parent, parentBegin(h), h.Time, h.Pid
	if len(l.wait) >= maxWaiting {
		given, overflow = l.wait[0], true
		l.wait = append(l.wait[:0], l.wait[1:]...)
	}
	l.wait = append(l.wait, c)
	return given, overflow
}

// close takes from the waiting children those that h ends for: its own, for
// mine, in order; and those of a span that must have ended unseen, because it
// began inside the span around h, for orphan.
//
// The spans of one task nest, so the children that wait are ordered by when
// the spans around them began.
func (l *lane) close(h *event.Header, mine, orphan func(child)) {
	id, begin, outer := h.ID(), h.Begin(), parentBegin(h)
	first := len(l.wait)
	for i := len(l.wait) - 1; i >= 0; i-- {
		c := &l.wait[i]
		if c.pid != h.Pid {
			continue // another task's, on PREEMPT_RT
		}
		if !c.of(id, begin) && c.since <= outer {
			break
		}
		first = i
	}
	kept := l.wait[:first]
	for _, c := range l.wait[first:] {
		switch {
		case c.pid != h.Pid:
			kept = append(kept, c)
		case c.of(id, begin):
			mine(c)
		default:
			orphan(c)
		}
	}
	clear(l.wait[len(kept):])
	l.wait = kept
}

// of says whether c is a child of the span.
func (c *child) of(id uint32, begin uint64) bool { return c.parent == id && c.time >= begin }
