// SPDX-License-Identifier: Apache-2.0

package rules

import (
	"github.com/txtrace/txtrace/internal/analysis"
	"github.com/txtrace/txtrace/internal/event"
)

// steer sends a packet, whose queue a filter set, to a queue of a device of four.
func (t *trace) steer(wanted, index uint16) *event.Steer {
	s := &event.Steer{Index: uint32(index), QueuesBegin: 4, QueuesEnd: 4, Wanted: wanted}
	was := t.txq
	t.txq = index
	t.put(s, 0)
	t.txq = was
	return s
}

func init() {
	spoils["Q7"] = []spoiled{
		{spoil: func(t *trace) { t.steer(1, 2) }},
		{spoil: func(t *trace) { first[event.Steer](t).Index++ }},
	}
	cases = append(cases, steerCases...)
}

var steerCases = []judged{
	{rule: "Q7", name: "none set", build: picked(nil)},
	{rule: "Q7", name: "the last", build: func(t *trace) { t.steer(3, 3) }, want: counts{1, 0, 0, 0, 0}},
	{rule: "Q7", name: "another", build: func(t *trace) { t.steer(3, 2) }, want: counts{0, 1, 0, 0, 0}},
	{rule: "Q7", name: "one too many", build: func(t *trace) { t.steer(4, 0) }, want: counts{1, 0, 0, 0, 0}},
	{rule: "Q7", name: "one too many, capped to the last", build: func(t *trace) { t.steer(4, 3) }, want: counts{0, 1, 0, 0, 0}},
	{rule: "Q7", name: "queues went", build: func(t *trace) { t.steer(4, 0).QueuesBegin = 8 }, want: counts{1, 0, 0, 0, 0}},
	{rule: "Q7", name: "one too many, while queues went", build: func(t *trace) { t.steer(4, 4).QueuesBegin = 8 }, want: counts{0, 0, 0, 0, 1}, reason: analysis.Changed},
}
