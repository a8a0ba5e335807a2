// SPDX-License-Identifier: Apache-2.0

package analysis

import (
	"github.com/txtrace/txtrace/internal/event"
	"github.com/txtrace/txtrace/internal/model"
)

// run joins a run with what waited for it and gives all of it out.
func (r *rebuild) run(l *lane, rec *event.Run) {
	run := r.runs.get()
	*run = Run{Run: *rec, Queue: r.world.queue(&rec.Header), Kind: kindName(rec), Restarts: run.Restarts[:0]}
	run.Weight, run.Noticed = r.weight.of(rec)
	l.close(&rec.Header, func(c child) { r.adopt(run, c) }, r.orphan)
	run.Lossless = l.whole(&rec.Header)
	run.Whole = run.Lossless && run.Agrees()

	state := runState{run: run}
	for i := range run.Restarts {
		r.judge(&state, &run.Restarts[i])
	}
	give(r.fan.run, run)
	for i := range run.Restarts {
		rs := &run.Restarts[i]
		if rs.Batch != nil {
			give(r.fan.batch, rs.Batch)
		}
		if rs.Direct != nil {
			r.giveDirect(rs.Direct)
		}
	}
	for _, rs := range run.Restarts {
		r.recycle(child{batch: rs.Batch, direct: rs.Direct})
	}
	r.runs.put(run)
}

// adopt adds a child to the run's restarts.
func (r *rebuild) adopt(run *Run, c child) {
	switch {
	case c.batch != nil:
		c.batch.Run = run
		run.Restarts = append(run.Restarts, Restart{Batch: c.batch})
	case c.direct != nil:
		c.direct.Run = run
		last := run.Last()
		if last == nil || last.Batch == nil || last.Direct != nil || last.Batch.First != c.direct.First {
			run.Restarts = append(run.Restarts, Restart{Direct: c.direct})
			return
		}
		last.Direct = c.direct
		last.Batch.Direct, c.direct.Batch = c.direct, last.Batch
	default:
		r.orphan(c)
	}
}

// Parts counts the records of the run's dequeues, the packets in them, and the
// records of its directs.
func (r *Run) Parts() (dequeues, packets, directs uint32) {
	for i := range r.Restarts {
		if b := r.Restarts[i].Batch; b != nil {
			dequeues++
			packets += b.Packets
		}
		if r.Restarts[i].Direct != nil {
			directs++
		}
	}
	return dequeues, packets, directs
}

// Agrees says whether the run's own counts are those of its children.
func (r *Run) Agrees() bool {
	dequeues, packets, directs := r.Parts()
	return dequeues == r.Dequeues && packets == r.Packets && directs == r.Directs
}

// Strays says whether a direct is said to send what was dequeued last, and does
// not begin with it.
func (r *Run) Strays() bool {
	for i := range r.Restarts {
		if d := r.Restarts[i].Direct; d != nil && d.Dequeued() && d.Batch == nil {
			return true
		}
	}
	return false
}

// kindName is the name of a run's qdisc, without making garbage for the usual
// ones.
func kindName(rec *event.Run) string {
	n := 0
	for n < len(rec.QdiscKind) && rec.QdiscKind[n] != 0 {
		n++
	}
	switch string(rec.QdiscKind[:n]) { // does not allocate
	case "fq_codel":
		return "fq_codel"
	case "fq":
		return "fq"
	case "pfifo_fast":
		return "pfifo_fast"
	case "pfifo":
		return "pfifo"
	}
	return string(rec.QdiscKind[:n])
}

// runState is what a run's restarts so far tell of the next one.
type runState struct {
	run     *Run
	after   *Direct   // the one before
	sent    *Handover // the last one on the run's queue
	badQlen uint32    // of skb_bad_txq before the restart
	badSeen bool
}

// judge works out what a restart's records do not say themselves.
func (r *rebuild) judge(s *runState, rs *Restart) {
	if b := rs.Batch; b != nil {
		b.quota(s.run.Weight)
		b.MoreKnown = b.Flags&event.FlagPerCPU == 0
		b.More = b.MoreKnown && int32(b.Qlen-b.GsoQlen-b.BadQlen) > 0
		r.judgeOrigin(b, s)
		if b.OneTxQueue() && s.run.Whole {
			b.Avail = s.avail(b)
		}
		b.settle()
		s.badQlen, s.badSeen = b.BadQlen, true
	}
	if d := rs.Direct; d != nil {
		s.after = d
		if d.Handover != nil {
			s.sent = d.Handover
		}
		s.badQlen, s.badSeen = d.BadQlenEnd, true
	} else {
		s.after = nil
	}
}

// avail is what BQL allowed a batch: see Avail.
func (s *runState) avail(b *Batch) Avail {
	nq, nc, adj := s.run.NumQueuedBegin, s.run.NumComplBegin, s.run.AdjLimitBegin
	if h := s.sent; h != nil {
		nq, nc, adj = h.NumQueuedEnd, h.NumComplEnd, h.AdjLimitEnd
	}
	a := b.Avail
	least, most := adj, adj
	switch {
	case int32(b.NumQueued-nq) < 0:
		return a // dql_reset ran
	case nc == b.NumCompl && adj == b.AdjLimit:
		a.Exact = true
	default:
		var ok bool
		if least, most, ok = b.Queue.dql.between(nc, adj, b.NumCompl, b.AdjLimit); !ok {
			return a
		}
	}
	a.Known = true
	a.Min, a.Max = int32(least-b.NumQueued), int32(most-nq)
	return a
}

// judgeOrigin tells where a batch came from. s is nil outside of a run.
//
// What sits in gso_skb is taken before anything else, so a batch that leaves
// some there came from there; and sch_direct_xmit is told to validate all but
// what it was handed back (xfrm offload aside).
func (r *rebuild) judgeOrigin(b *Batch, s *runState) {
	d := b.Direct
	switch {
	case b.GsoQlen > 0:
		b.Origin, b.Sure = OriginGSOSkb, true
	case s != nil && s.after != nil && s.run.Whole && s.after.GsoQlenEnd > 0:
		b.Origin, b.Sure = OriginGSOSkb, true
	case d != nil && d.Validate == 0:
		b.Origin = OriginGSOSkb
	case s != nil && s.badSeen && s.run.Whole && int32(s.badQlen-b.BadQlen) > 0:
		b.Origin, b.Sure = OriginBadTxq, true
	case s != nil && s.after != nil && s.run.Whole:
		b.Origin, b.Sure = OriginFresh, true
	case d != nil:
		b.Origin = OriginFresh
	case b.Packets > 1:
		b.Origin = OriginFresh // gso_skb gives one at a time, or one list that counts as one
	}
}

// quota is what was left of the run's when the batch was taken.
func (b *Batch) quota(weight uint32) {
	if b.Before < weight && b.Flags&event.FlagPartial == 0 {
		b.Quota = weight - b.Before
	}
}

// settle fills in what is derived from the rest.
func (b *Batch) settle() {
	if b.Origin == OriginGSOSkb {
		b.Stop = model.ReasonGSOSkb
		return
	}
	bulk := model.BulkBytes
	if b.Packets == 1+b.Quota && (b.More || !b.MoreKnown) {
		bulk = model.BulkBudget
	}
	d := b.AsModel(bulk, model.QuotaAfter)
	now := int32(b.AdjLimit - b.NumQueued)
	a := model.Range{Min: now, Max: now}
	if b.Avail.Known {
		a = model.Range{Min: b.Avail.Max, Max: b.Avail.Max}
	}
	b.Stop, _ = d.Ended(b.Sum(), a, false)
}
