// SPDX-License-Identifier: Apache-2.0

package analysis

import (
	"reflect"
	"testing"

	"pgregory.net/rapid"

	"github.com/txtrace/txtrace/internal/event"
	"github.com/txtrace/txtrace/internal/model"
)

// handed is a hand-over of the bytes between two positions, over at a time.
func handed(from, to uint32, time uint64) *Handover {
	h := &Handover{}
	h.Time, h.NumQueuedBegin, h.NumQueuedEnd, h.AdjLimitEnd = time, from, to, 1
	return h
}

// completedTo is a completion that the completing code itself told of.
func completedTo(at uint32, time uint64) *Completion {
	c := &Completion{}
	c.Time, c.NumCompleted, c.Source = time, at, event.SourceNAPI
	return c
}

func newRing() ringMeter { return ringMeter{gaps: &gaps{}, give: func(Ring) {}} }

func TestRing(t *testing.T) {
	base := uint32(1<<32 - 1000) // positions wrap
	for name, c := range map[string]struct {
		do           func(m *ringMeter)
		ring, oldest []uint64
		late, lost   U64
		left         U64
	}{
		"one completion for two": {
			do: func(m *ringMeter) {
				m.handover(handed(base, base+600, 10))
				m.handover(handed(base+600, base+1200, 30))
				m.completion(completedTo(base+1200, 100))
			},
			ring: []uint64{90, 70}, oldest: []uint64{90},
		},
		"a part first": {
			do: func(m *ringMeter) {
				m.handover(handed(base, base+1200, 10))
				m.completion(completedTo(base+600, 50))
				m.completion(completedTo(base+1200, 100))
			},
			ring: []uint64{90}, oldest: []uint64{40, 90},
		},
		"told of after its completion": {
			do: func(m *ringMeter) {
				m.completion(completedTo(base+600, 50))
				m.completion(completedTo(base+1200, 100))
				m.completion(completedTo(base+1800, 150))
				m.handover(handed(base, base+1200, 10))
			},
			ring: []uint64{90}, oldest: []uint64{40, 90},
		},
		"completed before it was over": {
			do: func(m *ringMeter) {
				m.handover(handed(base, base+600, 60))
				m.completion(completedTo(base+600, 50))
			},
			ring: []uint64{0},
		},
		"noticed by another": {
			do: func(m *ringMeter) {
				m.handover(handed(base, base+600, 10))
				c := completedTo(base+600, 50)
				c.Source = event.SourceSnapshot
				m.completion(c)
			},
			late: 1,
		},
		"records missing": {
			do: func(m *ringMeter) {
				m.gaps.add(Span{20, 30})
				m.handover(handed(base, base+600, 10))
				m.completion(completedTo(base+600, 50))
				m.handover(handed(base+600, base+700, 60))
				m.completion(completedTo(base+700, 70))
			},
			ring: []uint64{10}, oldest: []uint64{40, 10}, lost: 1,
		},
		"reset": {
			do: func(m *ringMeter) {
				m.handover(handed(5000, 5600, 10))
				c := completedTo(0, 50)
				c.Step.Outcome = model.OutcomeReset
				m.completion(c)
				m.handover(handed(0, 600, 60))
			},
			lost: 1, left: 1,
		},
		"torn": {
			do: func(m *ringMeter) {
				m.handover(handed(base, base+600, 10))
				c := completedTo(base+600, 50)
				c.Flags = event.FlagTorn
				m.completion(c)
			},
			left: 1,
		},
		"nothing charged": {
			do: func(m *ringMeter) {
				m.handover(handed(base, base, 10))
			},
		},
		"forgotten": {
			do: func(m *ringMeter) {
				for i := range uint32(2*pastCompletions + 1) {
					m.completion(completedTo(base+i, uint64(i)))
				}
				m.handover(handed(base, base+pastCompletions+1, 10))
				m.handover(handed(base, base+pastCompletions-1, 10))
			},
			ring: []uint64{pastCompletions + 1 - 10}, oldest: []uint64{pastCompletions - 10, pastCompletions + 1 - 10}, lost: 1,
		},
	} {
		m := newRing()
		c.do(&m)
		want := LatencyReport{RingNS: timesOf(c.ring), OldestNS: timesOf(c.oldest), Late: c.late, Lost: c.lost, Left: c.left}
		if got := m.report(); !reflect.DeepEqual(got, want) {
			t.Errorf("%s: %+v, want %+v", name, got, want)
		}
	}
}

func timesOf(all []uint64) Times {
	var t times
	for _, ns := range all {
		t.add(ns)
	}
	return t.report()
}

// A hand-over is told of when its run is over, some completions later: that
// makes no difference.
func TestRingOrder(t *testing.T) {
	rapid.Check(t, func(d *rapid.T) {
		type happening struct {
			h *Handover
			c *Completion
		}
		var all []happening
		sent, done := uint32(rapid.Uint32().Draw(d, "base")), uint32(0)
		done = sent
		for now := range uint64(rapid.IntRange(1, 100).Draw(d, "n")) {
			if rapid.Bool().Draw(d, "send") {
				n := rapid.Uint32Range(1, 5000).Draw(d, "bytes")
				all = append(all, happening{h: handed(sent, sent+n, now)})
				sent += n
			} else if sent != done {
				done += rapid.Uint32Range(1, sent-done).Draw(d, "of")
				all = append(all, happening{c: completedTo(done, now)})
			}
		}
		give := func(m *ringMeter, x happening) {
			if x.h != nil {
				m.handover(x.h)
			} else {
				m.completion(x.c)
			}
		}
		inOrder, late := newRing(), newRing()
		var held []happening
		for _, x := range all {
			give(&inOrder, x)
			if held = append(held, x); x.c != nil {
				give(&late, x)
				held = held[:len(held)-1]
			}
			if rapid.IntRange(0, 3).Draw(d, "end of run") == 0 {
				for _, x := range held {
					give(&late, x)
				}
				held = held[:0]
			}
		}
		for _, x := range held {
			give(&late, x)
		}
		got, want := late.report(), inOrder.report()
		if !reflect.DeepEqual(got, want) {
			d.Fatalf("late %+v\nin order %+v", got, want)
		}
	})
}
