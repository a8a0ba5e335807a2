// SPDX-License-Identifier: Apache-2.0

package comparison

import (
	"slices"

	"github.com/txtrace/txtrace/internal/analysis"
)

// run is one capture, as metrics see it.
type run struct {
	*analysis.Result
	path   string
	queues []analysis.QueueReport // those of the devices that are looked at
}

func (r *run) emulated() bool { return r.Header.Kernel.Emulated }

// seconds while the command ran, or from the first record to the last.
func (r *run) seconds() float64 {
	if f := r.Footer; f != nil && f.Child != nil && f.Child.EndNS > f.Child.BeginNS {
		return float64(f.Child.EndNS-f.Child.BeginNS) / 1e9
	}
	c := r.Verify.Capture
	return float64(c.EndNS-min(c.BeginNS, c.EndNS)) / 1e9
}

func (r *run) microseconds() float64 { return 1e6 * r.seconds() }

// sum adds up a count of all queues.
func (r *run) sum(of func(*analysis.QueueReport) analysis.U64) float64 {
	var n float64
	for i := range r.queues {
		n += float64(of(&r.queues[i]))
	}
	return n
}

func (r *run) taken() float64 {
	return r.sum(func(q *analysis.QueueReport) analysis.U64 { return q.Handovers.Taken })
}

func (r *run) handedBits() float64 {
	return 8 * r.sum(func(q *analysis.QueueReport) analysis.U64 { return q.Handovers.Bytes })
}

func (r *run) requeued() float64 {
	return r.sum(func(q *analysis.QueueReport) analysis.U64 { return q.Requeues.Packets })
}

func (r *run) owedAny() float64 {
	return r.sum(func(q *analysis.QueueReport) analysis.U64 { return q.Handovers.OwedAny })
}

func (r *run) owedDrv() float64 {
	return r.sum(func(q *analysis.QueueReport) analysis.U64 { return q.Handovers.OwedDrv })
}

func (r *run) throttles() (n float64) {
	for _, t := range r.TSQ {
		n += float64(t.Throttles)
	}
	return n
}

// cause counts the requeues of one cause.
func cause(name string) func(*run) float64 {
	return func(r *run) float64 {
		return r.sum(func(q *analysis.QueueReport) analysis.U64 { return q.Requeues.Cause[name] })
	}
}

// per is one count over another.
func per(of, over func(*run) float64) func(*run) (float64, absence) {
	return func(r *run) (float64, absence) {
		switch {
		case r.taken() == 0:
			return 0, notHanded
		case over(r) == 0:
			return 0, "what it is over is 0"
		}
		return of(r) / over(r), ""
	}
}

// million is a count per million packets that drivers took.
func million(of func(*run) float64) func(*run) (float64, absence) {
	return per(of, func(r *run) float64 { return r.taken() / 1e6 })
}

func (r *run) batchSize() (float64, absence) {
	// Every other origin is one packet at a time, and no choice of a size.
	n, packets := 0.0, 0.0
	for _, q := range r.queues {
		fresh := float64(q.Batches.Origin["fresh"])
		n += fresh
		packets += float64(q.Batches.Packets) - (float64(q.Batches.Count) - fresh)
	}
	if n == 0 {
		return 0, "no qdisc gave a packet"
	}
	return packets / n, ""
}

func (r *run) handoverSize() (float64, absence) {
	n := r.sum(func(q *analysis.QueueReport) analysis.U64 { return q.Handovers.Count })
	if n == 0 {
		return 0, notHanded
	}
	return r.sum(func(q *analysis.QueueReport) analysis.U64 { return q.Handovers.Packets }) / n, ""
}

func (r *run) quotaEnded() (float64, absence) {
	n := r.sum(func(q *analysis.QueueReport) analysis.U64 { return q.Runs.Count })
	if n == 0 {
		return 0, "no qdisc was run"
	}
	return 100 * r.sum(func(q *analysis.QueueReport) analysis.U64 { return q.Runs.QuotaEnded }) / n, ""
}

func (r *run) bqlLimit() (float64, absence) {
	return r.overTime(func(p analysis.Point) uint32 { return p.LimitLast })
}

func (r *run) bqlInflight() (float64, absence) {
	return r.overTime(func(p analysis.Point) uint32 { return p.InflightMax })
}

// overTime is the mean over the queues of what each had in the mean over time.
func (r *run) overTime(of func(analysis.Point) uint32) (float64, absence) {
	var sum, queues float64
	for _, q := range r.queues {
		if !q.BQL.Used || len(q.BQL.Series) == 0 {
			continue
		}
		var s float64
		for _, p := range q.BQL.Series {
			s += float64(of(p))
		}
		sum += s / float64(len(q.BQL.Series))
		queues++
	}
	if queues == 0 {
		return 0, "no driver charged bytes to BQL"
	}
	return sum / queues, ""
}

// merged is one distribution of all queues.
func (r *run) merged(of func(*analysis.QueueReport) analysis.Times) analysis.Times {
	var t analysis.Times
	for i := range r.queues {
		t = analysis.MergeTimes(t, of(&r.queues[i]))
	}
	return t
}

func (r *run) runs() (analysis.Times, absence) {
	return r.merged(func(q *analysis.QueueReport) analysis.Times { return q.Runs.DurationNS }), "no qdisc was run"
}

func (r *run) sojourn() (analysis.Times, absence) {
	return r.merged(func(q *analysis.QueueReport) analysis.Times { return q.Latency.SojournNS }),
		"no packet was stamped; record --with sojourn does"
}

func (r *run) ring() (analysis.Times, absence) {
	return r.merged(func(q *analysis.QueueReport) analysis.Times { return q.Latency.RingNS }), "no hand-over could be followed to its completion"
}

func (r *run) oldest() (analysis.Times, absence) {
	return r.merged(func(q *analysis.QueueReport) analysis.Times { return q.Latency.OldestNS }), "no completion could be followed"
}

// times is a distribution, and why it would be empty.
type times func(*run) (analysis.Times, absence)

func mean(of times) func(*run) (float64, absence) {
	return func(r *run) (float64, absence) {
		t, none := of(r)
		if t.Count == 0 {
			return 0, none
		}
		return t.Mean / 1e3, ""
	}
}

func p99(of times) func(*run) (float64, absence) {
	return func(r *run) (float64, absence) {
		t, none := of(r)
		if t.Count == 0 {
			return 0, none
		}
		return float64(t.P99) / 1e3, ""
	}
}

func (r *run) throttledShare() (float64, absence) {
	var throttled, followed float64
	for _, t := range r.TSQ {
		throttled += float64(t.ThrottledNS)
		followed += float64(t.FollowedNS)
	}
	if followed == 0 {
		return 0, "no socket was throttled"
	}
	return 100 * throttled / followed, ""
}

// lost says that the capture lacks records.
func (r *run) lost() bool {
	l := r.Verify.Lost
	return l.Records+l.Missed+l.Orphans+l.Corrupt > 0 || l.Cut != ""
}

// only keeps the queues of some devices, all when none is named.
func only(queues []analysis.QueueReport, ifnames []string) []analysis.QueueReport {
	if len(ifnames) == 0 {
		return queues
	}
	var kept []analysis.QueueReport
	for _, q := range queues {
		if slices.Contains(ifnames, q.Ifname) {
			kept = append(kept, q)
		}
	}
	return kept
}
