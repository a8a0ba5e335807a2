// SPDX-License-Identifier: Apache-2.0

package model

import "testing"

// The rules of the series on batched receive, by its own variant: skbs of
// drivers on napi_gro_frags that GRO could not merge.

const batch002 = 8 // "net.core.gro_normal_batch was left at its default value of 8"

// frags adds n skbs to a list and returns what went up meanwhile.
func frags(l *RxList, n int) (up []Delivery) {
	for range n {
		if d, ok := l.Add(GROBatchFrags, batch002, RxSkb{Segments: 1, Frags: true}); ok {
			up = append(up, d)
		}
	}
	return up
}

// "received at the end of the napi poll or when its length exceeds the (new)
// sysctl": the code sends it up when it is reached, at 8 and not at 9.
func TestSeed002_Batch8(t *testing.T) {
	var l RxList
	if up := frags(&l, 7); up != nil || l.Skbs != 7 {
		t.Errorf("7 skbs: %v went up", up)
	}
	up := frags(&l, 1)
	t.Logf("8 skbs: %+v", up)
	if len(up) != 1 || up[0] != (Delivery{8, 8, FlushThreshold}) || l.Skbs != 0 {
		t.Errorf("8 skbs: %+v, %d left; want all", up, l.Skbs)
	}
}

// A poll of 20 gives 8, 8 and, at its end, 4, whether it used its budget or
// completed.
func TestSeed002_PollEnd(t *testing.T) {
	for name, end := range map[string]func(*RxList) (Delivery, bool){
		"completed":    func(l *RxList) (Delivery, bool) { return l.Complete(false) },
		"whole budget": func(l *RxList) (Delivery, bool) { return l.Polled(true) },
	} {
		var l RxList
		sizes := frags(&l, 20)
		d, ok := end(&l)
		t.Logf("%s: %+v, then %+v", name, sizes, d)
		if len(sizes) != 2 || !ok || d.Skbs != 4 || l.Skbs != 0 {
			t.Errorf("%s: %+v, then %+v, %d left; want 8, 8, 4", name, sizes, d, l.Skbs)
		}
	}
}

// "During busy poll, call gro_normal_list() to receive batched packets after
// each cycle of the napi busy loop": the driver's completion leaves them alone,
// which the poll's end of an interrupt would not.
func TestSeed002_BusyPollCycle(t *testing.T) {
	var l RxList
	for cycle := range 3 {
		up := frags(&l, 5)
		if _, ok := l.Complete(true); ok {
			t.Errorf("cycle %d: the driver's completion sent the list up", cycle)
		}
		d, ok := l.BusyCycle()
		t.Logf("cycle %d: %+v", cycle, d)
		if up != nil || !ok || d != (Delivery{5, 5, FlushBusy}) {
			t.Errorf("cycle %d: %+v, then %+v; want all 5 at its end", cycle, up, d)
		}
	}
}

// "complications of doing the same in busy_poll_stop()": its poll may have
// completed, so that the list is another CPU's. With the whole budget used it
// is still the caller's, and goes up.
func TestSeed002_NotInBusyPollStop(t *testing.T) {
	var l RxList
	frags(&l, 5)
	if d, ok := l.BusyStop(false); ok || l.Skbs != 5 {
		t.Errorf("busy_poll_stop sent %+v up", d)
	}
	t.Logf("busy_poll_stop: %d stay", l.Skbs)
	if d, ok := l.BusyStop(true); !ok || d != (Delivery{5, 5, FlushBusyStop}) {
		t.Errorf("busy_poll_stop after a whole budget: %+v, %t; want all up", d, ok)
	}
}

// "is there a reason this change targets only the napi_gro_frags() path": other
// drivers' skbs went up one by one, until 5.5.
func TestSeed002_FragsOnly(t *testing.T) {
	for unit, want := range map[Variant]int{GROBatchFrags: 16, GROBatchSkbs: 2, GROBatchSegs: 2} {
		var l RxList
		lists := 0
		for range 16 {
			if _, ok := l.Add(unit, batch002, RxSkb{Segments: 1}); ok {
				lists++
			}
		}
		t.Logf("%s: 16 skbs of napi_gro_receive in %d lists", unit, lists)
		if lists != want {
			t.Errorf("%s: %d lists, want %d", unit, lists, want)
		}
	}
}
