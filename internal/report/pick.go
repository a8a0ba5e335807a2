// SPDX-License-Identifier: Apache-2.0

package report

import (
	"fmt"

	"github.com/txtrace/txtrace/internal/analysis"
)

// picks prints how the queues of a device were chosen.
func picks(p *printer, r *analysis.PickReport) {
	p.heading("%s, choice of queue%s", deviceName(r.Ifname, r.Ifindex), lifeOf(r.Netns, r.Generation))
	p.field("picks", p.count(uint64(r.Picks))+" of "+p.counted(uint64(r.Bytes), "byte", "bytes"))
	p.field("  why", p.each(r.Why)...)
	p.field("  chosen by", p.each(r.By)...)
	if r.Moves == 0 {
		p.field("moves", "no socket's queue became another one")
	} else {
		flight := p.count(uint64(r.MovesInFlight)) + " with bytes in flight"
		if r.MovesInFlight > 0 {
			flight += fmt.Sprintf(" (%s)", p.dist(&r.InFlight, "bytes"))
		}
		p.field("moves", p.count(uint64(r.Moves)), flight)
	}
	p.field("flows", fmt.Sprintf("%s, at most %s on a queue, mean %.1f", p.count(uint64(r.Flows.Sum)), p.count(uint64(r.Flows.Max)), r.Flows.Mean))
	p.field("bytes", fmt.Sprintf("at most %s on a queue, mean %.1f: max/mean %s", p.count(uint64(r.QueueBytes.Max)), r.QueueBytes.Mean, unevenness(r.QueueBytes)))
	p.line("  %-10s %12s %18s %12s", "queue", "picks", "bytes", "flows")
	for _, q := range r.Queues {
		p.line("  %-10d %12s %18s %12s", q.Txq, p.count(uint64(q.Picks)), p.count(uint64(q.Bytes)), p.count(uint64(q.Flows)))
	}
}

func unevenness(s analysis.Spread) string {
	if s.Mean == 0 {
		return "-"
	}
	return fmt.Sprintf("%.2f", float64(s.Max)/s.Mean)
}
