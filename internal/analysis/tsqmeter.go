// SPDX-License-Identifier: Apache-2.0

package analysis

import (
	"cmp"
	"maps"
	"slices"

	"github.com/txtrace/txtrace/internal/event"
	"github.com/txtrace/txtrace/internal/model"
)

// maxSockets bounds the sockets of one namespace that are followed.
const maxSockets = 1 << 16

// tsqMeter counts what TCP small queues did in one network namespace.
type tsqMeter struct {
	TSQReport
	waits map[SockID]uint64 // when it was throttled
	held  map[SockID]uint64 // the same, while TSQ_THROTTLED is set
	known map[SockID]uint64 // when it was last throttled or let go
	lasts times
	by    tallyBy
}

// tsqMeters are those of all namespaces.
type tsqMeters struct{ by map[uint32]*tsqMeter }

func newTSQMeters() tsqMeters { return tsqMeters{make(map[uint32]*tsqMeter)} }

func (m *tsqMeters) of(netns uint32) *tsqMeter {
	t := m.by[netns]
	if t == nil {
		t = &tsqMeter{waits: make(map[SockID]uint64), held: make(map[SockID]uint64), known: make(map[SockID]uint64)}
		t.Netns = netns
		m.by[netns] = t
	}
	return t
}

var limitNames = []string{"truesize", "rate", "sysctl"}

// throttle takes the begin of the call: a free inside it may resume the socket
// before the call ends.
func (m *tsqMeters) throttle(t *Throttle) {
	n := m.of(t.Netns)
	n.Throttles++
	id := t.SockID()
	if _, ok := n.known[id]; ok || len(n.known) < maxSockets {
		n.known[id], n.waits[id], n.held[id] = t.Begin(), t.Begin(), t.Begin()
	}
	if t.QueueEmpty == 0 {
		limit, by := limitInForce(t)
		n.LimitBytes.add(limit)
		n.by[by]++
	}
}

// limitInForce is the limit at a throttle, and what decided it: an index into
// limitNames. A paced socket is taken to be free of the sysctl, as it was until
// 6.15; from then on the default is seldom in reach.
func limitInForce(t *Throttle) (limit uint64, by int) {
	s := t.AsModel(t.WmemEnd)
	limit = s.TSQLimit(model.TSQLimitUnpaced)
	free := s
	free.Paced = true
	switch all := free.TSQLimit(model.TSQLimitUnpaced); {
	case limit < all:
		return limit, 2
	case uint64(2*t.Truesize) >= t.PacingRate>>t.PacingShift:
		return limit, 0
	}
	return limit, 1
}

func (m *tsqMeters) wfree(w *Wfree) {
	n := m.of(w.Netns)
	if w.Ksoftirqd != 0 && w.TSQEnd == w.TSQBegin {
		n.Deferred++
	}
	id := w.SockID()
	if at, ok := n.held[id]; ok && w.TSQEnd&event.TSQThrottled == 0 {
		delete(n.held, id)
		n.known[id] = max(at, w.Time)
		n.ThrottledNS += U64(n.known[id] - at)
	}
}

func (m *tsqMeters) resume(r *Resume) {
	n := m.of(r.Netns)
	id := r.SockID()
	at, ok := n.waits[id]
	if !ok {
		return
	}
	delete(n.waits, id)
	n.Resumed++
	n.lasts.add(r.Time - min(at, r.Time))
}

func (m *tsqMeters) report(queues []QueueReport) []TSQReport {
	var rs []TSQReport
	for _, netns := range slices.SortedFunc(maps.Keys(m.by), cmp.Compare[uint32]) {
		t := m.by[netns]
		t.Sockets = U64(len(t.known))
		t.DurationNS = t.lasts.report()
		for id, last := range t.known {
			t.FollowedNS += U64(last - min(id.Birth, last))
		}
		var done times
		for i := range queues {
			if queues[i].Netns == netns {
				done.merge(queues[i].Latency.RingNS)
			}
		}
		t.CompletionNS = done.report()
		t.LimitBy = named(t.by, limitNames...)
		rs = append(rs, t.TSQReport)
	}
	return rs
}
