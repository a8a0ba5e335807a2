// SPDX-License-Identifier: Apache-2.0

package report

import (
	"cmp"
	"slices"

	"github.com/txtrace/txtrace/internal/analysis"
	"github.com/txtrace/txtrace/internal/capture"
)

// Report is what report prints.
type Report struct {
	V        int                   `json:"v"`
	Type     string                `json:"type"`
	Capture  analysis.CaptureInfo  `json:"capture"`
	Kernel   capture.Kernel        `json:"kernel"`
	Settings capture.Settings      `json:"settings"`
	Devices  []capture.Device      `json:"devices"`
	Filters  []string              `json:"filters,omitempty"`
	Ended    string                `json:"ended,omitempty"` // child, signal, duration, test, disk, error
	Command  *Command              `json:"command,omitempty"`
	Queues   []Queue               `json:"queues"`
	Picks    []analysis.PickReport `json:"picks"` // empty unless recorded
	GRO      []analysis.GROReport  `json:"gro"`   // the same
	TSQ      []TSQ                 `json:"tsq"`
	Counters Counters              `json:"kernel_counters"`
	Lost     analysis.LostInfo     `json:"lost"`
	Self     *Self                 `json:"self,omitempty"` // left out of a cut file

	clock capture.Clock
}

// Command is what ran while recording.
type Command struct {
	Argv       []string      `json:"argv"`
	Exit       int           `json:"exit"` // -1 when a signal ended it
	Signal     string        `json:"signal,omitempty"`
	DurationNS *analysis.U64 `json:"duration_ns,omitempty"`
}

// Queue is a queue's report without durations when there are none to believe.
type Queue struct {
	analysis.QueueReport
	Runs    Runs     `json:"runs"`
	Latency *Latency `json:"latency,omitempty"`
}

// Runs shadows the duration of analysis.RunReport.
type Runs struct {
	analysis.RunReport
	DurationNS *analysis.Times `json:"duration_ns,omitempty"`
}

// Latency shadows the times of analysis.LatencyReport.
type Latency struct {
	analysis.LatencyReport
	SojournNS *analysis.Times       `json:"sojourn_ns,omitempty"`
	Stamps    *analysis.StampReport `json:"stamps,omitempty"` // when some were given
	DriverNS  *analysis.Times       `json:"driver_ns,omitempty"`
	RingNS    *analysis.Times       `json:"ring_ns,omitempty"`
	OldestNS  *analysis.Times       `json:"oldest_ns,omitempty"`
}

// TSQ shadows the times of analysis.TSQReport.
type TSQ struct {
	analysis.TSQReport
	DurationNS   *analysis.Times `json:"duration_ns,omitempty"`
	ThrottledNS  *analysis.U64   `json:"throttled_ns,omitempty"`
	FollowedNS   *analysis.U64   `json:"followed_ns,omitempty"`
	CompletionNS *analysis.Times `json:"completion_ns,omitempty"`
}

// Counters says whether the kernel's own counters agree with what was
// recorded. Agree is left out when nothing could be compared.
type Counters struct {
	Agree  *bool                 `json:"agree,omitempty"`
	Checks []analysis.Comparison `json:"checks"`
}

// Self is what recording cost. Times are left out when they are emulated.
type Self struct {
	RingBytes    analysis.U64  `json:"ring_bytes"`
	WrittenBytes analysis.U64  `json:"written_bytes"`
	MaxRSSBytes  analysis.U64  `json:"max_rss_bytes"`
	UserNS       *analysis.U64 `json:"user_ns,omitempty"`
	SysNS        *analysis.U64 `json:"sys_ns,omitempty"`
	Seen         analysis.U64  `json:"seen"` // runs of the programs, by their own count
	Submitted    analysis.U64  `json:"submitted"`
	Filtered     analysis.U64  `json:"filtered"`
	Lost         analysis.U64  `json:"lost"`
	Programs     []ProgramCost `json:"programs,omitempty"` // when the kernel counted them
}

// ProgramCost is the kernel's own count of one program.
type ProgramCost struct {
	Name string        `json:"name"`
	Runs analysis.U64  `json:"runs"`
	NS   *analysis.U64 `json:"ns,omitempty"`
}

// By is what a block of the report is of.
type By string

// The blocks.
const (
	ByQueue  By = "queue"
	ByDevice By = "device"
)

// New makes the document of a capture's analysis.
func New(r *analysis.Result, by By) *Report {
	h := r.Header
	timed := !h.Kernel.Emulated
	d := &Report{
		V: 1, Type: "report",
		Capture: r.Verify.Capture, Kernel: h.Kernel, Settings: h.Settings,
		Devices: slices.Clone(h.Devices), Filters: h.Filters,
		Lost:   r.Verify.Lost,
		Queues: []Queue{}, TSQ: []TSQ{}, Picks: list(slices.Clone(r.Picks)), GRO: list(slices.Clone(r.GRO)),
		Counters: counters(r.Checks),
		clock:    h.Clock,
	}
	d.Devices = list(d.Devices)
	d.Settings.Sysctls = table(d.Settings.Sysctls)
	slices.SortFunc(d.Devices, func(a, b capture.Device) int {
		return cmp.Or(cmp.Compare(a.Netns, b.Netns), cmp.Compare(a.Ifindex, b.Ifindex))
	})
	queues := r.Queues
	if by == ByDevice {
		queues = byDevice(queues)
	}
	for _, q := range queues {
		q = filledQueue(q)
		v := Queue{QueueReport: q, Runs: Runs{RunReport: q.Runs}}
		v.Runs.DurationNS = duration(q.Runs.DurationNS, timed)
		v.Latency = latency(q.Latency, timed)
		d.Queues = append(d.Queues, v)
	}
	for _, t := range r.TSQ {
		t.LimitBy = table(t.LimitBy)
		d.TSQ = append(d.TSQ, TSQ{
			TSQReport: t, DurationNS: duration(t.DurationNS, timed), CompletionNS: duration(t.CompletionNS, timed),
			ThrottledNS: ns(uint64(t.ThrottledNS), timed), FollowedNS: ns(uint64(t.FollowedNS), timed),
		})
	}
	if f := r.Footer; f != nil {
		d.Ended = f.Ended
		d.Command = command(f.Child, timed)
		d.Self = self(h, f, timed)
	}
	return d
}

func duration(t analysis.Times, timed bool) *analysis.Times {
	if !timed || t.Count == 0 {
		return nil
	}
	return &t
}

// latency is nil when nothing was followed, too.
func latency(l analysis.LatencyReport, timed bool) *Latency {
	if !timed || l.SojournNS.Count+l.DriverNS.Count+l.RingNS.Count+l.OldestNS.Count+l.Late+l.Lost+l.Left == 0 {
		return nil
	}
	d := &Latency{
		LatencyReport: l, SojournNS: duration(l.SojournNS, timed), DriverNS: duration(l.DriverNS, timed),
		RingNS: duration(l.RingNS, timed), OldestNS: duration(l.OldestNS, timed),
	}
	if l.Stamps.OneIn > 0 {
		d.Stamps = &l.Stamps
	}
	return d
}

func command(c *capture.Child, timed bool) *Command {
	if c == nil {
		return nil
	}
	d := &Command{Argv: c.Command, Exit: c.Exit, Signal: c.Signal}
	d.DurationNS = ns(c.EndNS-c.BeginNS, timed && c.EndNS >= c.BeginNS)
	return d
}

func ns(n uint64, known bool) *analysis.U64 {
	if !known {
		return nil
	}
	v := analysis.U64(n)
	return &v
}

func counters(checks []analysis.Comparison) Counters {
	c := Counters{Checks: list(checks)}
	if len(checks) == 0 {
		return c
	}
	agree := !slices.ContainsFunc(checks, func(c analysis.Comparison) bool { return !c.Equal })
	c.Agree = &agree
	return c
}

func self(h *capture.Header, f *capture.Footer, timed bool) *Self {
	s := &Self{
		RingBytes:    analysis.U64(h.RingBytes),
		WrittenBytes: analysis.U64(f.Self.Written),
		MaxRSSBytes:  analysis.U64(f.Self.MaxRSS),
		UserNS:       ns(f.Self.UserNS, timed),
		SysNS:        ns(f.Self.SysNS, timed),
	}
	for _, row := range f.Ledger {
		s.Seen += analysis.U64(row.Seen)
		s.Submitted += analysis.U64(row.Submitted)
		s.Filtered += analysis.U64(row.Filtered)
		s.Lost += analysis.U64(row.Lost)
	}
	for _, b := range f.Self.BPF {
		c := ProgramCost{Runs: analysis.U64(b.Runs), NS: ns(b.NS, timed)}
		if b.Program >= 0 && b.Program < len(h.Programs) {
			c.Name = h.Programs[b.Program].Name
		}
		s.Programs = append(s.Programs, c)
	}
	return s
}
