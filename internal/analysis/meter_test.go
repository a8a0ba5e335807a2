// SPDX-License-Identifier: Apache-2.0

package analysis

import (
	"testing"

	"pgregory.net/rapid"

	"github.com/txtrace/txtrace/internal/event"
)

func TestHist(t *testing.T) {
	var h hist
	for _, n := range []uint32{0, 1, 1, 65, 4096, 4097, 8191, 8192, 1 << 31} {
		h.add(n)
	}
	want := []Count{{0, 1}, {1, 2}, {65, 1}, {4096, 1}, {4096, 2}, {8192, 1}, {1 << 31, 1}}
	got := h.counts()
	if len(got) != len(want) {
		t.Fatal(got)
	}
	for i := range want {
		if got[i] != want[i] {
			t.Errorf("%d: %v, want %v", i, got[i], want[i])
		}
	}
}

// A series keeps the least and the greatest value, whatever the times.
func TestSeries(t *testing.T) {
	rapid.Check(t, func(d *rapid.T) {
		var s series
		var now uint64 = 5_000_000
		least, most, final := uint32(1<<32-1), uint32(0), uint32(0)
		for range rapid.IntRange(1, 400).Draw(d, "n") {
			now += rapid.Uint64Range(0, 1<<33).Draw(d, "step")
			v := rapid.Uint32().Draw(d, "v")
			p := s.at(now)
			p.limit.add(v)
			p.inflight.add(v / 2)
			least, most, final = min(least, v), max(most, v), v
		}
		ps := s.report()
		if len(s.points) > points || len(ps) == 0 {
			d.Fatal(len(s.points))
		}
		lo, hi := ps[0].LimitMin, ps[0].LimitMax
		for i, p := range ps {
			lo, hi = min(lo, p.LimitMin), max(hi, p.LimitMax)
			if i > 0 && p.BeginNS < ps[i-1].EndNS {
				d.Fatal("buckets overlap")
			}
		}
		if lo != least || hi != most || ps[len(ps)-1].LimitLast != final {
			d.Fatalf("%d %d %d, want %d %d %d", lo, hi, ps[len(ps)-1].LimitLast, least, most, final)
		}
	})
}

// A limit stays what it was in buckets that saw bytes in flight only.
func TestSeriesCarriesLimit(t *testing.T) {
	var s series
	s.at(0).inflight.add(5) // before any limit is known
	s.at(10 * firstWidth).limit.add(1000)
	s.at(20 * firstWidth).inflight.add(7)
	ps := s.report()
	if len(ps) != 2 || ps[1].LimitLast != 1000 || ps[1].InflightMax != 7 {
		t.Errorf("%+v", ps)
	}
}

func TestDist(t *testing.T) {
	var d Dist
	for _, v := range []uint64{5, 3, 10} {
		d.add(v)
	}
	if d != (Dist{3, 18, 3, 10, 6}) {
		t.Errorf("%+v", d)
	}
}

// The time a socket is throttled ends when a free takes TSQ_THROTTLED away,
// whether the one who then resumes it is seen or not.
func TestThrottled(t *testing.T) {
	m := newTSQMeters()
	throttle := func(begin, end uint64) {
		r := &Throttle{}
		r.Sock, r.Birth, r.Time, r.Dur = 1, 50, end, uint32(end-begin)
		m.throttle(r)
	}
	free := func(at uint64, after uint8) {
		r := &Wfree{}
		r.Sock, r.Birth, r.Time, r.TSQBegin, r.TSQEnd = 1, 50, at, event.TSQThrottled, after
		m.wfree(r)
	}
	throttle(100, 110)
	free(150, event.TSQThrottled) // left to another one
	free(160, event.TSQQueued)
	free(170, event.TSQQueued)
	throttle(200, 300) // a free inside the call
	free(250, event.TSQQueued)
	throttle(400, 410)
	done := timesOf([]uint64{7, 9})
	r := m.report([]QueueReport{{Latency: LatencyReport{RingNS: done}}, {Netns: 1, Latency: LatencyReport{RingNS: done}}})
	if len(r) != 1 || r[0].ThrottledNS != 60+50 || r[0].FollowedNS != 400-50 || r[0].CompletionNS.Count != 2 {
		t.Errorf("%+v", r)
	}
}

// A run that used its quota up by a send that was put back ended by that: the
// kernel looked at no quota. Flame graphs of runs that scheduled themselves told
// 120 where 166 were counted.
func TestEndedByQuota(t *testing.T) {
	sent, refused := &Direct{}, &Direct{}
	sent.Result = 1
	for _, c := range []struct {
		packets, weight uint32
		last            []Restart
		want            bool
	}{
		{64, 64, []Restart{{Direct: refused}, {Direct: sent}}, true},
		{70, 64, []Restart{{Direct: sent}, {Direct: refused}}, false},
		{63, 64, []Restart{{Direct: sent}}, false},
		{64, 64, nil, true},
		{64, 64, []Restart{{}}, true},
		{64, 0, []Restart{{Direct: sent}}, false},
	} {
		r := &Run{Weight: c.weight, Restarts: c.last}
		r.Packets = c.packets
		if got := r.EndedByQuota(); got != c.want {
			t.Errorf("%d packets of %d, last %+v: %t", c.packets, c.weight, c.last, got)
		}
	}
}
