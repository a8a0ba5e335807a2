// SPDX-License-Identifier: Apache-2.0

package report

import (
	"fmt"
	"math/bits"
	"slices"
	"strings"

	"github.com/txtrace/txtrace/internal/analysis"
)

// maxSingle is the largest size with a line of its own: one more than the
// default quota, which is the largest batch that a bound of 1 + quota allows.
const maxSingle = 65

// row is one line of a histogram: sizes from low to high.
type row struct {
	low, high uint32
	count     uint64
}

// rows puts bins in lines: each size up to single has its own, larger ones
// go by powers of two. Lines without a count between others are folded into
// one; there are none before the first or behind the last.
func rows(bins []analysis.Count, single uint32) []row {
	var rs []row
	bins = slices.Clone(bins)
	slices.SortFunc(bins, func(a, b analysis.Count) int { return int(int64(a.N) - int64(b.N)) })
	for _, b := range bins {
		if b.Count == 0 {
			continue
		}
		low, high := b.N, b.N
		if b.N > single {
			width := bits.Len32(b.N)
			low, high = max(uint32(1)<<(width-1), single+1), uint32(1)<<width-1
		}
		if n := len(rs); n > 0 && rs[n-1].low == low {
			rs[n-1].count += uint64(b.Count)
			continue
		}
		if n := len(rs); n > 0 && rs[n-1].high+1 < low {
			rs = append(rs, row{rs[n-1].high + 1, low - 1, 0})
		}
		rs = append(rs, row{low, high, uint64(b.Count)})
	}
	return rs
}

// histogram prints sizes with bars.
func (p *printer) histogram(size, count string, bins []analysis.Count) {
	p.histogramTo(maxSingle, size, count, bins)
}

// histogramTo does, with a line for each size up to single.
func (p *printer) histogramTo(single uint32, size, count string, bins []analysis.Count) {
	var lines []labelled
	for _, r := range rows(bins, single) {
		label := fmt.Sprint(r.low)
		if r.high > r.low {
			label = fmt.Sprintf("%d-%d", r.low, r.high)
		}
		lines = append(lines, labelled{label, r.count})
	}
	p.bars(size, count, lines)
}

// percents prints shares in steps of 10; 100 is full or over.
func (p *printer) percents(share, count string, bins []analysis.Count) {
	var lines []labelled
	for _, b := range bins {
		label := fmt.Sprintf("%d-%d", b.N, b.N+9)
		if b.N >= 100 {
			label = "100 or more"
		}
		lines = append(lines, labelled{label, uint64(b.Count)})
	}
	p.bars(share, count, lines)
}

// labelled is one line of a histogram as it is printed.
type labelled struct {
	label string
	count uint64
}

// bars prints counts with bars that are as long as the counts are large.
func (p *printer) bars(what, count string, lines []labelled) {
	var most uint64
	for _, l := range lines {
		most = max(most, l.count)
	}
	if most == 0 {
		return
	}
	const width = Width - 40
	p.line("  %-16s %20s", what, count)
	for _, l := range lines {
		// A count that is there has a mark, however small it is.
		n := int(float64(l.count) / float64(most) * width)
		if l.count > 0 {
			n = max(n, 1)
		}
		p.line("  %-16s %20s %s", l.label, p.count(l.count), strings.Repeat("#", n))
	}
}
