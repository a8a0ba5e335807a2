// SPDX-License-Identifier: Apache-2.0

package sim

import (
	"github.com/txtrace/txtrace/internal/capture"
	"github.com/txtrace/txtrace/internal/event"
)

// lane is a CPU's share of the records.
type lane struct {
	seq    uint32
	counts [programs]count
	quiet  map[quietKey]*event.Quiet
	last   *event.Quiet
	key    quietKey
}

type quietKey struct{ txq, handle uint32 }

type count struct{ seen, submitted, filtered uint64 }

func (l *lane) begin() { l.quiet = make(map[quietKey]*event.Quiet) }

// count notes a run of a program that leads to no record of its own.
func (l *lane) count(program int) { l.counts[program].seen++; l.counts[program].submitted++ }

// filter notes one that decided nothing.
func (l *lane) filter(program int) { l.counts[program].seen++; l.counts[program].filtered++ }

// sink takes records, as a capture's writer does.
type sink interface{ Append(rec []byte) error }

var _ sink = (*capture.Writer)(nil)

// recorder writes what happens as internal/probes would.
type recorder struct {
	s       *sim
	w       sink
	scratch []byte
	seq     uint32 // of the recorder's own records
	written uint64

	runs    pool[runFrame]
	directs pool[directFrame]
}

// pool keeps what will be used again.
type pool[T any] struct{ free []*T }

func (p *pool[T]) get() *T {
	n := len(p.free)
	if n == 0 {
		return new(T)
	}
	v := p.free[n-1]
	p.free = p.free[:n-1]
	return v
}

func (p *pool[T]) put(v *T) { p.free = append(p.free, v) }

func newRecorder(s *sim, w sink) *recorder { return &recorder{s: s, w: w} }

// The simulated device, as records name it.
const (
	Netns   = 4026531840
	Ifindex = 2
)

// put writes a record of the CPU that began at begin; 0 is no span.
func put[T event.Record](o *recorder, c *cpu, h *event.Header, r *T, begin uint64) {
	h.Context, h.Pid, h.CPU, h.Seq, h.Time = c.context, c.pid, uint16(c.id), c.lane.seq, o.s.now
	h.Depth = uint8(len(c.frames))
	if begin != 0 {
		h.Dur = uint32(min(o.s.now-begin, 1<<32-1))
		if h.Dur == 1<<32-1 {
			h.Flags |= event.FlagDurLong
		}
	}
	h.Netns = Netns
	c.lane.seq++
	save(o, r)
}

func save[T event.Record](o *recorder, r *T) {
	o.written++
	o.scratch = event.Append(o.scratch[:0], r)
	if err := o.w.Append(o.scratch); err != nil {
		o.s.fail(err)
	}
}

// parent is the id of the innermost open span.
func (c *cpu) parent() uint32 {
	if len(c.frames) == 0 {
		return 0
	}
	return c.frames[len(c.frames)-1]
}

func (c *cpu) push(begin uint64) { c.frames = append(c.frames, (&event.Header{Time: begin}).ID()) }
func (c *cpu) pop()              { c.frames = c.frames[:len(c.frames)-1] }

// now is what the programs read of a queue. The bits of its state are the
// kernel's in internal/model and in records.
func (q *queue) now() (numQueued, numCompleted, adjLimit uint32, state uint8) {
	return q.dql.NumQueued, q.dql.NumCompleted, q.dql.AdjLimit, uint8(q.state)
}

func (q *qdisc) stateBits() uint8 {
	if q.scheduled {
		return event.QdiscStateSched
	}
	return 0
}

// runFrame is a run under way.
type runFrame struct {
	rec   event.Run
	begin uint64
	deq   event.Dequeue // of the last batch
	open  bool          // it gave a batch or scheduled itself: it will be recorded
}

func (o *recorder) runBegin(c *cpu, q *qdisc, who uint8) *runFrame {
	c.lane.count(progRunBegin)
	r := o.runs.get()
	*r = runFrame{begin: o.s.now}
	rec := &r.rec
	rec.Who, rec.Parent = who, c.parent()
	rec.QlenBegin, rec.QdiscStateBegin = uint32(q.waiting()), q.stateBits()
	if q.oneTxQueue() {
		rec.NumQueuedBegin, rec.NumComplBegin, rec.AdjLimitBegin, rec.TxqStateBegin = o.s.queues[q.index].now()
	}
	c.push(r.begin)
	return r
}

func (o *recorder) rescheduled(c *cpu, r *runFrame) {
	c.lane.count(progSchedule)
	r.open = true
	r.rec.Rescheduled = 1
}

func (o *recorder) empty(c *cpu, r *runFrame) {
	c.lane.filter(progDequeue)
	if r.open {
		r.rec.Empty++
	}
}

func (o *recorder) runEnd(c *cpu, q *qdisc, r *runFrame) {
	c.pop()
	o.runs.put(r)
	if !r.open { // it decided nothing
		c.lane.filter(progRunEnd)
		return
	}
	rec := &r.rec
	rec.Ifindex, rec.Txq = Ifindex, q.txq
	rec.Qdisc, rec.QdiscFlags, rec.Handle = q.addr, q.flags, q.handle
	copy(rec.QdiscKind[:], q.kind)
	rec.QlenEnd, rec.GsoQlenEnd, rec.QdiscStateEnd = uint32(q.waiting()), uint32(q.gso()), q.stateBits()
	if q.oneTxQueue() {
		rec.NumQueuedEnd, rec.NumComplEnd, rec.AdjLimitEnd, rec.TxqStateEnd = o.s.queues[q.index].now()
	}
	c.lane.count(progRunEnd)
	put(o, c, &rec.Header, rec, r.begin)
}

func (o *recorder) dequeue(c *cpu, q *qdisc, r *runFrame, list []packet, counted int) {
	d := &r.deq
	*d = event.Dequeue{
		Qdisc: q.addr, First: list[0].addr, Last: list[len(list)-1].addr,
		Packets: uint32(counted), Walked: uint32(len(list)),
		FirstLen: list[0].Len, LastLen: list[len(list)-1].Len,
		Qlen: uint32(q.waiting()), GsoQlen: uint32(q.gso()), BadQlen: uint32(q.bad.n), QdiscFlags: q.flags,
		Before: r.rec.Packets, Order: r.rec.Dequeues + r.rec.Empty, QdiscState: q.stateBits(),
	}
	for i := range list {
		d.Bytes += list[i].Len
		d.GsoSegs += uint32(list[i].Segments())
		d.PktLen += uint32(list[i].WireLen())
	}
	if q.oneTxQueue() {
		d.NumQueued, d.NumCompl, d.AdjLimit, d.TxqState = o.s.queues[q.index].now()
	}
	d.Parent = c.parent()
	d.Ifindex, d.Txq = Ifindex, list[0].Queue
	r.open = true
	r.rec.Packets += d.Packets
	r.rec.Dequeues++
	r.rec.LastPackets = d.Packets
	c.lane.count(progDequeue)
	put(o, c, &d.Header, d, 0)
}

// complete is a snapshot of the queue's struct dql.
func (o *recorder) complete(c *cpu, q *queue, source uint8) {
	d := &q.dql
	r := event.Complete{
		SlackStartTime: d.SlackStartTime, Jiffies: o.s.jiffies(), NumQueued: d.NumQueued, AdjLimit: d.AdjLimit,
		LastObjCnt: d.LastObjCnt, Limit: d.Limit, NumCompleted: d.NumCompleted, PrevOvlimit: d.PrevOvlimit,
		PrevNumQueued: d.PrevNumQueued, PrevLastObjCnt: d.PrevLastObjCnt, LowestSlack: d.LowestSlack,
		MaxLimit: d.MaxLimit, MinLimit: d.MinLimit, SlackHoldTime: d.SlackHoldTime,
		TxqState: uint8(q.state), Source: source,
	}
	r.Ifindex, r.Txq = Ifindex, uint16(q.index)
	c.lane.count(progSnapshot)
	put(o, c, &r.Header, &r, 0)
}

// own writes a record of the recorder itself.
func own[T event.Record](o *recorder, h *event.Header, r *T) {
	h.CPU, h.Seq, h.Time = event.UserCPU, o.seq, o.s.now
	o.seq++
	save(o, r)
}

func (o *recorder) armed()    { o.note(event.NoticeArmed) }
func (o *recorder) disarmed() { o.quiets(); o.picks(); o.note(event.NoticeDisarmed) }

func (o *recorder) note(subtype uint8) {
	n := event.Notice{Subtype: subtype}
	n.Txq = event.NoQueue
	own(o, &n.Header, &n)
}
