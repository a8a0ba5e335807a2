// SPDX-License-Identifier: Apache-2.0

package model

import (
	"testing"

	"pgregory.net/rapid"
)

// exactly is the interval of one value.
func exactly(avail int32) Range { return Range{avail, avail} }

// fresh is today's dequeue at the start of a run.
func fresh(avail int32) Dequeue {
	return Dequeue{Bulk: BulkBudget, Quota: QuotaAfter, OneTxQueue: true, BQL: true, Avail: avail, Left: 64}
}

// of is a batch of n packets of one length.
func of(n int, length uint32) Batch {
	return Batch{N: n, Bytes: uint64(n) * uint64(length), Last: length}
}

// Each variant takes another number from a full qdisc of small packets.
func TestBulkVariants(t *testing.T) {
	want := map[Variant]struct {
		n   int
		why Reason
	}{
		BulkNone:   {1, ReasonBudget},
		BulkOne:    {2, ReasonBudget},
		BulkCap8:   {8, ReasonBudget},
		BulkCap7:   {7, ReasonBudget},
		BulkBytes:  {1000, ReasonBytes},
		BulkBudget: {65, ReasonBudget},
	}
	for bulk, want := range want {
		d := fresh(60000)
		d.Bulk = bulk
		b, why, _ := d.Take(Packet{Len: 60}, endless(60))
		if b != of(want.n, 60) || why != want.why {
			t.Errorf("%s: took %+v, ended by %s; want %d, %s", bulk, b, why, want.n, want.why)
		}
	}
}

func TestBulkTake(t *testing.T) {
	cases := []struct {
		name string
		d    Dequeue
		head Packet
		rest []Packet
		n    int
		why  Reason
	}{
		{"empty after the head", fresh(9000), Packet{Len: 60}, nil, 1, ReasonQdisc},
		{"the head uses all bytes", fresh(60), Packet{Len: 60}, make([]Packet, 9), 1, ReasonBytes},
		{"over the limit already", fresh(-5), Packet{Len: 60}, make([]Packet, 9), 1, ReasonBytes},
		{"the last one may overshoot", fresh(61), Packet{Len: 60}, []Packet{{Len: 64000}, {Len: 60}}, 2, ReasonBytes},
		{"one left of the quota", Dequeue{Bulk: BulkBudget, Quota: QuotaAfter, OneTxQueue: true, BQL: true, Avail: 9000, Left: 1}, Packet{Len: 60}, make([]Packet, 9), 2, ReasonBudget},
		{"no BQL", Dequeue{Bulk: BulkBudget, Quota: QuotaAfter, OneTxQueue: true, Avail: 0, Left: 64}, Packet{Len: 60}, make([]Packet, 9), 1, ReasonNoBQL},
		{"shared qdisc", Dequeue{Bulk: BulkBudget, Quota: QuotaAfter, Avail: 0, Left: 64}, Packet{Len: 60}, make([]Packet, 20), 9, ReasonSlow},
		{"shared qdisc ignores the quota", Dequeue{Bulk: BulkBudget, Quota: QuotaAfter, BQL: true, Avail: -1, Left: 1}, Packet{Len: 60}, make([]Packet, 20), 9, ReasonSlow},
		{"shared qdisc, other queue", Dequeue{Bulk: BulkBudget, Quota: QuotaAfter, BQL: true, Avail: 0, Left: 64}, Packet{Len: 60}, []Packet{{}, {Queue: 3}, {}}, 2, ReasonSlow},
		{"shared qdisc, V5", Dequeue{Bulk: BulkCap7, Quota: QuotaRestarts, BQL: true, Avail: 9000, Left: 64}, Packet{Len: 60}, make([]Packet, 20), 1, ReasonBudget},
	}
	for _, c := range cases {
		asked := 0
		b, why, stray := c.d.Take(c.head, func() (Packet, bool) {
			asked++
			if asked > len(c.rest) {
				return Packet{}, false
			}
			return c.rest[asked-1], true
		})
		if b.N != c.n || why != c.why {
			t.Errorf("%s: took %d, ended by %s; want %d, %s", c.name, b.N, why, c.n, c.why)
		}
		if (stray != nil) != (c.name == "shared qdisc, other queue") {
			t.Errorf("%s: stray packet %v", c.name, stray)
		}
		// The qdisc is not asked once a bound is reached: what it gives is taken
		// or parked.
		given := b.N - 1
		if why == ReasonQdisc || stray != nil {
			given++
		}
		if asked != given {
			t.Errorf("%s: the qdisc was asked %d times, want %d", c.name, asked, given)
		}
	}
}

// Three dequeues of a 6.1 kernel with their avail.
func TestBulkMeasured(t *testing.T) {
	for _, c := range []struct {
		n     int
		avail int32
		why   Reason
	}{{13, 1938, ReasonQdisc}, {56, 7902, ReasonBytes}, {65, 15854, ReasonBudget}} {
		b := of(c.n, 142)
		if a, bound := fresh(0).Legal(b, exactly(c.avail)); a != Yes {
			t.Errorf("%+v of %d: legal %s, %s", b, c.avail, a, bound)
		}
		if why, a := fresh(0).Ended(b, exactly(c.avail), false); why != c.why || a != Yes {
			t.Errorf("%+v of %d: ended by %s, %s; want %s", b, c.avail, why, a, c.why)
		}
	}
}

func TestBulkLegal(t *testing.T) {
	bytes := fresh(0)
	bytes.Bulk = BulkBytes
	stop := fresh(0)
	stop.Quota = QuotaStop
	last := fresh(0)
	last.Left = 3
	nobql := fresh(0)
	nobql.BQL = false
	shared := fresh(0)
	shared.OneTxQueue = false
	none := fresh(0)
	none.Bulk = BulkNone
	sharedNoBQL, noneNoBQL := shared, none
	sharedNoBQL.BQL, noneNoBQL.BQL = false, false
	cases := []struct {
		name  string
		d     Dequeue
		b     Batch
		avail Range
		want  Answer
		bound Reason
	}{
		{"one is always legal", fresh(0), of(1, 64000), exactly(-9000), Yes, ""},
		{"asked for the last with one byte left", fresh(0), of(10, 100), exactly(901), Yes, ""},
		{"asked for the last with none left", fresh(0), of(10, 100), exactly(900), No, ReasonBytes},
		{"some of the interval allow it", fresh(0), of(10, 100), Range{900, 901}, Maybe, ReasonBytes},
		{"a negative avail", fresh(0), of(2, 100), exactly(-1), No, ReasonBytes},
		{"65", fresh(0), of(65, 100), exactly(90000), Yes, ""},
		{"66", fresh(0), of(66, 100), exactly(90000), No, ReasonBudget},
		{"66 without a bound of packets", bytes, of(66, 100), exactly(90000), Yes, ""},
		{"64 under the RFC", stop, of(64, 100), exactly(90000), Yes, ""},
		{"65 under the RFC", stop, of(65, 100), exactly(90000), No, ReasonBudget},
		{"4 with 3 left", last, of(4, 100), exactly(90000), Yes, ""},
		{"5 with 3 left", last, of(5, 100), exactly(90000), No, ReasonBudget},
		{"2 without BQL", nobql, of(2, 100), exactly(0), No, ReasonNoBQL},
		{"9 from a shared qdisc", shared, of(9, 64000), exactly(-1), Yes, ""},
		{"10 from a shared qdisc", shared, of(10, 60), exactly(90000), No, ReasonSlow},
		{"2 from a shared qdisc without BQL", sharedNoBQL, of(2, 60), exactly(0), Yes, ""},
		{"2 before bulking, without BQL", noneNoBQL, of(2, 60), exactly(0), No, ReasonBudget},
		{"2 before bulking", none, of(2, 60), exactly(90000), No, ReasonBudget},
	}
	for _, c := range cases {
		if a, bound := c.d.Legal(c.b, c.avail); a != c.want || bound != c.bound {
			t.Errorf("%s: %s, %s; want %s, %s", c.name, a, bound, c.want, c.bound)
		}
	}
}

func TestBulkEnded(t *testing.T) {
	bytes := fresh(0)
	bytes.Bulk = BulkBytes
	shared := fresh(0)
	shared.OneTxQueue = false
	cases := []struct {
		name  string
		d     Dequeue
		b     Batch
		avail Range
		more  bool
		why   Reason
		want  Answer
	}{
		{"both bounds at once", fresh(0), of(65, 100), exactly(6500), true, ReasonBytes, Yes},
		{"budget", fresh(0), of(65, 100), exactly(6501), true, ReasonBudget, Yes},
		{"bytes in part of the interval", fresh(0), of(30, 100), Range{3000, 3001}, false, ReasonBytes, Maybe},
		{"nothing left", fresh(0), of(30, 100), exactly(3001), false, ReasonQdisc, Yes},
		{"stopped for no reason", fresh(0), of(30, 100), exactly(3001), true, ReasonQdisc, No},
		{"65 refute the variant without a bound", bytes, of(65, 100), exactly(6501), true, ReasonQdisc, No},
		{"another queue's packet may be next", shared, of(3, 100), exactly(0), true, ReasonSlow, Maybe},
	}
	for _, c := range cases {
		if why, a := c.d.Ended(c.b, c.avail, c.more); why != c.why || a != c.want {
			t.Errorf("%s: %s, %s; want %s, %s", c.name, why, a, c.why, c.want)
		}
	}
}

// The checker's direction agrees with the kernel's: what Take gives is legal
// and ended as it says, and one packet more or less is not.
func TestBulkBothDirections(t *testing.T) {
	bulk, err := Lookup(SwitchBulk)
	if err != nil {
		t.Fatal(err)
	}
	rapid.Check(t, func(t *rapid.T) {
		d := Dequeue{
			Bulk:       rapid.SampledFrom(bulk.Variants).Draw(t, "bulk").Name,
			Quota:      rapid.SampledFrom([]Variant{QuotaRestarts, QuotaStop, QuotaAfter}).Draw(t, "quota"),
			OneTxQueue: rapid.Bool().Draw(t, "onetxqueue"),
			BQL:        true,
			Avail:      rapid.Int32Range(-3000, 200000).Draw(t, "avail"),
			Left:       rapid.IntRange(1, 64).Draw(t, "left"),
		}
		held := rapid.IntRange(0, 200).Draw(t, "held")
		lengths := rapid.SampledFrom([]uint32{60, 1514, 9014, 64000})
		b, why, _ := d.Take(Packet{Len: lengths.Draw(t, "length")}, func() (Packet, bool) {
			held--
			return Packet{Len: lengths.Draw(t, "length")}, held >= 0
		})
		if a, bound := d.Legal(b, exactly(d.Avail)); a != Yes {
			t.Fatalf("%+v: took %+v, legal %s, %s", d, b, a, bound)
		}
		ended, a := d.Ended(b, exactly(d.Avail), held > 0)
		if ended != why || a != Yes {
			t.Fatalf("%+v: took %+v, ended by %s, %s; want %s", d, b, ended, a, why)
		}
		if why == ReasonQdisc {
			if _, a := d.Ended(b, exactly(d.Avail), true); d.OneTxQueue && a != No {
				t.Fatalf("%+v: %+v with packets left is %s", d, b, a)
			}
			return
		}
		b.Add(60)
		if a, _ := d.Legal(b, exactly(d.Avail)); a != No {
			t.Fatalf("%+v: one more than taken, %+v, is legal: %s", d, b, a)
		}
	})
}

// V6 1/2 ends a batch with a GSO skb and takes nothing after a GSO head; 2/2
// counts them as one packet each.
func TestBulkGSOVariants(t *testing.T) {
	small := Packet{Len: 1514}
	cases := []struct {
		name       string
		list       []Packet
		stop, pass int
		stopWhy    Reason
	}{
		{"last", []Packet{small, small, gso(4), small, gso(4)}, 3, 5, ReasonGSO},
		{"head", []Packet{gso(4), small, small}, 1, 3, ReasonGSO},
		{"none", []Packet{small, small}, 2, 2, ReasonQdisc},
		{"bytes first", []Packet{small, gso(45), small}, 2, 2, ReasonBytes},
	}
	for _, c := range cases {
		for g, want := range map[Variant]int{BulkGSOStop: c.stop, BulkGSOPass: c.pass} {
			d := fresh(60000)
			d.Bulk, d.GSO = BulkBytes, g
			i := 0
			b, why, _ := d.Take(c.list[0], func() (Packet, bool) {
				i++
				if i == len(c.list) {
					return Packet{}, false
				}
				return c.list[i], true
			})
			if b.N != want || g == BulkGSOStop && why != c.stopWhy {
				t.Errorf("%s, %s: took %d, ended by %s; want %d, %s", c.name, g, b.N, why, want, c.stopWhy)
			}
		}
	}
	shared := fresh(0)
	shared.OneTxQueue, shared.GSO = false, BulkGSOStop
	if b, why, _ := shared.Take(gso(4), endless(60)); b.N != 9 || why != ReasonSlow {
		t.Errorf("shared qdisc: took %d, ended by %s; it is younger than that stop", b.N, why)
	}
}
