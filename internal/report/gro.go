// SPDX-License-Identifier: Apache-2.0

package report

import (
	"fmt"

	"github.com/txtrace/txtrace/internal/analysis"
)

// gro prints how received packets of a device went up.
func gro(p *printer, r *analysis.GROReport) {
	p.heading("%s, batched receive%s", deviceName(r.Ifname, r.Ifindex), lifeOf(r.Netns, r.Generation))
	p.field("lists", fmt.Sprintf("%s of %s, %s and %s", p.count(uint64(r.Lists)), p.counted(uint64(r.Skbs), "skb", "skbs"),
		p.counted(uint64(r.Segs), "segment", "segments"), p.counted(uint64(r.Bytes), "byte", "bytes")),
		fmt.Sprintf("mean %s skbs", ratio(uint64(r.Skbs), uint64(r.Lists))))
	p.field("batch", "gro_normal_batch "+span(r.BatchMin, r.BatchMax))
	p.field("went up by", p.each(r.Why)...)
	p.histogram("skbs", "lists", r.Size)
	p.histogramTo(r.BatchMax, "counted", "lists", r.Count)
	parts(p, "queue", r.Queues)
	parts(p, "CPU", r.CPUs)
}

func parts(p *printer, of string, ps []analysis.GROPart) {
	p.line("  %-10s %12s %12s %18s", of, "lists", "skbs", "bytes")
	for _, q := range ps {
		name := fmt.Sprint(q.N)
		if q.N == noQueue {
			name = "none"
		}
		p.line("  %-10s %12s %12s %18s", name, p.count(uint64(q.Lists)), p.count(uint64(q.Skbs)), p.count(uint64(q.Bytes)))
	}
}
