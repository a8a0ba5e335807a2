// SPDX-License-Identifier: Apache-2.0

package model

import (
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// Twenty skbs of which every fourth was merged of five.
func TestGROVariants(t *testing.T) {
	for unit, want := range map[Variant][]Delivery{
		GROBatchFrags: {{1, 1, FlushAlone}, {1, 1, FlushAlone}, {8, 8, FlushThreshold}, {1, 1, FlushAlone}, {1, 1, FlushAlone}, {1, 1, FlushAlone}, {7, 7, FlushComplete}},
		GROBatchSkbs:  {{8, 8, FlushThreshold}, {8, 8, FlushThreshold}, {4, 4, FlushComplete}},
		GROBatchSegs:  {{4, 8, FlushThreshold}, {4, 8, FlushThreshold}, {4, 8, FlushThreshold}, {4, 8, FlushThreshold}, {4, 8, FlushThreshold}},
	} {
		var l RxList
		var got []Delivery
		for i := range 20 {
			skb := RxSkb{Segments: 1, Frags: true}
			if i%4 == 3 {
				skb = RxSkb{Segments: 5, Frags: true, Merged: true}
			}
			if d, up := l.Add(unit, 8, skb); up {
				got = append(got, d)
			}
		}
		if d, up := l.Complete(false); up {
			got = append(got, d)
		}
		if !slices.Equal(got, want) {
			t.Errorf("%s: %v, want %v", unit, got, want)
		}
		if l != (RxList{}) {
			t.Errorf("%s: %+v is left", unit, l)
		}
	}
	// Only drivers on napi_gro_frags had the first.
	var l RxList
	if d, up := l.Add(GROBatchFrags, 8, RxSkb{Segments: 1}); !up || d != (Delivery{1, 1, FlushAlone}) || l != (RxList{}) {
		t.Errorf("napi_gro_receive in 5.4: %+v, %t, %+v is left", d, up, l)
	}
	// With GRO off the count is not set, which is one.
	for i := range 8 {
		if d, up := l.Add(GROBatchSegs, 8, RxSkb{}); up != (i == 7) || up && d != (Delivery{8, 8, FlushThreshold}) {
			t.Errorf("GRO off, skb %d: %+v, %t", i, d, up)
		}
	}
}

// A list of three at each end of a poll.
func TestGROPollEnds(t *testing.T) {
	cases := []struct {
		name string
		end  func(*RxList) (Delivery, bool)
		why  FlushReason // empty: it stays
	}{
		{"complete", func(l *RxList) (Delivery, bool) { return l.Complete(false) }, FlushComplete},
		{"complete, busy polling", func(l *RxList) (Delivery, bool) { return l.Complete(true) }, ""},
		{"part of the budget", func(l *RxList) (Delivery, bool) { return l.Polled(false) }, ""},
		{"whole budget", func(l *RxList) (Delivery, bool) { return l.Polled(true) }, FlushPoll},
		{"busy-poll cycle", (*RxList).BusyCycle, FlushBusy},
		{"busy_poll_stop", func(l *RxList) (Delivery, bool) { return l.BusyStop(false) }, ""},
		{"busy_poll_stop, whole budget", func(l *RxList) (Delivery, bool) { return l.BusyStop(true) }, FlushBusyStop},
	}
	for _, c := range cases {
		l := RxList{3, 5}
		d, up := c.end(&l)
		switch {
		case c.why == "" && (up || l != RxList{3, 5}):
			t.Errorf("%s: %+v went up, %+v is left", c.name, d, l)
		case c.why != "" && (!up || d != Delivery{3, 5, c.why} || l != RxList{}):
			t.Errorf("%s: %+v, %t, %+v is left; want all up by %s", c.name, d, up, l, c.why)
		}
		if _, up := c.end(new(RxList)); up {
			t.Errorf("%s: an empty list goes up", c.name)
		}
	}
}

// Every skb goes up once; each list is legal, and legal only as it is.
func TestGROConserves(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		unit := rapid.SampledFrom([]Variant{GROBatchSkbs, GROBatchSegs}).Draw(t, "unit")
		batch := rapid.IntRange(1, 20).Draw(t, "batch")
		var l RxList
		in, out, last := 0, 0, 0
		up := func(d Delivery, up bool) {
			if !up {
				return
			}
			out += d.Skbs
			legal, threshold := LegalDelivery(unit, batch, d, last)
			if vague, _ := LegalDelivery(unit, batch, d, 0); !legal || !vague || threshold != (d.Why == FlushThreshold) {
				t.Fatalf("%s, batch %d: %+v, last %d: legal %t, %t, threshold %t", unit, batch, d, last, legal, vague, threshold)
			}
		}
		for range rapid.IntRange(0, 60).Draw(t, "n") {
			last = rapid.IntRange(0, 45).Draw(t, "segments")
			in++
			up(l.Add(unit, batch, RxSkb{Segments: last}))
			last = max(last, 1)
			if rapid.IntRange(0, 9).Draw(t, "end") == 0 {
				up(l.Complete(rapid.Bool().Draw(t, "busy")))
			}
		}
		up(l.BusyCycle())
		if in != out {
			t.Fatalf("%d came, %d went up", in, out)
		}
	})
}

func TestLegalDelivery(t *testing.T) {
	cases := []struct {
		name             string
		unit             Variant
		d                Delivery
		last             int
		legal, threshold bool
	}{
		{"full by one merged skb", GROBatchSegs, Delivery{Skbs: 1, Count: 52}, 52, true, true},
		{"full before the last", GROBatchSegs, Delivery{Skbs: 9, Count: 9}, 1, false, true},
		{"full before the last, which is not known", GROBatchSegs, Delivery{Skbs: 9, Count: 9}, 0, false, true},
		{"8, then 2", GROBatchSegs, Delivery{Skbs: 4, Count: 10}, 2, false, true},
		{"9, then 1", GROBatchSegs, Delivery{Skbs: 4, Count: 10}, 1, false, true},
		{"7, then 3", GROBatchSegs, Delivery{Skbs: 4, Count: 10}, 3, true, true},
		{"more skbs than segments", GROBatchSegs, Delivery{Skbs: 4, Count: 3}, 0, false, false},
		{"three in two segments", GROBatchSegs, Delivery{Skbs: 4, Count: 5}, 3, false, false},
		{"a poll's end", GROBatchSegs, Delivery{Skbs: 3, Count: 7}, 1, true, false},
		{"8 of 8", GROBatchSkbs, Delivery{Skbs: 8, Count: 8}, 0, true, true},
		{"9 of 8", GROBatchSkbs, Delivery{Skbs: 9, Count: 9}, 0, false, true},
		{"counted segments", GROBatchSkbs, Delivery{Skbs: 4, Count: 10}, 3, false, true},
	}
	for _, c := range cases {
		if legal, threshold := LegalDelivery(c.unit, 8, c.d, c.last); legal != c.legal || threshold != c.threshold {
			t.Errorf("%s: legal %t, threshold %t; want %t, %t", c.name, legal, threshold, c.legal, c.threshold)
		}
	}
}
