// SPDX-License-Identifier: Apache-2.0

package analysis

import (
	"cmp"
	"maps"
	"slices"
)

// metrics collects the list of one report.
type metrics []Metric

func (m *metrics) add(name, unit string, v float64) { *m = append(*m, Metric{name, unit, v}) }

func (m *metrics) count(name, unit string, v U64) { m.add(name, unit, float64(v)) }

func (m *metrics) hist(name string, cs []Count) {
	for _, c := range cs {
		m.count(name+"."+itoa(c.N), "", c.Count)
	}
}

func (m *metrics) by(name string, by map[string]U64) {
	for _, k := range slices.SortedFunc(maps.Keys(by), cmp.Compare[string]) {
		m.count(name+"."+k, "", by[k])
	}
}

func (m *metrics) dist(name, unit string, d Dist) {
	if d.Count == 0 {
		return
	}
	m.count(name+".count", "", d.Count)
	m.count(name+".sum", unit, d.Sum)
	m.count(name+".min", unit, d.Min)
	m.count(name+".max", unit, d.Max)
	m.add(name+".mean", unit, d.Mean)
}

// times is a distribution with its quantiles; its bins are not in the list.
func (m *metrics) times(name string, t Times) {
	if t.Count == 0 {
		return
	}
	m.dist(name, "ns", t.Dist)
	m.count(name+".p50", "ns", t.P50)
	m.count(name+".p99", "ns", t.P99)
	m.count(name+".p99_9", "ns", t.P999)
}

// Metrics is the report as a list. The series over time are not in it.
func (q *QueueReport) Metrics() []Metric {
	var m metrics
	m.count("batches.count", "", q.Batches.Count)
	m.count("batches.packets", "packets", q.Batches.Packets)
	m.count("batches.bytes", "bytes", q.Batches.Bytes)
	m.hist("batches.size", q.Batches.Size)
	m.by("batches.stop", q.Batches.Stop)
	m.by("batches.origin", q.Batches.Origin)
	m.hist("batches.avail_used_percent", q.Batches.AvailUsed)
	m.dist("batches.avail", "bytes", q.Batches.Avail)
	m.count("batches.gso_segs", "packets", q.Batches.GsoSegs)
	m.count("batches.pkt_len", "bytes", q.Batches.PktLenBytes)

	m.count("runs.count", "", q.Runs.Count)
	m.count("runs.partial", "", q.Runs.Partial)
	m.hist("runs.packets", q.Runs.Packets)
	m.hist("runs.restarts", q.Runs.Restarts)
	m.count("runs.quota_ended", "", q.Runs.QuotaEnded)
	m.add("runs.quota_min", "packets", float64(q.Runs.QuotaMin))
	m.add("runs.quota_max", "packets", float64(q.Runs.QuotaMax))
	m.by("runs.who", q.Runs.Who)
	m.times("runs.duration", q.Runs.DurationNS)

	m.count("handovers.count", "", q.Handovers.Count)
	m.count("handovers.packets", "packets", q.Handovers.Packets)
	m.count("handovers.bytes", "bytes", q.Handovers.Bytes)
	m.hist("handovers.size", q.Handovers.Size)
	m.count("handovers.rest", "packets", q.Handovers.Rest)
	m.count("handovers.taken", "packets", q.Handovers.Taken)
	m.count("handovers.busy", "", q.Handovers.Busy)
	m.count("handovers.uncharged", "packets", q.Handovers.Uncharged)
	m.count("handovers.doorbells_owed_any_stop", "", q.Handovers.OwedAny)
	m.count("handovers.doorbells_owed_drv_stop", "", q.Handovers.OwedDrv)
	m.count("handovers.deferred_max", "packets", U64(q.Handovers.Deferred))
	m.count("handovers.deferred_left", "", q.Handovers.LeftOwing)

	m.count("handovers.calls", "", q.Handovers.Calls)
	m.count("handovers.enqueued_elsewhere", "", q.Handovers.Elsewhere)

	m.count("requeues.events", "", q.Requeues.Events)
	m.count("requeues.packets", "packets", q.Requeues.Packets)
	m.by("requeues.cause", q.Requeues.Cause)

	m.count("bypass.count", "", q.Bypass.Count)
	m.count("bypass.packets", "packets", q.Bypass.Packets)
	m.count("bypass.bytes", "bytes", q.Bypass.Bytes)
	m.count("bypass.gso_segs", "packets", q.Bypass.GsoSegs)
	m.count("bypass.pkt_len", "bytes", q.Bypass.PktLenBytes)

	if q.BQL.Used {
		m.count("bql.completions", "", q.BQL.Completions)
		m.add("bql.limit_first", "bytes", float64(q.BQL.LimitFirst))
		m.add("bql.limit_last", "bytes", float64(q.BQL.LimitLast))
		m.add("bql.limit_min", "bytes", float64(q.BQL.LimitMin))
		m.add("bql.limit_max", "bytes", float64(q.BQL.LimitMax))
		m.add("bql.limit_packets", "packets", q.BQL.LimitPackets)
		m.count("bql.advanced", "bytes", q.BQL.AdvancedBytes)
		m.count("bql.decided", "bytes", q.BQL.DecidedBytes)
	}
	m.add("bql.mean_len", "bytes", q.BQL.MeanLen)
	m.add("bql.quota", "packets", float64(q.BQL.Quota))
	m.count("bql.foreign", "", q.BQL.Foreign)
	m.count("bql.foreign_bytes", "bytes", q.BQL.ForeignBytes)

	m.times("latency.sojourn", q.Latency.SojournNS)
	m.count("latency.stamps.given", "", q.Latency.Stamps.Given)
	m.count("latency.stamps.replaced", "", q.Latency.Stamps.Replaced)
	m.count("latency.stamps.gone", "", q.Latency.Stamps.Gone)
	m.times("latency.driver", q.Latency.DriverNS)
	m.times("latency.ring", q.Latency.RingNS)
	m.times("latency.oldest", q.Latency.OldestNS)
	m.count("latency.late", "", q.Latency.Late)
	m.count("latency.lost", "", q.Latency.Lost)
	m.count("latency.left", "", q.Latency.Left)
	return m
}

// Metrics is the report as a list.
func (t *TSQReport) Metrics() []Metric {
	var m metrics
	m.count("tsq.throttles", "", t.Throttles)
	m.count("tsq.sockets", "", t.Sockets)
	m.count("tsq.resumed", "", t.Resumed)
	m.times("tsq.duration", t.DurationNS)
	m.count("tsq.throttled", "ns", t.ThrottledNS)
	m.count("tsq.followed", "ns", t.FollowedNS)
	m.times("tsq.completion", t.CompletionNS)
	m.dist("tsq.limit", "bytes", t.LimitBytes)
	m.by("tsq.limit_by", t.LimitBy)
	m.count("tsq.deferred", "", t.Deferred)
	return m
}

// Metrics is the report as a list.
func (p *PickReport) Metrics() []Metric {
	var m metrics
	m.count("picks.count", "", p.Picks)
	m.count("picks.bytes", "bytes", p.Bytes)
	m.by("picks.why", p.Why)
	m.by("picks.by", p.By)
	m.count("picks.moves", "", p.Moves)
	m.count("picks.moves_in_flight", "", p.MovesInFlight)
	m.dist("picks.in_flight", "bytes", p.InFlight)
	m.spread("picks.flows", "", p.Flows)
	m.spread("picks.queue_bytes", "bytes", p.QueueBytes)
	return m
}

func (m *metrics) spread(name, unit string, s Spread) {
	m.count(name+".sum", unit, s.Sum)
	m.count(name+".max", unit, s.Max)
	m.add(name+".mean", unit, s.Mean)
}

// Metrics is the report as a list.
func (g *GROReport) Metrics() []Metric {
	var m metrics
	m.count("gro.lists", "", g.Lists)
	m.count("gro.skbs", "packets", g.Skbs)
	m.count("gro.segs", "packets", g.Segs)
	m.count("gro.bytes", "bytes", g.Bytes)
	m.by("gro.why", g.Why)
	m.hist("gro.size", g.Size)
	m.hist("gro.count", g.Count)
	return m
}
