// SPDX-License-Identifier: Apache-2.0

package sim

import (
	"github.com/txtrace/txtrace/internal/event"
	"github.com/txtrace/txtrace/internal/model"
)

// SK_PACING_NONE and SK_PACING_NEEDED.
func pacingStatus(paced bool) uint8 {
	if paced {
		return 1
	}
	return 0
}

// writeEnd records a tcp_write_xmit that newly held the socket back.
func (o *recorder) writeEnd(c *cpu, k, before *socket, begin uint64, throttled bool) {
	const held = model.TSQThrottled | model.TSQQueued
	if before.flags&model.TSQThrottled != 0 || k.flags&held&^before.flags == 0 {
		c.lane.filter(progWriteEnd)
		return
	}
	cfg := &o.s.cfg.Senders
	r := event.Throttle{
		Sock: k.n.sock(), Birth: k.birth, PacingRate: cfg.PacingRate, WmemBegin: before.wmem, WmemEnd: k.wmem,
		Freed: k.freedInCall, Truesize: cfg.truesize(), LimitSysctl: uint32(cfg.LimitOutput),
		PacingStatus: pacingStatus(cfg.Paced), PacingShift: model.PacingShift, Rtx: uint8(min(k.unacked, event.RtxMore)),
		TSQBegin: uint8(before.flags), TSQEnd: uint8(k.flags),
	}
	if !throttled && k.n.s.left == 0 {
		r.QueueEmpty = 1
	}
	r.Txq = event.NoQueue
	c.lane.count(progWriteEnd)
	put(o, c, &r.Header, &r, begin)
}

// wfree records a free that met a throttled socket that was not queued.
func (o *recorder) wfree(c *cpu, k *socket, flags model.TSQFlags, wmem, truesize uint32) {
	c.lane.count(progWfreeBegin)
	if flags&model.TSQThrottled == 0 || flags&model.TSQQueued != 0 {
		c.lane.filter(progWfreeEnd)
		return
	}
	r := event.Wfree{
		Sock: k.n.sock(), Birth: k.birth, WmemBegin: wmem, WmemEnd: k.wmem, Truesize: truesize,
		TSQBegin: uint8(flags), TSQEnd: uint8(k.flags),
	}
	r.Txq = event.NoQueue
	c.lane.count(progWfreeEnd)
	put(o, c, &r.Header, &r, 0)
}

func (o *recorder) resume(c *cpu, k *socket, source uint8) {
	r := event.Resume{Sock: k.n.sock(), Birth: k.birth, Wmem: k.wmem, TSQ: uint8(k.flags), Source: source}
	r.Txq = event.NoQueue
	c.lane.count(progResumeHandler + int(source))
	put(o, c, &r.Header, &r, 0)
}
