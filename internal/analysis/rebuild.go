// SPDX-License-Identifier: Apache-2.0

package analysis

import (
	"github.com/txtrace/txtrace/internal/capture"
	"github.com/txtrace/txtrace/internal/event"
)

// rebuild joins records into decisions and hands them out. Its records come in
// the order of the merge: each CPU's by sequence, across CPUs by time.
type rebuild struct {
	header *capture.Header
	fan    fan
	world  *world
	weight weight
	lists  lists
	gaps   *gaps
	lanes  []*lane // by CPU plus one, so that event.UserCPU is 0

	// changed is called when the quota changed: what was judged by the old one
	// in this time is in doubt. lost is called for each gap.
	changed, lost func(Span)

	runs      pool[Run]
	batches   pool[Batch]
	directs   pool[Direct]
	handovers pool[Handover]
	packets   pool[Call]
	sent      []*Call // of the hand-over that ends now

	now    scratch
	lastNS uint64
}

func newRebuild(h *capture.Header, g *gaps) *rebuild {
	return &rebuild{
		header: h, world: newWorld(h), weight: newWeight(h.Settings), lists: newLists(h), gaps: g,
		changed: func(Span) {}, lost: func(Span) {},
	}
}

func (r *rebuild) lane(cpu uint16) *lane {
	i := int(cpu + 1)
	for i >= len(r.lanes) {
		r.lanes = append(r.lanes, nil)
	}
	if r.lanes[i] == nil {
		r.lanes[i] = &lane{}
	}
	return r.lanes[i]
}

// item takes the next record or gap of the capture.
func (r *rebuild) item(it capture.Item) {
	if it.Gap != nil {
		r.gap(it.Gap)
		return
	}
	h := it.Record.Head()
	l := r.lane(h.CPU)
	r.lastNS = max(r.lastNS, h.Time)
	if len(r.fan.record) > 0 {
		r.now.record = Record{Header: h, Device: r.world.device(h), Before: l.before, HasBefore: l.has, Armed: r.header.Clock.Monotonic}
		give(r.fan.record, &r.now.record)
	}
	switch rec := it.Record.(type) {
	case *event.Dequeue:
		r.dequeue(l, rec)
	case *event.Handover:
		r.handover(l, rec)
	case *event.Direct:
		r.direct(l, rec)
	case *event.Run:
		r.run(l, rec)
	case *event.Complete:
		r.complete(rec)
	case *event.Throttle:
		r.now.throttle = Throttle{*rec}
		give(r.fan.throttle, &r.now.throttle)
	case *event.Wfree:
		r.now.wfree = Wfree{*rec, r.header.Kernel.SkbTruesize}
		give(r.fan.wfree, &r.now.wfree)
	case *event.Resume:
		r.now.resume = Resume{*rec}
		give(r.fan.resume, &r.now.resume)
	case *event.Notice:
		r.notice(rec)
	case *event.Ledger:
		give(r.fan.ledger, &Ledger{*rec})
	case *event.Quiet:
		give(r.fan.quiet, &Quiet{*rec, r.world.queue(h)})
	case *event.Pick:
		r.now.pick = Pick{*rec, r.world.queue(h), &r.header.Kernel}
		give(r.fan.pick, &r.now.pick)
	case *event.Picks:
		give(r.fan.picks, &Picks{*rec, r.world.queue(h)})
	case *event.Enqueue:
		r.lives(Life{Queue: r.world.queue(h), Enqueue: rec})
	case *event.Free:
		r.lives(Life{Queue: r.world.queue(h), Free: rec})
	case *event.Transmit:
		r.now.transmit = Transmit{*rec}
		give(r.fan.transmit, &r.now.transmit)
	case *event.Packet:
		r.lives(Life{Queue: r.world.queue(h), Packet: rec})
		p := r.packets.get()
		*p = Call{Packet: *rec, Queue: r.world.queue(h)}
		r.hold(l, h, child{packet: p})
	case *event.Sample:
		give(r.fan.sample, &Sampled{*rec, r.world.queue(h)})
	case *event.Sojourn:
		give(r.fan.sojourn, &Sojourn{*rec, r.world.queue(h)})
	case *event.Schedule:
		s := &r.now.schedule
		*s = Schedule{Schedule: *rec}
		if rec.What != event.ScheduleServed {
			s.Queue = r.world.queue(h)
		}
		give(r.fan.schedule, s)
	case *event.Delivery:
		r.now.delivery = Delivery{*rec, r.world.named(h)}
		give(r.fan.delivery, &r.now.delivery)
	case *event.Steer:
		r.now.steer = Steer{*rec, r.world.queue(h)}
		give(r.fan.steer, &r.now.steer)
	case *event.GRO:
		r.now.list = r.lists.list(rec, r.world.named(h))
		give(r.fan.list, &r.now.list)
	}
	l.before, l.has = *h, true
}

// lostOn is the number of records missing on each CPU that was met.
func (r *rebuild) lostOn() map[uint16]uint64 {
	by := make(map[uint16]uint64)
	for i, l := range r.lanes {
		if l != nil {
			by[uint16(i-1)] = l.lost
		}
	}
	return by
}

func (r *rebuild) gap(g *capture.Gap) {
	s := Span{g.FromNS, g.ToNS}
	if g.CPU == event.UserCPU { // the recorder's own records tell of no queue
		r.changed(Span{s.From - min(s.From, settle), s.To + settle})
		r.weight.unknown = true
	} else {
		r.gaps.add(s)
		r.lost(s)
	}
	l := r.lane(g.CPU)
	l.lost += uint64(g.Lost)
	l.goodSince = max(l.goodSince, g.ToNS)
}

func (r *rebuild) dequeue(l *lane, rec *event.Dequeue) {
	l.close(&rec.Header, r.orphan, r.orphan)
	b := r.batches.get()
	*b = Batch{Dequeue: *rec, Queue: r.world.queue(&rec.Header)}
	b.Avail.BQL = b.NumQueued|b.NumCompl|b.AdjLimit != 0
	if rec.Parent == 0 {
		r.orphan(child{batch: b})
		return
	}
	r.hold(l, &rec.Header, child{batch: b})
}

func (r *rebuild) handover(l *lane, rec *event.Handover) {
	l.close(&rec.Header, r.part, r.orphan)
	h := r.handovers.get()
	*h = Handover{Handover: *rec, Queue: r.world.queue(&rec.Header), Whole: l.whole(&rec.Header), Calls: h.Calls[:0]}
	r.fill(h)
	h.foreign()
	if rec.Parent == 0 {
		r.orphan(child{handover: h})
		return
	}
	r.hold(l, &rec.Header, child{handover: h})
}

// part takes what is inside a hand-over: the packets, and other devices' spans.
func (r *rebuild) part(c child) {
	if c.packet == nil {
		r.orphan(c)
		return
	}
	r.sent = append(r.sent, c.packet)
}

// fill gives the hand-over that ends the calls that were found; nil is one
// that there is no record of.
func (r *rebuild) fill(h *Handover) {
	for _, p := range r.sent {
		if h == nil {
			r.orphan(child{packet: p})
			continue
		}
		p.Handover = h
		h.Calls = append(h.Calls, p)
	}
	r.sent = r.sent[:0]
}

func (r *rebuild) giveHandover(h *Handover) {
	give(r.fan.handover, h)
	r.ring(h.Queue).handover(h)
	for _, p := range h.Calls {
		give(r.fan.call, p)
	}
}

func (r *rebuild) recycleHandover(h *Handover) {
	for _, p := range h.Calls {
		r.packets.put(p)
	}
	h.Calls = h.Calls[:0]
	r.handovers.put(h)
}

func (r *rebuild) lives(l Life) {
	r.now.life = l
	give(r.fan.life, &r.now.life)
}

func (r *rebuild) hold(l *lane, h *event.Header, c child) {
	if given, overflow := l.hold(h, c); overflow {
		r.orphan(given)
	}
}

func (r *rebuild) direct(l *lane, rec *event.Direct) {
	l.close(&rec.Header, r.part, r.orphan)
	d := r.directs.get()
	*d = Direct{Direct: *rec, Queue: r.world.queue(&rec.Header), Whole: l.whole(&rec.Header)}
	d.Whole = d.Whole && rec.Handovers <= 1
	if hand := rec.Handover(); hand != nil {
		d.Handover = r.handovers.get()
		*d.Handover = Handover{Handover: *hand, Queue: d.Queue, Direct: d, Whole: d.Whole, Calls: d.Handover.Calls[:0]}
		d.Handover.foreign()
	}
	r.fill(d.Handover)
	if rec.From == event.FromBypass || rec.Parent == 0 {
		r.orphan(child{direct: d})
		return
	}
	r.hold(l, &rec.Header, child{direct: d})
}

// orphan gives out a decision whose enclosing span is none or never came.
func (r *rebuild) orphan(c child) {
	switch {
	case c.batch != nil:
		c.batch.quota(r.weight.quota())
		r.judgeOrigin(c.batch, nil)
		c.batch.settle()
		give(r.fan.batch, c.batch)
	case c.direct != nil:
		r.giveDirect(c.direct)
	case c.handover != nil:
		r.giveHandover(c.handover)
	case c.packet != nil:
		give(r.fan.call, c.packet)
	}
	r.recycle(c)
}

func (r *rebuild) giveDirect(d *Direct) {
	give(r.fan.direct, d)
	if d.Handover != nil {
		r.giveHandover(d.Handover)
	}
}

// recycle takes back the memory of a decision that was given out.
func (r *rebuild) recycle(c child) {
	if c.batch != nil {
		r.batches.put(c.batch)
	}
	if c.direct != nil {
		if c.direct.Handover != nil {
			r.recycleHandover(c.direct.Handover)
		}
		r.directs.put(c.direct)
	}
	if c.handover != nil {
		r.recycleHandover(c.handover)
	}
	if c.packet != nil {
		r.packets.put(c.packet)
	}
}

func (r *rebuild) complete(rec *event.Complete) {
	q := r.world.queue(&rec.Header)
	r.now.completion = q.dql.step(rec, q.CompletesOnce() && !r.gaps.within(Span{q.dql.time, rec.Time}))
	r.now.completion.Queue = q
	give(r.fan.completion, &r.now.completion)
	r.ring(q).completion(&r.now.completion)
}

// ring follows what the queue's driver was given.
func (r *rebuild) ring(q *Queue) *ringMeter {
	if q.ring.gaps == nil {
		q.ring.gaps = r.gaps
		q.ring.give = func(done Ring) {
			r.now.ring = done
			r.now.ring.Queue = q
			give(r.fan.ring, &r.now.ring)
		}
	}
	return &q.ring
}

func (r *rebuild) notice(rec *event.Notice) {
	n := Notice{Notice: *rec, Text: event.Text(rec.Name[:]), header: r.header}
	r.world.notice(rec, n.Text)
	n.Device = r.world.device(&rec.Header)
	if (rec.Subtype == event.NoticeWatchdog || rec.Subtype == event.NoticeStall) && n.Device != nil {
		n.Queue = r.world.queue(&rec.Header)
	}
	if r.weight.notice(rec, n.Text) {
		r.changed(Span{rec.Time - min(rec.Time, settle), rec.Time + settle})
	}
	give(r.fan.notice, &n)
}

// end gives out what still waits for its enclosing span.
func (r *rebuild) end() {
	for _, l := range r.lanes {
		if l == nil {
			continue
		}
		for _, c := range l.wait {
			r.orphan(c)
		}
		l.wait = nil
	}
	for _, q := range r.world.queues {
		r.ring(q).end(r.lastNS)
	}
}
