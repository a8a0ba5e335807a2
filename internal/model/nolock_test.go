// SPDX-License-Identifier: Apache-2.0

package model

import "testing"

// Where a CPU stands in sending to a lockless qdisc. Between two of these any
// other CPU may take steps.
type nolockAt uint8

const (
	atIdle   nolockAt = iota // nothing to do, or the softirq may come
	atTry                    // enqueued; the first try for the lock
	atMiss                   // found it running: MISSED
	atRetry                  // the second try
	atTake                   // owns it: dequeue
	atLook                   // found it empty: look at the flags
	atTake2                  // cleared them: dequeue once more
	atUnlock                 // leaves
	atCheck                  // left: MISSED?
)

// nolockState is two CPUs that send to one qdisc.
type nolockState struct {
	q      Lockless
	queued int
	left   int // of the quota of the run that is going on
	refuse int // packets that the driver will refuse
	cpu    [2]struct {
		at      nolockAt
		send    int // packets to enqueue yet
		softirq bool
	}
}

const nolockQuota = 2

// step takes one atomic step of a CPU; ok is false if it has none to take.
func (s nolockState) step(i int, nolock Variant) (next nolockState, ok bool) {
	c := &s.cpu[i]
	goes := func(yes bool, to, otherwise nolockAt) {
		if c.at = otherwise; yes {
			c.at = to
		}
	}
	take := func(otherwise nolockAt) {
		switch {
		case s.queued == 0:
			c.at = otherwise
			return
		case s.refuse > 0: // it goes back, and no sender will ask for it
			s.refuse--
			s.left = 0
		default:
			s.queued--
			s.left--
			c.at = atTake
		}
		if s.left > 0 {
			return
		}
		c.softirq = s.q.Again(nolock) || c.softirq
		c.at = atUnlock
		if nolock == NolockAbsent { // under the lock, with the requeue
			c.softirq = s.q.End(nolock) || c.softirq
			c.at = atIdle
		}
	}
	switch c.at {
	case atIdle:
		switch {
		case c.softirq:
			c.softirq = false
			goes(s.q.TxAction(), atTry, atIdle)
		case c.send > 0:
			c.send--
			s.queued++
			c.at = atTry
			if nolock == NolockAbsent { // the lock is held from the enqueue on
				goes(s.q.Begin(nolock), atTake, atIdle)
			}
		default:
			return s, false
		}
	case atTry:
		goes(s.q.TryLock(), atTake, atMiss)
		if c.at == atMiss && nolock != NolockMissed {
			c.at = atIdle
		}
	case atMiss:
		goes(s.q.Miss(), atIdle, atRetry)
	case atRetry:
		goes(s.q.TryLock(), atTake, atIdle)
	case atTake:
		if nolock == NolockAbsent && s.queued == 0 { // dequeue and end under one lock
			c.softirq = s.q.End(nolock) || c.softirq
			c.at = atIdle
			return s, true
		}
		take(atLook)
	case atLook:
		goes(nolock == NolockMissed && s.q.LookAgain(), atTake2, atUnlock)
	case atTake2:
		take(atUnlock)
	case atUnlock:
		s.q.Unlock()
		c.at = atCheck
	case atCheck:
		if nolock == NolockMissed && s.q.State&QdiscMissed != 0 {
			c.softirq = s.q.Schedule() || c.softirq
		}
		c.at = atIdle
	}
	if c.at == atTake && s.left <= 0 {
		s.left = nolockQuota
	}
	return s, true
}

// All interleavings of two CPUs that send two packets each, with a quota of
// two and a driver that refuses the first: no packet is forgotten, but for the
// years before MISSED.
func TestNolockVariants(t *testing.T) {
	for nolock, forgets := range map[Variant]bool{NolockAbsent: false, NolockRacy: true, NolockMissed: false} {
		var start nolockState
		start.cpu[0].send, start.cpu[1].send, start.refuse = 2, 2, 1
		seen := map[nolockState]bool{start: true}
		stuck, ends := 0, 0
		for todo := []nolockState{start}; len(todo) > 0; {
			s := todo[len(todo)-1]
			todo = todo[:len(todo)-1]
			idle := true
			for i := range s.cpu {
				next, ok := s.step(i, nolock)
				idle = idle && !ok
				if ok && !seen[next] {
					seen[next] = true
					todo = append(todo, next)
				}
			}
			if owners := ownersOf(s); owners > 1 {
				t.Fatalf("%s: two CPUs run the qdisc: %+v", nolock, s)
			}
			if !idle {
				continue
			}
			ends++
			if s.queued > 0 {
				stuck++
			}
			if s.q.Locked || s.q.State&QdiscSched != 0 {
				t.Errorf("%s: left running or scheduled: %+v", nolock, s)
			}
		}
		t.Logf("%s: %d states, %d ends, %d with a packet forgotten", nolock, len(seen), ends, stuck)
		if ends == 0 || (stuck > 0) != forgets {
			t.Errorf("%s: %d of %d ends leave a packet behind, want any: %t", nolock, stuck, ends, forgets)
		}
	}
}

// ownersOf counts the CPUs that run the qdisc (rule N6).
func ownersOf(s nolockState) (n int) {
	for _, c := range s.cpu {
		switch c.at {
		case atTake, atLook, atTake2, atUnlock:
			n++
		}
	}
	return n
}

// Begin and End are those steps at once.
func TestNolockBegin(t *testing.T) {
	for _, c := range []struct {
		nolock Variant
		q      Lockless
		runs   bool
		state  QdiscState
	}{
		{NolockMissed, Lockless{}, true, 0},
		{NolockMissed, Lockless{Locked: true}, false, QdiscMissed},
		{NolockMissed, Lockless{true, QdiscMissed}, false, QdiscMissed},
		{NolockRacy, Lockless{Locked: true}, false, 0},
		{NolockRacy, Lockless{}, true, 0},
		{NolockAbsent, Lockless{Locked: true}, false, 0},
	} {
		q := c.q
		if runs := q.Begin(c.nolock); runs != c.runs || !q.Locked || q.State != c.state {
			t.Errorf("%s, %+v: runs %t, %+v; want %t, state %b", c.nolock, c.q, runs, q, c.runs, c.state)
		}
	}
	for _, c := range []struct {
		nolock Variant
		state  QdiscState
		here   bool
	}{
		{NolockMissed, 0, false},
		{NolockMissed, QdiscMissed, true},
		{NolockMissed, QdiscMissed | QdiscSched, false},
		{NolockMissed, QdiscDraining, false},
		{NolockRacy, QdiscMissed, false},
	} {
		q := Lockless{true, c.state}
		if here := q.End(c.nolock); here != c.here || q.Locked || here && q.State&QdiscSched == 0 {
			t.Errorf("%s, state %b: schedules here %t, %+v; want %t", c.nolock, c.state, here, q, c.here)
		}
	}
}

// Only the first to find it running has to try once more, and what is left of a
// run is for its end to schedule.
func TestNolockFlags(t *testing.T) {
	var q Lockless
	if q.Miss() || !q.Miss() || q.State != QdiscMissed {
		t.Errorf("MISSED, set twice: %+v", q)
	}
	for nolock, here := range map[Variant]bool{NolockMissed: false, NolockRacy: true, NolockAbsent: true} {
		q := Lockless{Locked: true}
		if q.Again(nolock) != here || q.Again(nolock) {
			t.Errorf("%s: a run with more to send schedules the qdisc at once, or twice", nolock)
		}
		if q.End(nolock) == here || q.State&QdiscSched == 0 {
			t.Errorf("%s: it is not scheduled once in all: %+v", nolock, q)
		}
	}
}

func TestNolockStopped(t *testing.T) {
	for still, want := range map[bool]QdiscState{true: QdiscDraining, false: QdiscMissed} {
		q := Lockless{State: QdiscMissed}
		q.Stopped(func() bool {
			if q.State != 0 {
				t.Errorf("looked with %b set: a wake-up that sets MISSED before would be lost", q.State)
			}
			return still
		})
		if q.State != want || q.Empty() {
			t.Errorf("still stopped %t: state %b, want %b", still, q.State, want)
		}
		if !q.LookAgain() || !q.Empty() || q.LookAgain() {
			t.Errorf("still stopped %t: a dequeue does not look again exactly once", still)
		}
	}
	q := Lockless{State: QdiscSched | QdiscDeactivated}
	if q.TxAction() || q.State != QdiscDeactivated {
		t.Errorf("a deactivated qdisc is run, or stays scheduled: %+v", q)
	}
}
