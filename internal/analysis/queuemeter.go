// SPDX-License-Identifier: Apache-2.0

package analysis

import (
	"github.com/txtrace/txtrace/internal/capture"
	"github.com/txtrace/txtrace/internal/event"
	"github.com/txtrace/txtrace/internal/model"
)

// queueMeter counts what happened on one queue.
type queueMeter struct {
	used   bool
	kind   string
	handle uint32

	batches      BatchReport
	batchSize    hist
	stop, origin tallyBy
	availUsed    hist

	runs             RunReport
	runTime          times
	packets, restart hist
	who              tallyBy

	handovers HandoverReport
	size      hist
	waiting   uint32 // packets given whose doorbell is not owed yet

	requeues RequeueReport
	cause    tallyBy

	bypass BypassReport

	bql       BQLReport
	limitSeen bool
	series    series
	waits     times
	calls     times
	stamps    StampReport
	qdiscs    qdiscSums
}

var stopNames = []string{"qdisc", "bytes", "budget", "slow", "gso_skb", "nobql"}

func stopIndex(r model.Reason) int {
	switch r {
	case model.ReasonBytes:
		return 1
	case model.ReasonBudget:
		return 2
	case model.ReasonSlow:
		return 3
	case model.ReasonGSOSkb:
		return 4
	case model.ReasonNoBQL:
		return 5
	}
	return 0
}

func (m *queueMeter) batch(b *Batch) {
	m.used = true
	r := &m.batches
	r.Count++
	r.Packets += U64(b.Packets)
	r.Bytes += U64(b.Bytes)
	m.batchSize.add(b.Packets)
	m.stop[stopIndex(b.Stop)]++
	m.origin[b.Origin]++
	if b.Origin != OriginGSOSkb {
		r.GsoSegs += U64(b.GsoSegs)
		r.PktLenBytes += U64(b.PktLen)
		handle, kind := m.handle, m.kind
		if b.Run != nil {
			handle, kind = b.Run.Handle, b.Run.Kind
		}
		q := m.qdiscs.of(handle, kind)
		q.Batches++
		q.Packets += U64(b.GsoSegs)
		q.Bytes += U64(b.PktLen)
	}
	if b.Avail.Known && b.Avail.BQL && b.Origin != OriginGSOSkb {
		avail := uint64(max(b.Avail.Max, 0))
		r.Avail.add(avail)
		if avail > 0 {
			m.availUsed.add(uint32(min(uint64(b.Bytes)*10/avail, 10)) * 10)
		}
	}
}

func (m *queueMeter) run(r *Run) {
	m.used = true
	m.kind, m.handle = r.Kind, r.Handle
	if r.Partial() {
		m.runs.Partial++
		return
	}
	m.runs.Count++
	m.packets.add(r.Packets)
	m.restart.add(r.Restarted())
	m.who[min(r.Who, event.WhoNetTxAction)]++
	if r.Weight > 0 {
		if m.runs.QuotaMin == 0 {
			m.runs.QuotaMin = r.Weight
		}
		m.runs.QuotaMin, m.runs.QuotaMax = min(m.runs.QuotaMin, r.Weight), max(m.runs.QuotaMax, r.Weight)
		m.bql.Quota = r.Weight
		if r.EndedByQuota() {
			m.runs.QuotaEnded++
		}
	}
	if !r.Lasting() {
		m.runTime.add(uint64(r.Dur))
	}
}

func (m *queueMeter) direct(d *Direct) {
	m.used = true
	q := m.qdiscs.of(d.Handle, m.kindOf(d.Queue, d.Run, d.Handle))
	if d.Bypass() {
		m.bypass.Count++
		m.bypass.Packets += U64(d.Packets)
		m.bypass.Bytes += U64(d.Bytes)
		m.bypass.GsoSegs += U64(d.GsoSegs)
		m.bypass.PktLenBytes += U64(d.PktLen)
		q.Packets += U64(d.GsoSegs)
		q.Bytes += U64(d.PktLen)
	}
	if d.Flags&event.FlagPartial != 0 {
		return
	}
	m.requeues.Packets += U64(d.Requeued())
	q.Requeues += U64(d.Requeued())
	if !d.Sent() {
		m.requeues.Events++
		m.cause[cause(d)]++
	}
}

// kindOf is the kind of a qdisc that a record names by its handle alone: what
// its run says, or the last run of that handle, or else the header and the
// notices; empty when nothing does.
func (m *queueMeter) kindOf(q *Queue, run *Run, handle uint32) string {
	switch {
	case run != nil && run.Handle == handle:
		return run.Kind
	case m.kind != "" && m.handle == handle:
		return m.kind
	}
	return q.qdiscs[handle].kind
}

func (m *queueMeter) call(c *Call) {
	m.used = true
	if !c.Direct() {
		m.handovers.Calls++
	}
	if c.Deferred() {
		m.handovers.Elsewhere++
	}
	m.calls.add(uint64(c.Dur))
}

func (m *queueMeter) wait(s *Sojourn) {
	m.used = true
	m.waits.add(uint64(s.Dur))
	m.stamps.OneIn = s.OneIn
	m.stamps.Given += U64(s.Given)
	m.stamps.Replaced += U64(s.Replaced)
	m.stamps.Gone += U64(s.Gone)
}

// quiet sends are all that direct and handover count of them: one packet each,
// taken at once, one doorbell owed.
func (m *queueMeter) quiet(s *Quiet) {
	m.used = true
	n, bytes := U64(s.Packets), U64(s.Bytes)
	m.bypass.Count += n
	m.bypass.Packets += n
	m.bypass.Bytes += bytes
	m.bypass.GsoSegs += n
	m.bypass.PktLenBytes += bytes
	q := m.qdiscs.of(s.Handle, m.kindOf(s.Queue, nil, s.Handle))
	q.Packets += n
	q.Bytes += bytes
	r := &m.handovers
	r.Count += n
	r.Packets += n
	r.Bytes += bytes
	r.Taken += n
	r.OwedAny += n
	r.OwedDrv += n
	m.waiting = 0
	m.size.addTimes(1, uint64(n))
}

var causeNames = []string{CauseOther, CauseBusy, CauseDrv, CauseStack, CauseStopped}

// cause is why a batch was put back, as an index into causeNames.
func cause(d *Direct) int {
	h := d.Handover
	switch {
	case h == nil && d.Whole && (Stopped(d.TxqStateBegin) || Stopped(d.TxqStateEnd)):
		return 4
	case h == nil:
		return 0
	case h.DriverBusy():
		return 1
	case h.TxqStateLast&event.DrvXoff != 0:
		return 2
	case h.TxqStateLast&event.StackXoff != 0:
		return 3
	}
	return 0
}

func (m *queueMeter) handover(h *Handover) {
	m.used = true
	r := &m.handovers
	r.Count++
	r.Packets += U64(h.Packets)
	r.Bytes += U64(h.Bytes)
	m.size.add(h.Packets)
	r.Rest += U64(h.Rest)
	if !h.Partial() {
		r.Taken += U64(h.Packets - min(h.Rest, h.Packets))
	}
	r.Busy += U64(h.Busy)
	r.Uncharged += U64(h.Uncharged)
	r.OwedAny += U64(h.OwedAny)
	r.OwedDrv += U64(h.OwedDrv)
	m.defers(h)
	if h.ForeignKnown && h.Foreign > 0 {
		m.bql.Foreign++
		m.bql.ForeignBytes += U64(h.Foreign)
	}
	if h.BQL() {
		m.bql.Used = true
		m.series.at(h.Time).inflight.add(h.NumQueuedEnd - h.NumComplEnd)
	}
}

// defers follows the packets that wait for a doorbell, by a driver that rings at
// any stop. Where a hand-over owed several, how they fell is not recorded: the
// most that one of them can have been for is taken.
func (m *queueMeter) defers(h *Handover) {
	if h.Partial() {
		m.waiting = 0
		return
	}
	m.waiting += h.Taken()
	r := &m.handovers
	if h.OwedAny == 0 {
		r.Deferred = max(r.Deferred, m.waiting)
		if h.Taken() > 0 {
			r.LeftOwing++
		}
		return
	}
	r.Deferred = max(r.Deferred, m.waiting-min(m.waiting, h.OwedAny))
	m.waiting = 0
}

func (m *queueMeter) completion(c *Completion) {
	if c.Torn() {
		return
	}
	m.used, m.bql.Used = true, true
	b := &m.bql
	b.Completions++
	if !m.limitSeen {
		b.LimitFirst, b.LimitMin, b.LimitMax, m.limitSeen = c.Limit, c.Limit, c.Limit, true
	}
	b.LimitLast, b.LimitMin, b.LimitMax = c.Limit, min(b.LimitMin, c.Limit), max(b.LimitMax, c.Limit)
	p := m.series.at(c.Time)
	p.limit.add(c.Limit)
	p.inflight.add(c.NumQueued - c.NumCompleted)
	if !c.Linked {
		return
	}
	switch c.Step.Outcome {
	case model.OutcomeEqual, model.OutcomeSplit, model.OutcomeUnequal:
		b.DecidedBytes += U64(c.Bytes)
	}
	b.AdvancedBytes += U64(c.Bytes)
}

func (m *queueMeter) report(q *Queue, h *capture.Header) QueueReport {
	r := QueueReport{
		Netns: q.Netns, Ifindex: q.Ifindex, Generation: q.Generation, Ifname: q.Ifname, Txq: q.Txq,
		Qdisc: m.kind, Handle: m.handle, Qdiscs: m.qdiscs,
		Batches: m.batches, Runs: m.runs, Handovers: m.handovers, Requeues: m.requeues, Bypass: m.bypass, BQL: m.bql,
	}
	r.Batches.Size, r.Batches.AvailUsed = m.batchSize.counts(), m.availUsed.counts()
	r.Batches.Stop = named(m.stop, stopNames...)
	r.Batches.Origin = named(m.origin, "unknown", "fresh", "gso_skb", "bad_txq")
	r.Runs.Packets, r.Runs.Restarts = m.packets.counts(), m.restart.counts()
	r.Runs.DurationNS = m.runTime.report()
	r.Latency = q.ring.report()
	r.Latency.SojournNS, r.Latency.Stamps = m.waits.report(), m.stamps
	r.Latency.DriverNS = m.calls.report()
	r.Runs.Who = named(m.who, "unknown", "enqueue", "bypass", "net_tx_action")
	r.Handovers.Size = m.size.counts()
	r.Requeues.Cause = named(m.cause, causeNames...)
	r.BQL.Series = m.series.report()
	if r.BQL.Quota == 0 {
		r.BQL.Quota = h.Settings.TxWeight()
	}
	if r.Handovers.Packets > 0 {
		r.BQL.MeanLen = float64(r.Handovers.Bytes) / float64(r.Handovers.Packets)
	}
	if r.BQL.MeanLen > 0 {
		r.BQL.LimitPackets = float64(r.BQL.LimitLast) / r.BQL.MeanLen
	}
	return r
}
