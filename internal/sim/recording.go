// SPDX-License-Identifier: Apache-2.0

package sim

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/txtrace/txtrace/internal/capture"
	"github.com/txtrace/txtrace/internal/event"
)

// Source is a capture being read.
type Source interface {
	Header() *capture.Header
	Next() (capture.Item, error)
}

// Recorded is what one transmit queue was given in a recording, and what the
// recording tells of the machine.
type Recorded struct {
	Netns, Ifindex uint32
	Txq            uint16
	Device         capture.Device // as the header has it
	Kind           string         // of its qdisc
	Shared         bool           // the qdisc serves other queues, too: what is its own load is not known
	PerCPU         bool           // the qdisc's length is not known: packets arrive when they are dequeued
	Load           Load
	Packets        uint64 // dequeued for the first time
	Runs           uint64

	trace trace
}

// ErrLong says that a recording has more packets than are kept in memory.
var ErrLong = errors.New("more packets than can be replayed")

// Bounds of what Read takes: packets, and ns of a recording.
const (
	most    = 1 << 24
	longest = 30 * 24 * 3600 * 1_000_000_000

	mostLen  = 1 << 20 // bytes of a packet: more no kernel takes
	mostSegs = 1 << 10
)

// Read takes the load of every queue out of a capture. What was sent is known
// packet by packet, what was enqueued only where its sum is: at every dequeue,
// and at both ends of every run, it is what was dequeued so far and what is
// left. In between packets are taken to have come evenly, those of a batch
// before the kernel looked for it. Packets that the qdisc dropped were never
// there. The error is the source's, or ErrLong.
func Read(src Source) ([]*Recorded, error) {
	h := src.Header()
	r := pass{header: h, begin: h.Clock.Monotonic, queues: make(map[queueID]*Recorded)}
	for {
		it, err := src.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, err
		}
		if it.Gap == nil {
			r.record(it.Record)
		}
		if r.arrivals > most {
			return nil, fmt.Errorf("%w: %d are the most", ErrLong, most)
		}
	}
	for _, q := range r.list {
		q.finish()
	}
	slices.SortStableFunc(r.list, func(a, b *Recorded) int { return cmp.Compare(b.Packets, a.Packets) })
	return r.list, nil
}

type queueID struct {
	netns, ifindex uint32
	txq            uint16
}

// pass is one reading of a capture.
type pass struct {
	header *capture.Header
	begin  uint64
	queues map[queueID]*Recorded
	list   []*Recorded

	arrivals uint64 // so far
}

func (r *pass) queue(h *event.Header) *Recorded {
	id := queueID{h.Netns, h.Ifindex, h.Txq}
	q := r.queues[id]
	if q == nil {
		q = &Recorded{Netns: id.netns, Ifindex: id.ifindex, Txq: id.txq}
		for _, d := range r.header.Devices {
			if d.Netns == id.netns && d.Ifindex == id.ifindex {
				q.Device = d
			}
		}
		q.trace.begin, q.trace.frame = r.begin, max(q.Device.MTU, 1500)+ethernet
		r.queues[id] = q
		r.list = append(r.list, q)
	}
	return q
}

func (r *pass) record(rec event.Any) {
	h := rec.Head()
	if h.Time < r.begin || h.Time-r.begin > longest {
		return // no recording is that long: a file that anybody wrote
	}
	switch h.Kind {
	case event.KindDequeue, event.KindDirect, event.KindRun, event.KindQuiet, event.KindComplete:
	default:
		return
	}
	q := r.queue(h)
	before := q.trace.arrivals()
	switch rec := rec.(type) {
	case *event.Dequeue:
		q.dequeue(rec)
	case *event.Direct:
		q.direct(rec)
	case *event.Run:
		q.run(rec)
	case *event.Quiet:
		q.trace.quiets = append(q.trace.quiets, *rec)
		q.trace.quiet += uint64(rec.Packets)
	case *event.Complete:
		q.trace.complete(rec)
	}
	r.arrivals += q.trace.arrivals() - before
}

// lens is the lengths of packets that were dequeued together: the first and the
// last are known, the others share the rest.
type lens struct {
	n, segs            uint32
	first, last, bytes uint32
}

// dequeue is a batch: what it gave, and what it left.
func (q *Recorded) dequeue(d *event.Dequeue) {
	t := &q.trace
	first := !t.inRun
	if first {
		t.inRun, t.runFresh, t.runGso = true, t.fresh, t.gso
	}
	again := t.gso > 0 || d.GsoQlen > 0
	t.gso = d.GsoQlen
	n := max(d.Walked, d.Packets)
	if !again {
		q.Packets += uint64(n)
		t.fresh += uint64(n)
		if !first && t.since != 0 && t.since < d.Time { // they waited when the kernel looked
			t.add(point{at: t.since, total: t.fresh, cpu: d.CPU})
		}
		if n > 0 {
			t.taken = append(t.taken, taken{d.Time, uint64(n), t.fresh})
		}
		t.lens = append(t.lens, lens{n, d.GsoSegs, d.FirstLen, d.LastLen, d.Bytes})
	}
	q.Shared = q.Shared || d.QdiscFlags&event.QdiscOneTxQueue == 0
	q.PerCPU = q.PerCPU || d.Flags&event.FlagPerCPU != 0
	t.point(d.Time, uint64(d.Qlen-min(d.GsoQlen, d.Qlen)), d.CPU)
	t.dequeued(d, n, first, again)
}

// direct is a send: of a packet that never sat in the qdisc, or of a batch.
func (q *Recorded) direct(d *event.Direct) {
	t := &q.trace
	t.gso = d.GsoQlenEnd
	if d.From == event.FromBypass {
		t.bypass = d.Begin()
		t.scheduled(d.Time, d.QdiscStateEnd&event.QdiscStateSched != 0, d.CPU)
		t.passed = append(t.passed, Arrival{At: d.Begin(), Len: d.Bytes, Segs: uint16(d.GsoSegs), CPU: d.CPU, Passed: true})
	}
	t.handed(d)
}

func (q *Recorded) run(r *event.Run) {
	t := &q.trace
	fresh, gso := t.fresh, t.gso
	if t.inRun {
		fresh, gso = t.runFresh, t.runGso
	}
	t.inRun = false
	q.Runs++
	q.Shared = q.Shared || r.QdiscFlags&event.QdiscOneTxQueue == 0
	q.Kind = event.Text(r.QdiscKind[:])
	if r.Flags&(event.FlagPartial|event.FlagPerCPU) == 0 {
		t.add(point{
			at: r.Begin(), total: fresh + uint64(r.QlenBegin-min(gso, r.QlenBegin)), cpu: r.CPU, begins: true, who: r.Who, bypass: t.bypass,
		})
		t.point(r.Time, uint64(r.QlenEnd-min(r.GsoQlenEnd, r.QlenEnd)), r.CPU)
	}
	t.ran(r)
}

// finish makes arrivals of points and lengths.
func (q *Recorded) finish() {
	t := &q.trace
	slices.SortStableFunc(t.meter, func(a, b reading) int { return cmp.Compare(a.at, b.at) })
	list := t.enqueued(t.bypasses())
	slices.SortStableFunc(list, func(a, b Arrival) int { return cmp.Compare(a.At, b.At) })
	t.measure(list)
	t.behind(list)
	for i := range list {
		a := &list[i]
		a.At -= min(a.At, t.begin)
		a.Len, a.Segs = min(max(a.Len, 1), mostLen), min(max(a.Segs, 1), mostSegs)
	}
	interrupts := t.interrupts()
	slices.SortStableFunc(t.actions, func(a, b Moment) int { return cmp.Compare(a.At, b.At) })
	for _, moments := range [][]Moment{interrupts, t.actions} {
		for i := range moments {
			m := &moments[i]
			m.Since, m.At, m.With = m.Since-min(m.Since, t.begin), m.At-min(m.At, t.begin), m.With-min(m.With, t.begin)
		}
	}
	q.Load.Arrivals = list
	q.Load.Speeds, q.Load.Interrupts, q.Load.Actions, q.Load.Limits = t.speeds(t.costs()), interrupts, t.actions, t.limits
	t.passed, t.points, t.lens, t.meter, t.states = nil, nil, nil, nil, nil
}
