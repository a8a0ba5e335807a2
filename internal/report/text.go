// SPDX-License-Identifier: Apache-2.0

package report

import (
	"fmt"
	"io"
	"maps"
	"slices"

	"github.com/txtrace/txtrace/internal/analysis"
	"github.com/txtrace/txtrace/internal/capture"
)

// Text prints the report.
func (d *Report) Text(w io.Writer, t Text) error {
	p := &printer{Text: t, out: w}
	d.head(p)
	p.field("counters", d.Counters.text(d.Capture.Simulated))
	for _, c := range d.Counters.Checks {
		if p.More || !c.Equal {
			compared(p, c)
		}
	}
	for i := range d.Queues {
		queue(p, &d.Queues[i], d.clock, d.measured())
	}
	for i := range d.Picks {
		picks(p, &d.Picks[i])
	}
	for i := range d.GRO {
		gro(p, &d.GRO[i])
	}
	for i := range d.TSQ {
		tsq(p, &d.TSQ[i])
	}
	if len(d.Queues) == 0 {
		p.line("")
		p.line("Nothing was sent on any traced queue.")
	}
	return p.err
}

// text is the one line that says whether the kernel agrees.
func (c Counters) text(simulated bool) string {
	whose := "the kernel's"
	if simulated {
		whose = "the model's"
	}
	if c.Agree == nil {
		return "not compared: " + whose + " own counters are not in the file"
	}
	differ := 0
	for _, k := range c.Checks {
		if !k.Equal {
			differ++
		}
	}
	if differ == 0 {
		return fmt.Sprintf("%s own counters agree: all %d that were compared", whose, len(c.Checks))
	}
	return fmt.Sprintf("%s own counters differ: %d of %d", whose, differ, len(c.Checks))
}

func compared(p *printer, c analysis.Comparison) {
	at := c.Ifname
	if c.Txq != nil {
		at += fmt.Sprintf(" queue %d", *c.Txq)
	}
	s := fmt.Sprintf("%s %s: recorded %d, kernel %d", at, c.Name, c.Ours, c.Kernel)
	if c.Unit != "" {
		s += " " + c.Unit
	}
	if c.Note != "" {
		s += " (" + c.Note + ")"
	}
	p.field("", s)
}

// noQueue is the queue number of what belongs to no single queue.
const noQueue = 0xffff

// title names a queue.
func title(q *analysis.QueueReport) string {
	s := deviceName(q.Ifname, q.Ifindex)
	if q.Txq != noQueue {
		s += fmt.Sprintf(" queue %d", q.Txq)
	}
	if q.Qdisc != "" {
		s += ", " + q.Qdisc
		if q.Handle != 0 {
			s += " " + handle(q.Handle)
		}
	}
	return s + lifeOf(q.Netns, q.Generation)
}

func deviceName(ifname string, ifindex uint32) string {
	if ifname == "" {
		return fmt.Sprintf("device %d", ifindex)
	}
	return ifname
}

// lifeOf tells a device from others of its name or index.
func lifeOf(netns, generation uint32) string {
	s := fmt.Sprintf(", namespace %d", netns)
	if generation > 0 {
		s += fmt.Sprintf(", device %d of this index", generation+1)
	}
	return s
}

// measured is the time that rates are over, in ns: while the command ran, else
// the whole recording. It is 0 when times mean nothing.
func (d *Report) measured() uint64 {
	switch {
	case d.Kernel.Emulated:
		return 0
	case d.Command != nil && d.Command.DurationNS != nil:
		return uint64(*d.Command.DurationNS)
	case d.Capture.EndNS > d.Capture.BeginNS:
		return uint64(d.Capture.EndNS - d.Capture.BeginNS)
	}
	return 0
}

func queue(p *printer, q *Queue, clock capture.Clock, ns uint64) {
	p.heading("%s", title(&q.QueueReport))
	qdiscs(p, q.Qdiscs)
	batches(p, &q.Batches, &q.BQL)
	runs(p, &q.Runs)
	bypass(p, &q.Bypass)
	handovers(p, &q.Handovers)
	p.field("rate", rates(uint64(q.Handovers.Taken), uint64(q.Handovers.Bytes), ns))
	requeues(p, &q.Requeues)
	bql(p, &q.BQL, clock)
	latencies(p, q.Latency)
}

// qdiscs are named one by one when there was more than one, by turns.
func qdiscs(p *printer, all []analysis.QdiscReport) {
	if len(all) < 2 {
		return
	}
	for i, q := range all {
		label := ""
		if i == 0 {
			label = "qdiscs"
		}
		kind := q.Kind
		if kind == "" {
			kind = "unknown"
		}
		p.field(label, kind+" "+handle(q.Handle), p.counted(uint64(q.Batches), "batch", "batches"),
			p.counted(uint64(q.Packets), "packet", "packets"), p.counted(uint64(q.Bytes), "byte", "bytes"),
			p.count(uint64(q.Requeues))+" requeued")
	}
}

func batches(p *printer, b *analysis.BatchReport, limit *analysis.BQLReport) {
	if b.Count == 0 {
		p.field("batches", "none")
		return
	}
	p.field("batches", fmt.Sprintf("%s of %s and %s", p.count(uint64(b.Count)),
		p.counted(uint64(b.Packets), "packet", "packets"), p.counted(uint64(b.Bytes), "byte", "bytes")),
		"mean "+ratio(uint64(b.Packets), uint64(b.Count))+" packets")
	p.field("ended by", p.each(b.Stop)...)
	p.field("taken from", p.each(b.Origin)...)
	p.histogram("packets", "batches", b.Size)
	if b.Avail.Count > 0 && limit.Used {
		p.field("dql_avail", p.dist(&b.Avail, "bytes")+" when a batch began")
		p.percents("% of it taken", "batches", b.AvailUsed)
	}
}

func runs(p *printer, r *Runs) {
	if r.Count == 0 {
		p.field("runs", "none")
		return
	}
	var partial string
	if r.Partial > 0 {
		partial = p.count(uint64(r.Partial)) + " not seen whole"
	}
	p.field("runs", p.count(uint64(r.Count)), partial,
		fmt.Sprintf("%s ended by the quota%s (%s)", p.count(uint64(r.QuotaEnded)), between(r.QuotaMin, r.QuotaMax), share(uint64(r.QuotaEnded), uint64(r.Count))))
	p.field("run by", p.each(r.Who)...)
	p.times("run time", "runs", r.DurationNS)
	p.histogram("packets", "runs", r.Packets)
	p.histogram("restarts", "runs", r.Restarts)
}

// between says how far a quota went that was changed.
func between(least, most uint32) string {
	if least == most {
		return ""
	}
	return fmt.Sprintf(" of %d to %d packets", least, most)
}

func bypass(p *printer, b *analysis.BypassReport) {
	if b.Count == 0 {
		p.field("bypass", "none")
		return
	}
	p.field("bypass", fmt.Sprintf("%s of %s and %s that never sat in the qdisc", p.counted(uint64(b.Count), "send", "sends"),
		p.counted(uint64(b.Packets), "packet", "packets"), p.counted(uint64(b.Bytes), "byte", "bytes")))
}

func handovers(p *printer, h *analysis.HandoverReport) {
	if h.Count == 0 {
		p.field("hand-overs", "none")
		return
	}
	p.field("hand-overs", fmt.Sprintf("%s of %s and %s after segmentation", p.count(uint64(h.Count)),
		p.counted(uint64(h.Packets), "packet", "packets"), p.counted(uint64(h.Bytes), "byte", "bytes")),
		p.count(uint64(h.Rest))+" not taken", p.count(uint64(h.Busy))+" BUSY",
		p.count(uint64(h.Uncharged))+" taken and not charged to BQL")
	if h.Calls > 0 {
		each := "each call of the driver: " + p.count(uint64(h.Calls))
		if h.Elsewhere > 0 {
			each += ", " + p.counted(uint64(h.Elsewhere), "packet", "packets") + " enqueued by another CPU than the sender's"
		}
		p.field("  recorded", each)
	}
	p.histogram("packets", "hand-overs", h.Size)
	if h.Taken > 0 {
		p.field("doorbells", fmt.Sprintf("%s owed by a driver that rings at any stop: %s per packet",
			p.count(uint64(h.OwedAny)), ratio(uint64(h.OwedAny), uint64(h.Taken))))
		p.field("", fmt.Sprintf("%s by one that rings at its own stop only: %s per packet",
			p.count(uint64(h.OwedDrv)), ratio(uint64(h.OwedDrv), uint64(h.Taken))))
		deferred(p, h)
	}
}

// deferred says what telling the driver of more to come saved. A doorbell that
// is owed for packets taken earlier may make them more than the packets.
func deferred(p *printer, h *analysis.HandoverReport) {
	if h.Deferred > 0 {
		saved := p.count(uint64(h.Taken-min(h.OwedAny, h.Taken))) + " saved"
		if h.OwedDrv != h.OwedAny {
			saved = p.count(uint64(h.Taken-min(h.OwedAny, h.Taken))) + " or " + p.count(uint64(h.Taken-min(h.OwedDrv, h.Taken))) + " saved"
		}
		p.field("", saved, "at most "+p.counted(uint64(h.Deferred), "packet", "packets")+" waited for one")
	}
	if h.LeftOwing > 0 {
		p.field("", p.counted(uint64(h.LeftOwing), "hand-over", "hand-overs")+" left packets that waited for a later one")
	}
}

func requeues(p *printer, r *analysis.RequeueReport) {
	if r.Events == 0 && r.Packets == 0 {
		p.field("requeues", "none")
		return
	}
	p.field("requeues", fmt.Sprintf("%s of %s", p.count(uint64(r.Events)), p.counted(uint64(r.Packets), "packet", "packets")))
	p.field("  cause", p.each(r.Cause)...)
}

// bql prints the life of the limit.
func bql(p *printer, b *analysis.BQLReport, clock capture.Clock) {
	if !b.Used {
		p.field("BQL", "not in use: the driver charges no bytes")
		return
	}
	if b.LimitLast > 0 || b.LimitMax > 0 {
		p.field("BQL", fmt.Sprintf("limit %d bytes at first, %d at last, from %d to %d",
			b.LimitFirst, b.LimitLast, b.LimitMin, b.LimitMax))
	}
	if b.AdvancedBytes > 0 {
		p.field("completions", p.count(uint64(b.Completions))+" of "+p.counted(uint64(b.AdvancedBytes), "byte", "bytes"),
			fmt.Sprintf("of which the model followed %s", share(uint64(b.DecidedBytes), uint64(b.AdvancedBytes))))
	}
	if b.LimitPackets > 0 {
		p.field("  in packets", fmt.Sprintf("the limit is %.1f packets of the mean length %.1f bytes; the quota is %d",
			b.LimitPackets, b.MeanLen, b.Quota))
	}
	if b.ForeignBytes > 0 {
		p.field("foreign", fmt.Sprintf("%s charged by others, %s", p.counted(uint64(b.ForeignBytes), "byte", "bytes"),
			p.counted(uint64(b.Foreign), "time", "times")))
	} else {
		p.field("foreign", "no bytes charged by others")
	}
	series(p, b.Series, clock)
}

// seriesRows is how many lines the text has for a limit's life. JSON has all.
const seriesRows = 16

// series prints limit and in-flight over time.
func series(p *printer, points []analysis.Point, clock capture.Clock) {
	if len(points) == 0 {
		return
	}
	p.line("  %-30s %16s %22s", "from ("+p.clockName()+")", "limit (bytes)", "in flight (bytes)")
	for group := range slices.Chunk(points, (len(points)+seriesRows-1)/seriesRows) {
		sum := group[0]
		for _, pt := range group[1:] {
			sum.InflightMin = min(sum.InflightMin, pt.InflightMin)
			sum.InflightMax = max(sum.InflightMax, pt.InflightMax)
			switch {
			case pt.LimitMax == 0: // no completion told it
			case sum.LimitMax == 0:
				sum.LimitMin, sum.LimitMax = pt.LimitMin, pt.LimitMax
			default:
				sum.LimitMin, sum.LimitMax = min(sum.LimitMin, pt.LimitMin), max(sum.LimitMax, pt.LimitMax)
			}
		}
		limit := "-"
		if sum.LimitMax > 0 {
			limit = span(sum.LimitMin, sum.LimitMax)
		}
		p.line("  %-30s %16s %22s", p.at(clock, uint64(sum.BeginNS)), limit, span(sum.InflightMin, sum.InflightMax))
	}
}

func span(low, high uint32) string {
	if low == high {
		return fmt.Sprint(low)
	}
	return fmt.Sprintf("%d-%d", low, high)
}

func tsq(p *printer, t *TSQ) {
	p.heading("TCP small queues, namespace %d", t.Netns)
	p.field("throttles", p.count(uint64(t.Throttles))+" of "+p.counted(uint64(t.Sockets), "socket", "sockets"),
		p.count(uint64(t.Resumed))+" resumed", p.counted(uint64(t.Deferred), "free", "frees")+" left to ksoftirqd")
	if t.LimitBytes.Count > 0 {
		p.field("limit", p.dist(&t.LimitBytes, "bytes"))
		p.field("  set by", p.each(t.LimitBy)...)
	}
	p.times("lasted", "throttles", t.DurationNS)
	if t.ThrottledNS != nil && *t.FollowedNS > 0 {
		done := ""
		if t.CompletionNS != nil {
			done = "completions " + p.quantiles(t.CompletionNS)
		}
		p.field("throttled", share(uint64(*t.ThrottledNS), uint64(*t.FollowedNS))+" of the time that its sockets were followed", done)
	}
}

// dist prints a distribution in one clause.
func (t Text) dist(d *analysis.Dist, unit string) string {
	return fmt.Sprintf("%s to %s %s, mean %.1f", t.count(uint64(d.Min)), t.count(uint64(d.Max)), unit, d.Mean)
}

// each prints a count for each name, most first.
func (t Text) each(m map[string]analysis.U64) []string {
	names := slices.Sorted(maps.Keys(m))
	slices.SortStableFunc(names, func(a, b string) int {
		switch {
		case m[a] > m[b]:
			return -1
		case m[a] < m[b]:
			return 1
		}
		return 0
	})
	var out []string
	for _, name := range names {
		if m[name] > 0 {
			out = append(out, name+" "+t.count(uint64(m[name])))
		}
	}
	return out
}
