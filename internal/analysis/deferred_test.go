// SPDX-License-Identifier: Apache-2.0

package analysis

import (
	"testing"

	"github.com/txtrace/txtrace/internal/event"
)

// TestDeferred: packets wait for a doorbell until one is owed, over hand-overs
// too; a counted send rings for all.
func TestDeferred(t *testing.T) {
	hand := func(taken, busy, owed uint32) *Handover {
		return &Handover{Queue: &Queue{Device: &Device{}}, Handover: event.Handover{Hand: event.Hand{
			Packets: taken + busy, Rest: busy, Attempts: taken + busy, Busy: busy, OwedAny: owed, OwedDrv: owed,
		}}}
	}
	partial := hand(7, 1, 0)
	partial.Flags = event.FlagPartial
	quiet := &Quiet{Queue: &Queue{Device: &Device{}}}
	quiet.Packets = 3
	for _, c := range []struct {
		name string
		do   func(*queueMeter)
		most uint32
		left U64
	}{
		{"one packet", func(m *queueMeter) { m.handover(hand(1, 0, 1)) }, 0, 0},
		{"a list", func(m *queueMeter) { m.handover(hand(64, 0, 1)) }, 63, 0},
		{"rung in the middle, too", func(m *queueMeter) { m.handover(hand(64, 0, 2)) }, 62, 0},
		{"refused at once", func(m *queueMeter) { m.handover(hand(0, 1, 0)) }, 0, 0},
		{"refused later", func(m *queueMeter) { m.handover(hand(5, 1, 0)) }, 5, 1},
		{"refused twice, then taken", func(m *queueMeter) {
			m.handover(hand(5, 1, 0))
			m.handover(hand(3, 1, 0))
			m.handover(hand(2, 0, 1))
		}, 9, 2},
		{"then counted", func(m *queueMeter) { m.handover(hand(5, 1, 0)); m.quiet(quiet); m.handover(hand(3, 0, 1)) }, 5, 1},
		{"not seen from its begin", func(m *queueMeter) { m.handover(partial); m.handover(hand(2, 0, 1)) }, 1, 0},
	} {
		m := new(queueMeter)
		c.do(m)
		if h := &m.handovers; h.Deferred != c.most || h.LeftOwing != c.left {
			t.Errorf("%s: %d waited, %d left, want %d and %d", c.name, h.Deferred, h.LeftOwing, c.most, c.left)
		}
	}
}
