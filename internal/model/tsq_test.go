// SPDX-License-Identifier: Apache-2.0

package model

import (
	"testing"

	"pgregory.net/rapid"
)

func TestTSQLimitVariants(t *testing.T) {
	fast := Socket{Truesize: 66000, PacingRate: 1 << 32, PacingShift: 10, LimitOutput: 1 << 20}
	paced := fast
	paced.Paced = true
	slow := Socket{Truesize: 66000, PacingShift: 10, LimitOutput: 1 << 20}
	small := slow // the fq and 16384 of the measured runs
	small.LimitOutput, small.Paced = 16384, true
	cases := []struct {
		name                                   string
		s                                      Socket
		constant, rate, floor, unpaced, always uint64
	}{
		{"fast", fast, 1 << 20, 1 << 22, 1 << 22, 1 << 20, 1 << 20},
		{"fast, paced", paced, 1 << 20, 1 << 22, 1 << 22, 1 << 22, 1 << 20},
		{"slow", slow, 1 << 20, 66000, 1 << 20, 132000, 132000},
		{"small sysctl, paced", small, 16384, 66000, 16384, 132000, 16384},
	}
	for _, c := range cases {
		for limit, want := range map[Variant]uint64{TSQLimitConstant: c.constant, TSQLimitRate: c.rate, TSQLimitFloor: c.floor, TSQLimitUnpaced: c.unpaced, TSQLimitAlways: c.always} {
			if got := c.s.TSQLimit(limit); got != want {
				t.Errorf("%s, %s: %d, want %d", c.name, limit, got, want)
			}
		}
	}
	slow.Factor = 1
	if got := slow.TSQLimit(TSQLimitAlways); got != 264000 {
		t.Errorf("a retransmission's limit is %d, want 264000", got)
	}
	slow.Factor, slow.PacingRate, slow.TxDelay = 0, 1<<20, 1<<19
	if got := slow.TSQLimit(TSQLimitAlways); got != 132000+1<<20 {
		t.Errorf("limit with a delay of 2^19 us at 1 MiB/s: %d, want %d", got, 132000+1<<20)
	}
}

// At the limit itself only the first variant and the what-ifs stop.
func TestTSQOver(t *testing.T) {
	s := Socket{Wmem: 1 << 20, Truesize: 1 << 19, MSS: 1 << 19, PacingRate: 1 << 28, PacingShift: 8, LimitOutput: 1 << 20}
	for limit, want := range map[Variant]bool{
		TSQLimitConstant: true, TSQLimitRate: false, TSQLimitFloor: false, TSQLimitUnpaced: false, TSQLimitAlways: false,
		TSQLimitMs: true, TSQLimitShift8: true,
	} {
		if got := s.OverTSQLimit(limit); got != want {
			t.Errorf("%s: over %t at the limit, want %t", limit, got, want)
		}
		s.Wmem++
		if !s.OverTSQLimit(limit) {
			t.Errorf("%s: not over above the limit", limit)
		}
		s.Wmem--
	}
}

func TestTSQExemptVariants(t *testing.T) {
	want := map[Variant][3]bool{
		TSQExemptEmptyOrOne47: {true, true, false},
		TSQExemptEmpty:        {true, false, false},
		TSQExemptEmptyOrOne:   {true, true, false},
	}
	for exempt, want := range want {
		for unacked, want := range want {
			s := Socket{Wmem: 1 << 30, Truesize: 2304, Unacked: unacked}
			if got := s.TSQExempt(exempt); got != want {
				t.Errorf("%s: %d unacknowledged: exempt %t, want %t", exempt, unacked, got, want)
			}
			if got := s.Throttled(TSQLimitAlways, exempt); got == want {
				t.Errorf("%s: %d unacknowledged: throttled %t", exempt, unacked, got)
			}
			if !s.Throttled(TSQLimitRate, exempt) {
				t.Errorf("%s: exempt before there was an exemption", exempt)
			}
		}
	}
}

func TestWfree(t *testing.T) {
	const oneByte = 577 // SKB_TRUESIZE(1) of 6.1 and 7.2
	cases := []struct {
		name       string
		flags      TSQFlags
		wmem, size uint32
		ksoftirqd  bool
		want       TSQFlags
	}{
		{"throttled", TSQThrottled, 9000, 2304, false, TSQQueued},
		{"not throttled", 0, 9000, 2304, false, 0},
		{"queued already", TSQThrottled | TSQQueued, 9000, 2304, false, TSQThrottled | TSQQueued},
		{"in use by its owner", TSQThrottled | TSQDeferred, 9000, 2304, false, TSQQueued | TSQDeferred},
		{"ksoftirqd, more to come", TSQThrottled, 9000, 2304, true, TSQThrottled},
		{"ksoftirqd, 577 left", TSQThrottled, 2304 + 576, 2304, true, TSQThrottled},
		{"ksoftirqd, 576 left", TSQThrottled, 2304 + 575, 2304, true, TSQQueued},
		{"ksoftirqd, the last one", TSQThrottled, 2305, 2304, true, TSQQueued},
	}
	for _, c := range cases {
		wmem, flags := Wfree(c.flags, c.wmem, c.size, oneByte, c.ksoftirqd)
		if flags != c.want || wmem != c.wmem-c.size+1 {
			t.Errorf("%s: flags %03b, wmem %d; want %03b, %d", c.name, flags, wmem, c.want, c.wmem-c.size+1)
		}
	}
}

// More below TCP never lets a socket send that had to wait, and more time per
// byte, a larger sysctl or a larger skb never lowers the limit.
func TestTSQMonotonic(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		limit := rapid.SampledFrom([]Variant{TSQLimitConstant, TSQLimitRate, TSQLimitUnpaced, TSQLimitAlways}).Draw(t, "limit")
		s := Socket{
			Wmem:        rapid.Uint32Range(WmemBase, 1<<23).Draw(t, "wmem"),
			Truesize:    rapid.Uint32Range(577, 1<<20).Draw(t, "truesize"),
			PacingRate:  rapid.Uint64Range(0, 1<<34).Draw(t, "rate"),
			PacingShift: rapid.Uint8Range(5, 10).Draw(t, "shift"),
			Paced:       rapid.Bool().Draw(t, "paced"),
			LimitOutput: rapid.Int32Range(1, 1<<23).Draw(t, "sysctl"),
			Factor:      rapid.Uint8Range(0, 1).Draw(t, "factor"),
			TxDelay:     rapid.Uint32Range(0, 1000).Draw(t, "delay"),
			Unacked:     rapid.IntRange(0, 3).Draw(t, "unacked"),
		}
		more := s
		more.Wmem++
		if s.Throttled(limit, TSQExemptEmptyOrOne) && !more.Throttled(limit, TSQExemptEmptyOrOne) {
			t.Fatalf("%s: %+v waits, with one byte more it does not", limit, s)
		}
		for _, grow := range []func(*Socket){
			func(s *Socket) { s.Truesize++ },
			func(s *Socket) { s.PacingRate += 1 << 20 },
			func(s *Socket) { s.LimitOutput++ },
			func(s *Socket) { s.TxDelay++ },
			func(s *Socket) { s.Factor++ },
		} {
			bigger := s
			grow(&bigger)
			if bigger.TSQLimit(limit) < s.TSQLimit(limit) {
				t.Fatalf("%s: %+v has a lower limit than %+v", limit, bigger, s)
			}
		}
	})
}

// The exemption belongs to the limits of its time.
func TestTSQExemptAge(t *testing.T) {
	s := Socket{Wmem: 1 << 30, Truesize: 2304, MSS: 1448, LimitOutput: 1 << 20}
	for limit, want := range map[Variant]bool{
		TSQLimitConstant: true, TSQLimitRate: true, TSQLimitFloor: true, TSQLimitMs: true, TSQLimitShift8: true,
		TSQLimitUnpaced: false, TSQLimitAlways: false,
	} {
		if got := s.Throttled(limit, TSQExemptEmptyOrOne); got != want {
			t.Errorf("%s: throttled with nothing to be acknowledged: %t, want %t", limit, got, want)
		}
	}
}

// A sysctl of 0 or less: as unsigned it bounds nothing, but the first limit
// compares it as it is.
func TestTSQSysctlOff(t *testing.T) {
	for _, sysctl := range []int32{0, -1} {
		s := Socket{Wmem: WmemBase, Truesize: 2304, LimitOutput: sysctl}
		if !s.Throttled(TSQLimitConstant, TSQExemptEmpty) {
			t.Errorf("%d: the first limit lets an idle socket send", sysctl)
		}
	}
	if got := (Socket{Truesize: 2304, LimitOutput: -1}).TSQLimit(TSQLimitAlways); got != 4608 {
		t.Errorf("-1: limit %d, want 4608", got)
	}
}
