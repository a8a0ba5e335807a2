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
	socks map[SockID]tsqSock // those that were ever throttled
	lasts times
	by    tallyBy
}

// tsqSock is what is known of a socket since it was throttled last.
type tsqSock struct {
	at    uint64 // when that was
	last  uint64 // when it was throttled or let go
	waits bool   // it was not resumed
	held  bool   // TSQ_THROTTLED is set
}

// tsqMeters are those of all namespaces.
type tsqMeters struct{ by map[uint32]*tsqMeter }

func newTSQMeters() tsqMeters { return tsqMeters{make(map[uint32]*tsqMeter)} }

func (m *tsqMeters) of(netns uint32) *tsqMeter {
	t := m.by[netns]
	if t == nil {
		t = &tsqMeter{socks: make(map[SockID]tsqSock)}
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
	if _, ok := n.socks[id]; ok || len(n.socks) < maxSockets {
		n.socks[id] = tsqSock{at: t.Begin(), last: t.Begin(), waits: true, held: true}
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
	if s := n.socks[id]; s.held && w.TSQEnd&event.TSQThrottled == 0 {
		s.held, s.last = false, max(s.at, w.Time)
		n.socks[id] = s
		n.ThrottledNS += U64(s.last - s.at)
	}
}

func (m *tsqMeters) resume(r *Resume) {
	n := m.of(r.Netns)
	id := r.SockID()
	s := n.socks[id]
	if !s.waits {
		return
	}
	s.waits = false
	n.socks[id] = s
	n.Resumed++
	n.lasts.add(r.Time - min(s.at, r.Time))
}

func (m *tsqMeters) report(queues []QueueReport) []TSQReport {
	var rs []TSQReport
	for _, netns := range slices.SortedFunc(maps.Keys(m.by), cmp.Compare[uint32]) {
		t := m.by[netns]
		t.Sockets = U64(len(t.socks))
		t.DurationNS = t.lasts.report()
		for id, s := range t.socks {
			t.FollowedNS += U64(s.last - min(id.Birth, s.last))
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
