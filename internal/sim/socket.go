// SPDX-License-Identifier: Apache-2.0

package sim

import (
	"time"

	"github.com/txtrace/txtrace/internal/event"
	"github.com/txtrace/txtrace/internal/model"
)

// socket is the TCP side of a sender: a window that is always full, held back
// by small queues and, if it is paced, by its rate.
type socket struct {
	n        *sender
	wmem     uint32 // sk_wmem_alloc
	flags    model.TSQFlags
	unacked  int
	owned    bool // a task or softirq works on it
	again    bool // somebody wanted to write meanwhile
	backlog  int  // acknowledgements that came meanwhile
	birth    uint64
	nextSend uint64 // paced: not before

	freedInCall uint32 // bytes given back since tcp_write_xmit began
}

func newSocket(n *sender) *socket { return &socket{n: n, wmem: model.WmemBase} }

// throttled asks the model whether the next packet has to wait.
func (k *socket) throttled() bool {
	s, c := k.n.s, &k.n.s.cfg.Senders
	sock := model.Socket{
		Wmem: k.wmem, Truesize: c.truesize(), MSS: c.Length - c.headers(), PacingRate: c.PacingRate, PacingShift: model.PacingShift,
		Paced: c.Paced, LimitOutput: c.LimitOutput, Unacked: k.unacked,
	}
	return sock.Throttled(s.kernel.tsqLimit, s.kernel.tsqExempt)
}

// write is tcp_write_xmit of whoever has the socket, and what its release
// finds left to do.
func (k *socket) write(c *cpu) {
	if k.owned {
		k.again = true
		return
	}
	k.owned = true
	for {
		k.xmit(c)
		switch {
		case k.flags&model.TSQDeferred != 0: // tcp_release_cb
			k.flags &^= model.TSQDeferred
			k.n.s.out.resume(c, k, event.ResumeRelease)
		case k.again || k.backlog > 0:
			k.unacked -= k.backlog
			k.again, k.backlog = false, 0
		default:
			k.owned = false
			return
		}
	}
}

// xmit is tcp_write_xmit.
func (k *socket) xmit(c *cpu) {
	s, cfg := k.n.s, &k.n.s.cfg.Senders
	c.lane.count(progWriteBegin)
	begin := s.now
	if k.birth == 0 {
		k.birth = begin
	}
	before := *k
	k.freedInCall = 0
	throttled := false
	for k.unacked < cfg.Window {
		if cfg.Paced && s.now < k.nextSend {
			s.agenda.plan(k.nextSend, evPace, k.n.index)
			break
		}
		if k.throttled() {
			k.flags |= model.TSQThrottled
			c.pass(10 * time.Nanosecond) // the barrier, after which it looks again
			if k.throttled() {
				throttled = true
				break
			}
		}
		c.pass(s.cfg.Costs.Send)
		p, ok := k.n.packet()
		if !ok {
			break
		}
		k.wmem += p.truesize
		k.unacked++
		if cfg.Paced {
			k.nextSend = max(k.nextSend, s.now) + uint64(p.Len)*1_000_000_000/cfg.PacingRate
		}
		c.transmit(p)
	}
	s.out.writeEnd(c, k, &before, begin, throttled)
}

// acknowledge takes one packet out of the retransmit queue and sends more; the
// owner of the socket does so when it is done.
func (k *socket) acknowledge(c *cpu) {
	if k.owned {
		k.backlog++
		return
	}
	k.unacked--
	k.write(c)
}

// wfree is tcp_wfree.
func (k *socket) wfree(c *cpu, truesize uint32) {
	begin, flags := k.wmem, k.flags
	k.freedInCall += truesize
	wmem, after := model.Wfree(k.flags, k.wmem, truesize, skbOverhead+1, false)
	if after&model.TSQQueued != 0 && flags&model.TSQQueued == 0 {
		k.wmem, k.flags = wmem, after // the handler gives the last byte back
		c.tasks = append(c.tasks, k.n)
		c.wake()
	} else {
		k.wmem, k.flags = wmem-1, after
	}
	k.n.s.out.wfree(c, k, flags, begin, truesize)
}

// handle is the TSQ handler: an owned socket is left to its owner.
func (k *socket) handle(c *cpu) {
	k.flags &^= model.TSQQueued
	k.n.s.out.resume(c, k, event.ResumeHandler)
	if k.owned {
		k.flags |= model.TSQDeferred
	} else {
		k.write(c)
	}
	k.wmem--
}
