// SPDX-License-Identifier: Apache-2.0

package model

import (
	"maps"
	"testing"
)

func TestParseWhatIf(t *testing.T) {
	for arg, want := range map[string]Proposal{
		"quota=stop":                 {Set: map[Switch]Variant{SwitchQuota: QuotaStop}},
		"quota=segments,bulk=bytes":  {Set: map[Switch]Variant{SwitchQuota: QuotaSegments, SwitchBulk: BulkBytes}},
		"tsq-limit=ms":               {Set: map[Switch]Variant{SwitchTSQLimit: TSQLimitMs}},
		"byte_cap=1":                 {ByteCap: 1},
		"xmit_more_limit=2147483647": {MoreLimit: 1<<31 - 1},
		"xmit_more_limit=13":         {MoreLimit: 13},
		"byte_cap=37500,bulk=bytes,xmit_more_limit=8": {Set: map[Switch]Variant{SwitchBulk: BulkBytes}, MoreLimit: 8, ByteCap: 37500},
	} {
		got, err := ParseWhatIf(arg)
		if err != nil || !maps.Equal(got.Set, want.Set) || got.MoreLimit != want.MoreLimit || got.ByteCap != want.ByteCap {
			t.Errorf("%q: %+v, %v; want %+v", arg, got, err, want)
		}
	}
	for arg, want := range map[string]string{
		"":                    `variant "": want SWITCH=NAME, as in bulk=budget`,
		"xmit_more_limit":     `what-if xmit_more_limit="": want a number from 1 to 2147483647`,
		"byte_cap=0":          `what-if byte_cap="0": want a number from 1 to 2147483647`,
		"byte_cap=1e9":        `what-if byte_cap="1e9": want a number from 1 to 2147483647`,
		"byte_cap=2147483648": `what-if byte_cap="2147483648": want a number from 1 to 2147483647`,
		"byte_cap=4294967296": `what-if byte_cap="4294967296": want a number from 1 to 2147483647`,
		"quota=jiffies":       `variant quota="jiffies": unknown; quota has restarts, stop, after, segments, time`,
	} {
		if got, err := ParseWhatIf(arg); err == nil || err.Error() != want {
			t.Errorf("%q: %+v, %v; want %s", arg, got, err, want)
		}
	}
	// A recording is not held against proposals.
	if _, err := Parse("quota=segments"); err == nil {
		t.Error("quota=segments passes as a kernel's variant")
	}
}

// Each what-if belongs to a switch, and is none of its variants.
func TestWhatIf(t *testing.T) {
	for _, w := range WhatIf {
		s, err := Lookup(w.Name)
		if err != nil {
			t.Fatal(err)
		}
		for _, v := range w.Variants {
			if _, err := s.Variant(v.Name); err == nil || v.Says == "" || v.Source == "" {
				t.Errorf("%s=%s: a variant too, unexplained or without a source", w.Name, v.Name)
			}
		}
	}
}

// The bounds that 000 proposed for one dequeue, on a full qdisc.
func TestWhatIfBounds(t *testing.T) {
	take := func(set func(*Dequeue)) (int, Reason) {
		d := fresh(381528)
		set(&d)
		b, why, _ := d.Take(Packet{Len: 1514}, endless(1514))
		if a, bound := d.Legal(b, exactly(d.Avail)); a != Yes {
			t.Errorf("%+v: its own batch of %d is %s, %s", d, b.N, a, bound)
		}
		b.Add(1514)
		if a, bound := d.Legal(b, exactly(d.Avail)); a != No || bound != why {
			t.Errorf("%+v: one more, %d, is %s, %s; want no, %s", d, b.N, a, bound, why)
		}
		return b.N - 1, why
	}
	cases := []struct {
		name string
		set  func(*Dequeue)
		n    int
		why  Reason
	}{
		{"none", func(d *Dequeue) { d.Bulk = BulkBytes }, 252, ReasonBytes},
		{"1", func(d *Dequeue) { d.Bulk, d.MoreLimit = BulkBytes, 1 }, 1, ReasonBudget},
		{"8", func(d *Dequeue) { d.Bulk, d.MoreLimit = BulkBytes, 8 }, 8, ReasonBudget},
		{"13", func(d *Dequeue) { d.Bulk, d.MoreLimit = BulkBytes, 13 }, 13, ReasonBudget},
		{"13, today", func(d *Dequeue) { d.MoreLimit = 13 }, 13, ReasonBudget},
		{"80, today", func(d *Dequeue) { d.MoreLimit = 80 }, 65, ReasonBudget},
		{"37500 bytes", func(d *Dequeue) { d.Bulk, d.ByteCap = BulkBytes, 37500 }, 25, ReasonBytes},
		{"1 byte", func(d *Dequeue) { d.Bulk, d.ByteCap = BulkBytes, 1 }, 1, ReasonBytes},
		{"more bytes than BQL's", func(d *Dequeue) { d.Bulk, d.ByteCap = BulkBytes, 1<<30 }, 252, ReasonBytes},
	}
	for _, c := range cases {
		if n, why := take(c.set); n != c.n || why != c.why {
			t.Errorf("%s: took %d, ended by %s; want %d, %s", c.name, n, why, c.n, c.why)
		}
	}
}

// A run over GSO packets of 45 segments that take 10 us each: quotas of 64
// segments, 300 us of time, 64 packets.
func TestWhatIfQuota(t *testing.T) {
	for charge, want := range map[Variant]Run{
		QuotaAfter:    {Restarts: 32, Packets: 64, Spent: true},
		QuotaSegments: {Restarts: 1, Packets: 2, Spent: true},
		QuotaTime:     {Restarts: 15, Packets: 30, Spent: true},
	} {
		q := Quota{Charge: charge, Weight: 64, Slice: 300_000}
		got := q.Run(func(left int) Restart {
			if charge == QuotaTime && left != 64 {
				t.Errorf("%s: %d packets left, want all", charge, left)
			}
			return Restart{Packets: 2, Segments: 2 * gso(45).Segments(), Time: 20_000, Again: true}
		})
		if got != want {
			t.Errorf("%s: %+v, want %+v", charge, got, want)
		}
	}
}
