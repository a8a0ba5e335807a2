// SPDX-License-Identifier: Apache-2.0

package model

import "testing"

// The numbers of the thread on TSQ. A socket's account starts at 1.

// inFlight is how many skbs a socket gets below TCP before the next has to
// wait, if none is freed. The exemption came later; as if the acknowledgements
// were prompt.
func inFlight(s Socket, limit Variant) (n int) {
	for s.Wmem, s.Unacked = WmemBase, 0; !s.Throttled(limit, TSQExemptEmpty); n++ {
		s.Wmem += s.Truesize
		s.Unacked++
	}
	return n
}

// "if a skb->truesize is 100K, this condition allows two packets, before
// throttling the third", "unless a single skb truesize is 128K".
func TestSeed003_Limit131072(t *testing.T) {
	for _, c := range []struct {
		name     string
		truesize uint32
		want     int
	}{
		{"100 KB", 100 << 10, 2},
		{"128 KB", 128 << 10, 1},
		{"one byte less", 128<<10 - 1, 1}, // 131071 and the base of 1 are 131072
		{"two bytes less", 128<<10 - 2, 2},
		{"66 KB", 66 << 10, 2}, // the report says one; the formula as quoted gives two
	} {
		got := inFlight(Socket{Truesize: c.truesize, LimitOutput: 131072}, TSQLimitConstant)
		t.Logf("%s: %d in flight", c.name, got)
		if got != c.want {
			t.Errorf("%s: %d in flight, want %d", c.name, got, c.want)
		}
	}
}

// "When I increased this to 131.506 (128k + 434 bytes) suddenly it jumped":
// that many bytes let a third skb go where two of 64 KB fill the old limit.
func TestSeed003_Limit131506(t *testing.T) {
	old := Socket{Truesize: 131072 / 2, LimitOutput: 131072}
	raised := old
	raised.LimitOutput = 131506
	more := raised.TSQLimit(TSQLimitConstant) - old.TSQLimit(TSQLimitConstant)
	before, after := inFlight(old, TSQLimitConstant), inFlight(raised, TSQLimitConstant)
	t.Logf("%d bytes more: %d in flight, then %d", more, before, after)
	if more != 434 || before != 2 || after != 3 {
		t.Errorf("%d bytes more: %d, then %d in flight; want 434, 2, 3", more, before, after)
	}
}

// "14 packets in flight instead of 2 ... backlog 953820b 14p": 14 GSO skbs of
// 45 segments, as the qdisc counts their bytes.
func TestSeed003_Backlog953820(t *testing.T) {
	tso := Packet{Len: 66 + 45*1448, GSOSize: 1448, Header: 66}
	var backlog uint64
	for range 14 {
		backlog += tso.WireLen()
	}
	t.Logf("14 of %d segments: %d bytes", tso.Segments(), backlog)
	if tso.Segments() != 45 || tso.WireLen() != 45*1514 || backlog != 953820 {
		t.Errorf("%d segments, %d bytes each, %d in all; want 45, 68130, 953820", tso.Segments(), tso.WireLen(), backlog)
	}
}

// "New limit is two packets or at least 1 to 2 ms worth": as posted, with the
// larger of truesize and rate >> 10 and with >, a slow flow has one. Twice the
// truesize, as kernels have had it since, gives two.
func TestSeed003_SlowFlow(t *testing.T) {
	s := Socket{Truesize: 2304, PacingShift: PacingShift, LimitOutput: 1 << 20}
	for limit, want := range map[Variant]int{TSQLimitRate: 1, TSQLimitUnpaced: 2, TSQLimitAlways: 2} {
		got := inFlight(s, limit)
		t.Logf("%s: %d in flight", limit, got)
		if got != want {
			t.Errorf("%s: %d in flight, want %d", limit, got, want)
		}
	}
}

// "For a 8Gbps flow, 1Gbyte/s, sk_pacing_rate would be 2Gbyte, this would
// translate to ~2 Mbytes", by each of the three formulas of the thread.
func TestSeed003_EightGigabit(t *testing.T) {
	rate := Link(8_000_000_000).Bytes(1_000_000_000)
	s := Socket{Truesize: 4096, MSS: 1448, PacingRate: 2 * rate, PacingShift: PacingShift}
	for limit, want := range map[Variant]uint64{TSQLimitMs: 2_000_000, TSQLimitRate: 1_953_125, TSQLimitShift8: 7_812_500} {
		got := s.TSQLimit(limit)
		t.Logf("%s: %d bytes", limit, got)
		if got != want {
			t.Errorf("%s: %d bytes, want %d", limit, got, want)
		}
	}
	s.PacingRate = 0
	for _, limit := range []Variant{TSQLimitMs, TSQLimitShift8} {
		if got := s.TSQLimit(limit); got != 2*1448 {
			t.Errorf("%s: a slow flow's limit is %d, want two MSS", limit, got)
		}
	}
}

// "skb->destructor should be set to tcp_wfree()": before, only if the sysctl
// was above 0.
func TestSeed003_Destructor(t *testing.T) {
	for sysctl, want := range map[int32]bool{131072: true, 1: true, 0: false, -1: false} {
		s := Socket{LimitOutput: sysctl}
		t.Logf("sysctl %d: calls back before the patch %t, after %t", sysctl, s.CallsBack(TSQLimitConstant), s.CallsBack(TSQLimitRate))
		if s.CallsBack(TSQLimitConstant) != want || !s.CallsBack(TSQLimitRate) {
			t.Errorf("sysctl %d: calls back %t before, %t after; want %t, true", sysctl, s.CallsBack(TSQLimitConstant), s.CallsBack(TSQLimitRate), want)
		}
	}
}
