// SPDX-License-Identifier: Apache-2.0

package report

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/txtrace/txtrace/internal/analysis"
	"github.com/txtrace/txtrace/internal/capture"
)

// Model is what model --what-if prints: a recording, and what the model makes
// of its arrivals under two kernels.
type Model struct {
	V        int                     `json:"v"`
	Type     string                  `json:"type"`
	Capture  analysis.CaptureInfo    `json:"capture"`
	Queue    ModelQueue              `json:"queue"`
	WhatIf   string                  `json:"what_if"`
	Kernel   []analysis.VariantState `json:"kernel"` // what the recorded kernel was found to be
	LinkRate analysis.U64            `json:"link_bits_per_s"`
	Columns  []ModelColumn           `json:"columns"`
}

// ModelQueue names the queue.
type ModelQueue struct {
	Netns   uint32 `json:"netns"`
	Ifindex uint32 `json:"ifindex"`
	Ifname  string `json:"ifname"`
	Txq     uint16 `json:"txq"`
	Qdisc   string `json:"qdisc,omitempty"`
}

// ModelColumn is one column of the table.
type ModelColumn struct {
	Name        string           `json:"name"`
	Packets     analysis.U64     `json:"packets"` // that the driver took
	Bypass      analysis.U64     `json:"bypass"`
	Dequeues    analysis.U64     `json:"dequeues"`
	Batch       Spread           `json:"batch_packets"`
	Sizes       []analysis.Count `json:"batch_sizes"` // packets of every dequeue
	Requeues    float64          `json:"requeues_per_million"`
	Doorbells   float64          `json:"doorbells_per_packet"`
	Runs        analysis.U64     `json:"runs"`
	Run         Spread           `json:"run_packets"`
	Restarts    Spread           `json:"run_restarts"`
	QuotaEnded  analysis.U64     `json:"quota_ended"`
	BehindBatch Delay            `json:"behind_batch"`
	BehindRun   Delay            `json:"behind_run"`
	Limit       *Spread          `json:"limit_bytes,omitempty"` // of BQL
	Distance    *ModelDistance   `json:"distance,omitempty"`    // from the recording
}

// Spread sums up a distribution.
type Spread struct {
	Mean float64 `json:"mean"`
	P50  uint32  `json:"p50"`
	P99  uint32  `json:"p99"`
	Max  uint32  `json:"max"`
}

// Delay is how long a packet of another flow or qdisc waits behind packets
// that go first, at the speed of the link.
type Delay struct {
	Packets Spread     `json:"packets"`
	Bytes   Spread     `json:"bytes"`
	Time    TimeSpread `json:"time"`
}

// TimeSpread is a Spread in ns.
type TimeSpread struct {
	Mean float64      `json:"mean_ns"`
	P50  analysis.U64 `json:"p50_ns"`
	P99  analysis.U64 `json:"p99_ns"`
	Max  analysis.U64 `json:"max_ns"`
}

// ModelDistance is how far a column is from the recording; 0 is alike.
type ModelDistance struct {
	Batch float64  `json:"batch_packets_variation"`         // 1: nothing in common
	Limit *float64 `json:"limit_bytes_transport,omitempty"` // as a share of the mean limit
}

// ModelInput is what a column is made from.
type ModelInput struct {
	Name       string
	Result     *analysis.Result
	Shape      *analysis.Shape
	OwedByStop bool // the driver rings when BQL stops it, too
}

// NewModel makes the document. The first input is the recording; rate is that
// of the link, in bits per second.
func NewModel(whatIf string, q ModelQueue, rate uint64, inputs []ModelInput) *Model {
	first := inputs[0].Result
	d := &Model{
		V: 1, Type: "model", Capture: first.Verify.Capture, Queue: q, WhatIf: whatIf,
		Kernel: list(first.Verify.Variants), LinkRate: analysis.U64(rate),
	}
	for i := range inputs {
		c := inputs[i].column(rate)
		if i > 0 {
			c.Distance = distance(inputs[0].Shape, inputs[i].Shape)
		}
		d.Columns = append(d.Columns, c)
	}
	return d
}

func (in *ModelInput) column(rate uint64) ModelColumn {
	s := in.Shape
	c := ModelColumn{
		Name: in.Name, Dequeues: analysis.U64(s.BatchPackets.Count()), Batch: spread(&s.BatchPackets), Sizes: list(s.BatchPackets.Counts()),
		Runs: analysis.U64(s.RunPackets.Count()), Run: spread(&s.RunPackets), Restarts: spread(&s.Restarts),
		BehindBatch: delay(&s.BatchPackets, &s.BatchBytes, rate), BehindRun: delay(&s.RunPackets, &s.RunBytes, rate),
	}
	if s.Limits.Count() > 0 {
		l := spread(&s.Limits)
		c.Limit = &l
	}
	for i := range in.Result.Queues {
		q := &in.Result.Queues[i]
		if !s.Of(q) {
			continue
		}
		c.Packets, c.Bypass, c.QuotaEnded = q.Handovers.Taken, q.Bypass.Packets, q.Runs.QuotaEnded
		owed := q.Handovers.OwedDrv
		if in.OwedByStop {
			owed = q.Handovers.OwedAny
		}
		if n := float64(q.Handovers.Taken); n > 0 {
			c.Requeues, c.Doorbells = float64(q.Requeues.Packets)*1e6/n, float64(owed)/n
		}
	}
	return c
}

func spread(s *analysis.Sample) Spread {
	return Spread{Mean: s.Mean(), P50: s.Percentile(50), P99: s.Percentile(99), Max: s.Max()}
}

func delay(packets, bytes *analysis.Sample, rate uint64) Delay {
	d := Delay{Packets: spread(packets), Bytes: spread(bytes)}
	ns := func(bytes float64) float64 { return bytes * 8 * 1e9 / float64(rate) }
	whole := func(bytes uint32) analysis.U64 { return analysis.U64(ns(float64(bytes))) }
	d.Time = TimeSpread{Mean: ns(d.Bytes.Mean), P50: whole(d.Bytes.P50), P99: whole(d.Bytes.P99), Max: whole(d.Bytes.Max)}
	return d
}

func distance(a, b *analysis.Shape) *ModelDistance {
	d := &ModelDistance{Batch: a.BatchPackets.Variation(&b.BatchPackets)}
	if mean := a.Limits.Mean(); mean > 0 && b.Limits.Count() > 0 {
		l := a.Limits.Transport(&b.Limits) / mean
		d.Limit = &l
	}
	return d
}

// Text prints the table.
func (d *Model) Text(w io.Writer, t Text, header *capture.Header) error {
	p := &printer{Text: t, out: w}
	if d.Capture.Emulated {
		p.line("%s", emulated)
	}
	p.field("what if", d.WhatIf)
	q := d.Queue
	p.field("queue", fmt.Sprintf("%s queue %d", q.Ifname, q.Txq), q.Qdisc, fmt.Sprintf("namespace %d", q.Netns))
	p.field("kernel", strings.TrimSpace(header.Kernel.Release+" "+header.Kernel.Version))
	p.field("variants", variantTexts(d.Kernel)...)
	p.field("link", fmt.Sprintf("%d Mbit/s, for the waits below", uint64(d.LinkRate)/1_000_000))
	p.line("")
	d.table(p)
	p.line("")
	if p.More {
		d.sizes(p)
	}
	if far := d.Columns[1].Distance.Batch; far > farOff {
		p.wrapped("", fmt.Sprintf("The model is far from this recording (%.2f): when packets came is known in part only, and small batches turn on that. Take its answer for a direction only.", far))
	}
	if d.already() {
		p.wrapped("", "The recorded kernel does "+d.WhatIf+" already.")
	}
	p.wrapped("", "The wait behind a batch or a run is what a packet of another flow or qdisc waits at the link for what goes before it. "+
		"Distances from the recording: the share of batches that would have to be of other sizes for both to be alike (total variation), and by what share of their mean the limits differ (Wasserstein).")
	return p.err
}

// already says that the recorded kernel was found to be what is asked for.
func (d *Model) already() bool {
	for word := range strings.SplitSeq(d.WhatIf, ",") {
		if !slices.ContainsFunc(d.Kernel, func(v analysis.VariantState) bool { return word == v.Switch+"="+v.Variant }) {
			return false
		}
	}
	return true
}

func variantTexts(vs []analysis.VariantState) []string {
	var list []string
	for _, v := range vs {
		if v.Variant != "" {
			list = append(list, v.Switch+"="+v.Variant+" ("+v.State+")")
		}
	}
	if list == nil {
		return []string{"none proven; each is taken to be the newest that was not refuted"}
	}
	return list
}

// farOff is the distance of batch sizes from which on the model of a recording
// is not to be relied on.
const farOff = 0.25

// modelRow is a line of the table.
type modelRow struct {
	label string
	cell  func(c *ModelColumn) string
}

func whole(n analysis.U64) string { return strconv.FormatUint(uint64(n), 10) }

func fixed(v float64) string { return strconv.FormatFloat(v, 'f', 2, 64) }

func pair(a, b uint32) string { return fmt.Sprintf("%d  %d", a, b) }

func micro(a, b analysis.U64) string {
	return fmt.Sprintf("%.1f  %.1f", float64(a)/1e3, float64(b)/1e3)
}

var modelRows = []modelRow{
	{"packets", func(c *ModelColumn) string { return whole(c.Packets) }},
	{"  past the qdisc", func(c *ModelColumn) string { return whole(c.Bypass) }},
	{"dequeues", func(c *ModelColumn) string { return whole(c.Dequeues) }},
	{"  packets, mean", func(c *ModelColumn) string { return fixed(c.Batch.Mean) }},
	{"  packets, p50  p99", func(c *ModelColumn) string { return pair(c.Batch.P50, c.Batch.P99) }},
	{"  packets, max", func(c *ModelColumn) string { return strconv.Itoa(int(c.Batch.Max)) }},
	{"requeues per million", func(c *ModelColumn) string { return strconv.FormatFloat(c.Requeues, 'f', 0, 64) }},
	{"doorbells per packet", func(c *ModelColumn) string { return strconv.FormatFloat(c.Doorbells, 'f', 3, 64) }},
	{"runs", func(c *ModelColumn) string { return whole(c.Runs) }},
	{"  ended by the quota", func(c *ModelColumn) string { return whole(c.QuotaEnded) }},
	{"  packets, mean", func(c *ModelColumn) string { return fixed(c.Run.Mean) }},
	{"  packets, p99  max", func(c *ModelColumn) string { return pair(c.Run.P99, c.Run.Max) }},
	{"  restarts, mean", func(c *ModelColumn) string { return fixed(c.Restarts.Mean) }},
	{"  restarts, p99  max", func(c *ModelColumn) string { return pair(c.Restarts.P99, c.Restarts.Max) }},
	{"wait behind a batch", nil},
	{"  packets, p99  max", func(c *ModelColumn) string { return pair(c.BehindBatch.Packets.P99, c.BehindBatch.Packets.Max) }},
	{"  bytes, p99  max", func(c *ModelColumn) string { return pair(c.BehindBatch.Bytes.P99, c.BehindBatch.Bytes.Max) }},
	{"  us, p99  max", func(c *ModelColumn) string { return micro(c.BehindBatch.Time.P99, c.BehindBatch.Time.Max) }},
	{"wait behind a run", nil},
	{"  packets, p99  max", func(c *ModelColumn) string { return pair(c.BehindRun.Packets.P99, c.BehindRun.Packets.Max) }},
	{"  bytes, p99  max", func(c *ModelColumn) string { return pair(c.BehindRun.Bytes.P99, c.BehindRun.Bytes.Max) }},
	{"  us, p99  max", func(c *ModelColumn) string { return micro(c.BehindRun.Time.P99, c.BehindRun.Time.Max) }},
	{"limit of BQL, p50  max", func(c *ModelColumn) string {
		if c.Limit == nil {
			return "-"
		}
		return pair(c.Limit.P50, c.Limit.Max)
	}},
	{"distance, batch sizes", func(c *ModelColumn) string {
		if c.Distance == nil {
			return "-"
		}
		return strconv.FormatFloat(c.Distance.Batch, 'f', 3, 64)
	}},
	{"distance, limits", func(c *ModelColumn) string {
		if c.Distance == nil || c.Distance.Limit == nil {
			return "-"
		}
		return strconv.FormatFloat(*c.Distance.Limit, 'f', 3, 64)
	}},
}

// modelWidth is that of a column; the labels have the rest of Width.
const modelWidth = 16

func (d *Model) table(p *printer) {
	line := func(label string, cell func(c *ModelColumn) string) {
		s := fmt.Sprintf("%-*s", Width-modelWidth*len(d.Columns), label)
		for i := range d.Columns {
			s += fmt.Sprintf("%*s", modelWidth, cut(cell(&d.Columns[i]), modelWidth-1))
		}
		p.line("%s", s)
	}
	line("", func(c *ModelColumn) string { return Clean(c.Name) })
	for _, r := range modelRows {
		if r.cell == nil {
			p.line("%s", r.label)
			continue
		}
		line(r.label, r.cell)
	}
}

// sizes prints how often each size of a batch occurred.
func (d *Model) sizes(p *printer) {
	counts := make(map[uint32][]analysis.U64)
	for i, c := range d.Columns {
		for _, n := range c.Sizes {
			if counts[n.N] == nil {
				counts[n.N] = make([]analysis.U64, len(d.Columns))
			}
			counts[n.N][i] = n.Count
		}
	}
	p.line("dequeues by their packets")
	for _, n := range slices.Sorted(maps.Keys(counts)) {
		s := fmt.Sprintf("  %-*d", Width-modelWidth*len(d.Columns)-2, n)
		for _, count := range counts[n] {
			s += fmt.Sprintf("%*d", modelWidth, count)
		}
		p.line("%s", s)
	}
	p.line("")
}
