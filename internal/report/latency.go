// SPDX-License-Identifier: Apache-2.0

package report

import (
	"fmt"
	"math/bits"

	"github.com/txtrace/txtrace/internal/analysis"
)

// latencies prints where packets wait once the driver has them.
func latencies(p *printer, l *Latency) {
	if l == nil {
		return
	}
	p.times("in the qdisc", "packets", l.SojournNS)
	if s := l.Stamps; s != nil {
		p.field("  followed", fmt.Sprintf("one packet in %d: %s", s.OneIn, p.count(uint64(s.Given))),
			p.count(uint64(s.Gone))+" of them dropped", p.count(uint64(s.Replaced))+" given up for others")
	}
	p.times("in the driver", "packets", l.DriverNS)
	p.times("in the ring", "hand-overs", l.RingNS)
	p.field("  not known", unknown(p, l.Late, "completed unseen"), unknown(p, l.Lost, "lost"), unknown(p, l.Left, "not completed at the end"))
	p.times("oldest bytes", "completions", l.OldestNS)
}

func unknown(p *printer, n analysis.U64, what string) string {
	if n == 0 {
		return ""
	}
	return p.count(uint64(n)) + " " + what
}

// times prints a distribution of times, with a line for each power of two.
// Nothing is printed for nil.
func (p *printer) times(label, count string, t *analysis.Times) {
	if t == nil {
		return
	}
	p.field(label, p.quantiles(t), p.dist(&t.Dist, "ns"))
	var lines []labelled
	for _, b := range t.Bins {
		low := uint64(1) << max(bits.Len64(uint64(b.NS))-1, 0)
		if b.NS == 0 {
			low = 0
		}
		name := fmt.Sprint(low)
		if n := len(lines); n > 0 && lines[n-1].label == name {
			lines[n-1].count += uint64(b.Count)
			continue
		}
		lines = append(lines, labelled{name, uint64(b.Count)})
	}
	p.bars("ns, from", count, lines)
}

// quantiles in one clause.
func (t Text) quantiles(q *analysis.Times) string {
	return fmt.Sprintf("p50 %s, p99 %s, p99.9 %s ns", t.count(uint64(q.P50)), t.count(uint64(q.P99)), t.count(uint64(q.P999)))
}
