// SPDX-License-Identifier: Apache-2.0

package rules

import (
	"github.com/txtrace/txtrace/internal/analysis"
)

var m11 = analysis.Rule{
	ID:         "M11",
	Sentence:   "What a record says of its parts is what they say themselves.",
	Why:        "The same packets are counted by several programs. Where their counts differ one of them is wrong, and nothing may be said of the kernel by either.",
	Documents:  []string{"internal/event"},
	Kernel:     "fentry, fexit",
	Needs:      []string{"handover.attempts"},
	Hooks:      append([]string{"qdisc_dequeue"}, attemptHooks...),
	Strength:   analysis.Exact,
	Antecedent: "a run or hand-over that was seen from begin to end, or a record that one program makes by itself",
	Gate:       true,
	New: func(j *analysis.Judge) analysis.Checks {
		c := &checkM11{j: j, sent: make(map[analysis.SockID]sentM11)}
		return analysis.Checks{
			Run: c.run, Direct: c.direct, Handover: c.handover, Completion: c.completion,
			Call:     func(p *analysis.Call) { c.alone(p, "a call of a driver") },
			Pick:     func(p *analysis.Pick) { c.alone(p, "a choice of a queue") },
			Picks:    func(p *analysis.Picks) { c.alone(p, "a count of choices") },
			List:     func(l *analysis.List) { c.alone(l, "a list of received packets") },
			Throttle: func(t *analysis.Throttle) { c.alone(t, "a socket that was held back") },
			Resume:   func(r *analysis.Resume) { c.alone(r, "a socket that goes on") },
			Quiet:    func(q *analysis.Quiet) { c.alone(q, "a count of sends") },
			Wfree:    func(w *analysis.Wfree) { c.alone(w, "a free") },
			Schedule: func(s *analysis.Schedule) { c.alone(s, "a step in how a qdisc is run") },
			Delivery: func(d *analysis.Delivery) { c.alone(d, "a list on its way up") },
			Sample:   func(s *analysis.Sampled) { c.alone(s, "a look at a queue") },
			Life: func(l *analysis.Life) {
				if l.Packet == nil { // else it is a call
					c.alone(l, "a moment in a packet's life")
				}
			},
			Transmit: c.transmit,
			End:      c.end,
		}
	},
}

type checkM11 struct {
	j      *analysis.Judge
	queues analysis.PerQueue[lastM11]
	sent   map[analysis.SockID]sentM11
	odd    []*oddM11
}

// sentM11 is what a socket had below it as it sent last, and a record of it that
// does not fit the one before, unless one of another CPU belongs between them.
type sentM11 struct {
	wmem uint32
	cpu  uint16
	time uint64
	odd  *oddM11
}

// lastM11 is what the snapshot before said.
type lastM11 struct {
	numQueued uint32
	jiffies   uint64
	writer    analysis.Writer
}

// alone holds a record that one program made by itself: some things it cannot
// say.
func (c *checkM11) alone(r analysis.Alone, what string) {
	odd := r.Odd()
	if odd == "" {
		c.j.Held()
		return
	}
	c.j.Broken(func() *analysis.Evidence { return analysis.Show(nil, r.Head(), "%s says what none can: %s", what, odd) })
}

// run: its dequeues, their packets and its directs were counted by programs
// that wrote a record of each, and a direct that sends what was dequeued last
// begins with the same skb.
func (c *checkM11) run(r *analysis.Run) {
	switch {
	case r.Partial():
		return
	case !r.Lossless:
		c.j.Undecided(analysis.Lost)
		return
	case r.Agrees() && !r.Strays():
		c.kin(r)
		return
	}
	c.j.BrokenIf(analysis.Claim{Order: true}, func() *analysis.Evidence {
		dequeues, packets, directs := r.Parts()
		return analysis.Show(r.Queue, &r.Header, "a run counts %d dequeues of %d packets and %d directs; its records are %d of %d, and %d",
			r.Dequeues, r.Packets, r.Directs, dequeues, packets, directs).
			With("dequeues", "", int64(r.Dequeues)).With("dequeue_records", "", int64(dequeues)).
			With("packets", "packets", int64(r.Packets)).With("packets_of_records", "packets", int64(packets)).
			With("directs", "", int64(r.Directs)).With("direct_records", "", int64(directs))
	})
}

// direct: a send came from a place that there is, inside of the run that
// dequeued it, and what did not come out of the qdisc was validated: only what
// a driver gave back has been before.
func (c *checkM11) direct(d *analysis.Direct) {
	if d.Odd() != "" {
		c.alone(d, "a send")
		return
	}
	if d.Origin() && (!d.Bypass() || d.Validate != 0 || !d.Whole) && (!d.Dequeued() || d.Parent != 0) {
		return
	}
	c.j.Broken(func() *analysis.Evidence {
		return analysis.Show(d.Queue, &d.Header, "a send says that it came from %d and was validated: %d", d.From, d.Validate).
			With("from", "", int64(d.From)).With("validate", "", int64(d.Validate))
	})
}

// kin: a run and its parts that are all there say the same of each other.
func (c *checkM11) kin(r *analysis.Run) {
	odd := r.Odd()
	if odd == "" {
		c.j.Held()
		return
	}
	c.j.BrokenIf(analysis.Claim{Order: true}, func() *analysis.Evidence {
		return analysis.Show(r.Queue, &r.Header, "a run and the records of its parts do not fit: %s", odd).
			With("dequeues", "", int64(r.Dequeues)).With("packets", "packets", int64(r.Packets)).With("empty", "", int64(r.Empty))
	})
}

// handover: the last attempt was refused or it was not, and of the attempts
// that were not, each owes a doorbell at most, the last of the list one, and one
// after which the driver had stopped the queue; they charged something unless
// none did, and the kernel's answer is the last one's, or that the queue is busy
// when packets were left.
func (c *checkM11) handover(h *analysis.Handover) {
	if h.Partial() {
		return
	}
	if odd := h.Odd(); odd != "" {
		c.j.BrokenIf(analysis.Claim{Order: true}, func() *analysis.Evidence {
			e := analysis.Show(h.Queue, &h.Header, "a hand-over and the records of its calls do not fit: %s", odd)
			for _, call := range h.Calls {
				e.Record(&call.Header)
			}
			return e.With("attempts", "", int64(h.Attempts)).With("busy", "", int64(h.Busy)).With("bytes", "bytes", int64(h.Bytes)).
				With("charged", "bytes", int64(h.Hand.Charged))
		})
		return
	}
	if h.Attempts == 0 {
		return
	}
	all := h.Rest == 0 && h.Taken() > 0
	answer := h.DriverRC
	if h.Rest > 0 {
		answer = analysis.NetdevTxBusy
	}
	if h.DriverBusy() == (h.DriverRC == analysis.NetdevTxBusy) &&
		(h.OwedDrv > 0 || !h.DrvStopped() || h.DriverBusy() || h.Taken() == 0) &&
		h.OwedDrv <= h.OwedAny && h.OwedAny <= h.Taken() && (h.OwedDrv > 0 || !all) &&
		h.Uncharged <= h.Taken() && (h.Uncharged == h.Taken()) == (h.Hand.Charged == 0) &&
		(h.Busy > 0 || h.BusyCharged == 0) && h.RC == answer {
		c.j.Held()
		return
	}
	c.j.Broken(func() *analysis.Evidence {
		return analysis.Show(h.Queue, &h.Header, "of %d attempts %d were refused and %d charged nothing, the last answer was %d, the kernel's %d; %d and %d doorbells are owed",
			h.Attempts, h.Busy, h.Uncharged, h.DriverRC, h.RC, h.OwedAny, h.OwedDrv).
			With("attempts", "", int64(h.Attempts)).With("busy", "", int64(h.Busy)).With("driver_rc", "", int64(h.DriverRC)).
			With("owed_any", "", int64(h.OwedAny)).With("owed_drv", "", int64(h.OwedDrv)).With("rest", "packets", int64(h.Rest))
	})
}

// completion: jiffies are read beside the time of the record and not with it. A
// program that was held up in between, by an interrupt or with its virtual CPU,
// has seen others, or later ones, than its time tells: only those that cannot
// have run at once must agree.
//
// What is completed was queued before (dql_completed stops the kernel
// otherwise). num_queued is read after num_completed, so only a reset
// between the two may show less; then it fell.
func (c *checkM11) completion(s *analysis.Completion) {
	if s.Odd() != "" {
		c.alone(s, "a snapshot of a queue")
		return
	}
	if s.Torn() {
		return
	}
	before := c.queues.At(s.Queue)
	fell := int32(s.NumQueued-before.numQueued) < 0
	back := int64(before.jiffies - s.Jiffies)
	first := before.jiffies == 0
	apart := before.writer != s.Writer()
	*before = lastM11{s.NumQueued, s.Jiffies, s.Writer()}
	switch {
	case !first && back > 0 && apart:
		c.j.Undecided(analysis.Race)
	case !first && back > 0:
		c.j.Broken(func() *analysis.Evidence {
			return analysis.Show(s.Queue, &s.Header, "jiffies ran back by %d since the snapshot before", back).
				With("jiffies", "jiffies", int64(s.Jiffies)).With("back", "jiffies", back)
		})
	case int32(s.NumQueued-s.NumCompleted) >= 0:
		c.j.Held()
	case fell:
		c.j.Undecided(analysis.Reset)
	default:
		c.j.Broken(func() *analysis.Evidence {
			return analysis.Show(s.Queue, &s.Header, "%d bytes are completed that were not queued", s.NumCompleted-s.NumQueued).
				With("num_completed", "bytes", int64(s.NumCompleted)).With("num_queued", "bytes", int64(s.NumQueued))
		})
	}
}

// transmit: what a socket had below it when it sent before is told twice. Which
// record is that before one is not known of two CPUs whose clocks differ.
func (c *checkM11) transmit(t *analysis.Transmit) {
	c.alone(t, "a packet that TCP sends")
	id := t.SockID()
	before, ok := c.sent[id]
	if !ok && len(c.sent) >= maxAwaits {
		return
	}
	now := sentM11{t.Wmem, t.CPU, t.Time, nil}
	late := before.cpu != t.CPU && t.Time <= before.time+clockError
	if before.odd != nil {
		before.odd.judge(c.j, late)
	}
	switch {
	case !ok || before.wmem == t.Before:
	case late:
		c.j.Undecided(analysis.Race)
	default:
		if len(c.odd) == maxAwaits {
			c.end(nil)
			c.odd = c.odd[:0]
		}
		now.odd = &oddM11{analysis.Mark{Header: t.Header}, t.Before, before.wmem, before.time}
		c.odd = append(c.odd, now.odd)
	}
	c.sent[id] = now
}

// oddM11 is a record that does not fit the one before.
type oddM11 struct {
	head   analysis.Mark
	before uint32 // what it says
	wmem   uint32 // what that one says
	time   uint64 // of that one; 0 when this is judged
}

func (o *oddM11) judge(j *analysis.Judge, race bool) {
	from := o.time
	switch o.time = 0; {
	case from == 0:
	case race:
		j.Undecided(analysis.Race)
	default:
		j.BrokenIf(during(from, o.head.Time), func() *analysis.Evidence {
			return analysis.Show(nil, &o.head.Header, "a socket had %d bytes below it when it sent before, and that record has %d", o.before, o.wmem).
				With("before", "bytes", int64(o.before)).With("wmem", "bytes", int64(o.wmem))
		})
	}
}

func (c *checkM11) end(*analysis.End) {
	for _, o := range c.odd {
		o.judge(c.j, false)
	}
}
