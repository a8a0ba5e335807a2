// SPDX-License-Identifier: Apache-2.0

package rules

import (
	"strings"
	"testing"

	"github.com/txtrace/txtrace/internal/event"
)

// Where a rule has more than one way to be broken, its evidence says which.
func TestSays(t *testing.T) {
	for _, c := range []struct {
		rule, variant string
		build         func(*trace)
		says          string
	}{
		{"D2", "bulk=cap7", batch(9, 0, sent{}, nil), "9 packets with a quota of 64 left: more than bulk=cap7"},
		{"D3", "latest", func(t *trace) { t.shared(); tooLong(last[event.Dequeue](t, 0), 10); last[event.Run](t, 0).Packets = 10 }, "10 packets, nine is the most"},
		{"D3", "latest", func(t *trace) { t.shared(); last[event.Dequeue](t, 0).Flags |= event.FlagMixed }, "for more than one queue"},
		{"Q3", "latest", held(2_000_000_000, nil), "has kept queue 2 for 2000 ms"},
		{"Q3", "pick-cache=forever", picked(func(p *event.Pick) { aged(p, 251, 250) }), "queue 2 was renewed, after 251 jiffies"},
		{"Q3", "latest", picked(func(p *event.Pick) { aged(p, 250, 250) }), "was given it anew"},
		{"Q3", "latest", picked(func(p *event.Pick) { p.Before, p.Wmem = 1, 9001+p.Truesize }), "a socket of queue 1 was given queue 2 and keeps 2, with ooo_okay=0 and 9000 bytes in flight"},
		{"Q3", "latest", picked(func(p *event.Pick) { p.Route = 0 }), "can keep no queue had -1, was given 2 and keeps 2"},
		{"Q3", "latest", picked(func(p *event.Pick) { p.After = event.NoQueue }), "chosen anew (new), and keeps -1"},
		{"D4", "quota=stop", batch(65, 0, sent{}, nil), "went past the quota"},
		{"D4", "quota=restarts", batch(65, 0, sent{}, nil), "scheduled the qdisc again"},
		{"D4", "latest", restarted, "left the qdisc unscheduled"},
		{"D4", "latest", func(t *trace) {
			r := t.run()
			r.dequeue(64, 142, 10)
			r.send(sent{})
			r.dequeue(1, 142, 8)
			r.send(sent{})
			r.end()
		}, "64 of them before its last restart"},
		{"D5", "latest", requeued(func(_ *event.Dequeue, d *event.Direct) { d.Validate = 1 }), "was validated again"},
		{"D5", "latest", requeued(func(q *event.Dequeue, _ *event.Direct) { q.Walked = 2 }), "impossible under requeue=head"},
		{"B13", "latest", func(t *trace) {
			t.dql.NumQueued = 2000
			t.snapshot()
			t.steady(3, drift)
		}, "a write of 65539 to limit would explain it"},
		{"X6", "latest", putBack(func(d *event.Direct) {}), "does not begin with what was left, with 0 packets parked"},
		{"X6", "requeue=tail", twiceParked, "begins with what was left, with 2 packets parked before (requeue=tail)"},
	} {
		tr := newTrace()
		c.build(tr)
		r := ruling(t, tr.analyze(t, c.variant, nil), c.rule)
		if len(r.Evidence) == 0 || !strings.Contains(r.Evidence[0].Says, c.says) {
			t.Errorf("%s under %s: %+v, want %q", c.rule, c.variant, r.Evidence, c.says)
		}
	}
}

// twiceParked puts the first of three parked packets back to the head.
func twiceParked(t *trace) {
	t.head = true
	batch(5, 0, sent{n: 5, rest: 3, stop: event.DrvXoff}, nil)(t)
	t.state = 0
	r := t.run()
	r.fromGSO(142)
	r.send(sent{n: 1, stopped: true})
	r.end()
	t.drain(5)
}
