// SPDX-License-Identifier: Apache-2.0

package report

import (
	"cmp"
	"maps"
	"slices"

	"github.com/txtrace/txtrace/internal/analysis"
)

// byDevice adds up the queues of each device. What only one queue can have (a
// limit, its life) is left out.
func byDevice(queues []analysis.QueueReport) []analysis.QueueReport {
	var devices []analysis.QueueReport
	for _, q := range queues {
		last := len(devices) - 1
		if last < 0 || devices[last].Netns != q.Netns || devices[last].Ifindex != q.Ifindex ||
			devices[last].Generation != q.Generation {
			d := analysis.QueueReport{Netns: q.Netns, Ifindex: q.Ifindex, Generation: q.Generation,
				Ifname: q.Ifname, Txq: noQueue, Qdisc: q.Qdisc}
			devices = append(devices, d)
			last++
		}
		addQueue(&devices[last], &q)
	}
	return devices
}

func addQueue(to, q *analysis.QueueReport) {
	if to.Qdisc != q.Qdisc {
		to.Qdisc = "" // several kinds
	}
	to.Qdiscs = analysis.MergeQdiscs(to.Qdiscs, q.Qdiscs)
	addBatches(&to.Batches, &q.Batches)
	addRuns(&to.Runs, &q.Runs)
	addHandovers(&to.Handovers, &q.Handovers)
	addLatency(&to.Latency, &q.Latency)
	to.Requeues.Events += q.Requeues.Events
	to.Requeues.Packets += q.Requeues.Packets
	to.Requeues.Cause = addMap(to.Requeues.Cause, q.Requeues.Cause)
	to.Bypass.Count += q.Bypass.Count
	to.Bypass.Packets += q.Bypass.Packets
	to.Bypass.Bytes += q.Bypass.Bytes
	to.Bypass.GsoSegs += q.Bypass.GsoSegs
	to.Bypass.PktLenBytes += q.Bypass.PktLenBytes
	to.BQL.Used = to.BQL.Used || q.BQL.Used
	to.BQL.Completions += q.BQL.Completions
	to.BQL.ForeignBytes += q.BQL.ForeignBytes
	to.BQL.Foreign += q.BQL.Foreign
	to.BQL.AdvancedBytes += q.BQL.AdvancedBytes
	to.BQL.DecidedBytes += q.BQL.DecidedBytes
	to.BQL.Quota = max(to.BQL.Quota, q.BQL.Quota)
	if n := to.Handovers.Packets; n > 0 {
		to.BQL.MeanLen = float64(to.Handovers.Bytes) / float64(n)
	}
}

func addLatency(to, l *analysis.LatencyReport) {
	to.SojournNS = analysis.MergeTimes(to.SojournNS, l.SojournNS)
	to.Stamps.OneIn = max(to.Stamps.OneIn, l.Stamps.OneIn)
	to.Stamps.Given += l.Stamps.Given
	to.Stamps.Replaced += l.Stamps.Replaced
	to.Stamps.Gone += l.Stamps.Gone
	to.DriverNS = analysis.MergeTimes(to.DriverNS, l.DriverNS)
	to.RingNS = analysis.MergeTimes(to.RingNS, l.RingNS)
	to.OldestNS = analysis.MergeTimes(to.OldestNS, l.OldestNS)
	to.Late += l.Late
	to.Lost += l.Lost
	to.Left += l.Left
}

func addBatches(to, b *analysis.BatchReport) {
	to.Count += b.Count
	to.Packets += b.Packets
	to.Bytes += b.Bytes
	to.Size = addCounts(to.Size, b.Size)
	to.Stop = addMap(to.Stop, b.Stop)
	to.Origin = addMap(to.Origin, b.Origin)
	to.AvailUsed = addCounts(to.AvailUsed, b.AvailUsed)
	to.Avail = analysis.MergeDists(to.Avail, b.Avail)
	to.GsoSegs += b.GsoSegs
	to.PktLenBytes += b.PktLenBytes
}

func addRuns(to, r *analysis.RunReport) {
	to.Count += r.Count
	to.Partial += r.Partial
	to.Packets = addCounts(to.Packets, r.Packets)
	to.Restarts = addCounts(to.Restarts, r.Restarts)
	to.QuotaEnded += r.QuotaEnded
	if to.QuotaMin == 0 || r.QuotaMin > 0 && r.QuotaMin < to.QuotaMin {
		to.QuotaMin = r.QuotaMin
	}
	to.QuotaMax = max(to.QuotaMax, r.QuotaMax)
	to.Who = addMap(to.Who, r.Who)
	to.DurationNS = analysis.MergeTimes(to.DurationNS, r.DurationNS)
}

func addHandovers(to, h *analysis.HandoverReport) {
	to.Count += h.Count
	to.Packets += h.Packets
	to.Bytes += h.Bytes
	to.Size = addCounts(to.Size, h.Size)
	to.Rest += h.Rest
	to.Taken += h.Taken
	to.Busy += h.Busy
	to.Uncharged += h.Uncharged
	to.OwedAny += h.OwedAny
	to.OwedDrv += h.OwedDrv
	to.Deferred = max(to.Deferred, h.Deferred)
	to.LeftOwing += h.LeftOwing
	to.Calls += h.Calls
	to.Elsewhere += h.Elsewhere
}

func addMap(to, m map[string]analysis.U64) map[string]analysis.U64 {
	to = maps.Clone(to)
	for k, n := range m {
		if to == nil {
			to = make(map[string]analysis.U64)
		}
		to[k] += n
	}
	return to
}

func addCounts(to, from []analysis.Count) []analysis.Count {
	sum := make(map[uint32]analysis.U64)
	for _, c := range slices.Concat(to, from) {
		sum[c.N] += c.Count
	}
	var out []analysis.Count
	for n, c := range sum {
		out = append(out, analysis.Count{N: n, Count: c})
	}
	slices.SortFunc(out, func(a, b analysis.Count) int { return cmp.Compare(a.N, b.N) })
	return out
}
