// SPDX-License-Identifier: Apache-2.0

package model

import (
	"testing"

	"pgregory.net/rapid"
)

func TestQuotaEmptied(t *testing.T) {
	packets := []int{3, 5, 0}
	got := Quota{Charge: QuotaAfter, Weight: 64}.Run(func(left int) Restart {
		n := packets[0]
		packets = packets[1:]
		return Restart{Packets: n, Again: n > 0}
	})
	if want := (Run{Restarts: 3, Packets: 8}); got != want {
		t.Errorf("%+v, want %+v", got, want)
	}
}

// Whatever the batches, a run obeys the rule it is checked by, and today's is
// bounded: W+1 packets for one queue, W+8 for a shared qdisc.
func TestQuotaBounds(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		weight := rapid.IntRange(1, 100).Draw(t, "weight")
		d := Dequeue{
			Bulk:       rapid.SampledFrom([]Variant{BulkBytes, BulkBudget}).Draw(t, "bulk"),
			Quota:      rapid.SampledFrom([]Variant{QuotaRestarts, QuotaStop, QuotaAfter}).Draw(t, "quota"),
			OneTxQueue: rapid.Bool().Draw(t, "onetxqueue"),
			BQL:        true,
		}
		restarts, packets, batch := 0, 0, 0
		r := Quota{Charge: d.Quota, Weight: weight}.Run(func(left int) Restart {
			restarts, packets = restarts+1, packets+batch
			if !LegalRun(d.Quota, weight, restarts-1, packets) {
				t.Fatalf("%s: restart %d after %d packets is not legal", d.Quota, restarts, packets)
			}
			d.Left, d.Avail = left, rapid.Int32Range(-100, 20000).Draw(t, "avail")
			b, _, _ := d.Take(Packet{Len: 60}, endless(60))
			batch = b.N
			return Restart{Packets: batch, Again: true}
		})
		if r.Restarts != restarts || r.Packets != packets+batch || !r.Spent {
			t.Fatalf("%+v, want %d restarts, %d packets", r, restarts, packets+batch)
		}
		if LegalRun(d.Quota, weight, r.Restarts, r.Packets) {
			t.Fatalf("%+v: one restart more is legal", r)
		}
		most := weight + 8
		switch {
		case d.Quota == QuotaRestarts || d.OneTxQueue && d.Bulk == BulkBytes && d.Quota == QuotaAfter:
			return // not bounded by the quota
		case d.OneTxQueue && d.Quota == QuotaStop:
			most = weight
		case d.OneTxQueue:
			most = weight + 1
		}
		if r.Packets > most {
			t.Fatalf("%+v: more than %d packets", r, most)
		}
	})
}

// A waiting task ends a run up to 5.4, after the restart and only if the quota
// did not.
func TestReschedVariants(t *testing.T) {
	for resched, want := range map[Variant]Run{
		ReschedYes: {Restarts: 3, Packets: 30, Yielded: true},
		ReschedNo:  {Restarts: 7, Packets: 70, Spent: true},
	} {
		n := 0
		got := Quota{Charge: QuotaAfter, Weight: 64, Resched: resched}.Run(func(int) Restart {
			n++
			return Restart{Packets: 10, Again: true, NeedResched: n >= 3}
		})
		if got != want {
			t.Errorf("%s: %+v, want %+v", resched, got, want)
		}
	}
	got := Quota{Charge: QuotaAfter, Weight: 64, Resched: ReschedYes}.Run(func(int) Restart {
		return Restart{Packets: 64, Again: true, NeedResched: true}
	})
	if want := (Run{Restarts: 1, Packets: 64, Spent: true}); got != want {
		t.Errorf("both at once: %+v, want %+v", got, want)
	}
	got = Quota{Charge: QuotaAfter, Weight: 64, Resched: ReschedYes}.Run(func(int) Restart {
		return Restart{Packets: 3, NeedResched: true}
	})
	if want := (Run{Restarts: 1, Packets: 3}); got != want {
		t.Errorf("nothing more to send: %+v, want %+v", got, want)
	}
}
