// SPDX-License-Identifier: Apache-2.0

package model

import (
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// Three skbs come back; the first of them is taken out and comes back again.
func TestRequeueVariants(t *testing.T) {
	want := map[Variant]struct {
		first, again [][]string
		requeues     int
	}{
		RequeueWhole: {[][]string{{"a", "b", "c"}}, [][]string{{"a", "b", "c"}}, 1},
		RequeueTail:  {[][]string{{"a"}, {"b"}, {"c"}}, [][]string{{"b"}, {"c"}, {"a"}}, 3},
		RequeueHead:  {[][]string{{"a"}, {"b"}, {"c"}}, [][]string{{"a"}, {"b"}, {"c"}}, 3},
	}
	equal := func(a, b [][]string) bool { return slices.EqualFunc(a, b, slices.Equal) }
	for requeue, want := range want {
		first := Requeue(requeue, nil, []string{"a", "b", "c"})
		if !equal(first, want.first) {
			t.Errorf("%s: first requeue gives %v, want %v", requeue, first, want.first)
		}
		if again := Requeue(requeue, first[1:], first[0]); !equal(again, want.again) {
			t.Errorf("%s: second requeue gives %v, want %v", requeue, again, want.again)
		}
		if n := Requeues(requeue, 3); n != want.requeues || n != len(first) {
			t.Errorf("%s: counts %d requeues of %d entries, want %d", requeue, n, len(first), want.requeues)
		}
		if LegalFromGSOSkb(requeue, 3) != (requeue == RequeueWhole) || !LegalFromGSOSkb(requeue, 1) || LegalFromGSOSkb(requeue, 0) {
			t.Errorf("%s: what a dequeue from gso_skb may give is wrong", requeue)
		}
	}
}

// Nothing is lost, doubled or turned round within what comes back, and only
// RequeueTail lets parked packets overtake.
func TestRequeueConserves(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		requeue := rapid.SampledFrom([]Variant{RequeueWhole, RequeueTail, RequeueHead}).Draw(t, "requeue")
		next := 0
		take := func(n int) (list []int) {
			for range n {
				list = append(list, next)
				next++
			}
			return list
		}
		parked := Requeue(requeue, nil, take(rapid.IntRange(0, 9).Draw(t, "first")))
		for range rapid.IntRange(0, 9).Draw(t, "rounds") {
			if len(parked) == 0 {
				parked = Requeue(requeue, parked, take(rapid.IntRange(0, 9).Draw(t, "fresh")))
				continue
			}
			list := parked[0]
			sent := rapid.IntRange(0, len(list)).Draw(t, "sent")
			parked = Requeue(requeue, parked[1:], list[sent:])
			for _, p := range slices.Concat(parked...) {
				if slices.Contains(list[:sent], p) {
					t.Fatalf("%s: sent packet %d is parked", requeue, p)
				}
			}
		}
		flat := slices.Concat(parked...)
		if requeue != RequeueTail && !slices.IsSorted(flat) {
			t.Fatalf("%s: out of order: %v", requeue, flat)
		}
		slices.Sort(flat)
		if len(slices.Compact(flat)) != len(flat) {
			t.Fatalf("%s: doubled: %v", requeue, flat)
		}
	})
}
