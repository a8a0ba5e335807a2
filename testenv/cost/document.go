// SPDX-License-Identifier: Apache-2.0

package main

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// document is cost.json. All times are of the guest, whose clock counts
// instructions of 2 ns each.
type document struct {
	V            int       `json:"v"`
	Type         string    `json:"type"`
	Release      string    `json:"release"`
	NIC          string    `json:"nic"`
	MessageBytes int       `json:"message_bytes"`
	LoadSeconds  int       `json:"load_seconds"`
	Base         base      `json:"base"`
	Tools        []tool    `json:"tools"`
	Programs     *programs `json:"programs"`
}

// base is all loads without a tool.
type base struct {
	Runs    []load `json:"runs"`
	US      milli  `json:"us_per_message"` // mean
	LeastUS milli  `json:"us_least"`       // of one run
	MostUS  milli  `json:"us_most"`        // of one run
}

// milli is a number of which JSON has three decimals.
type milli float64

func (v milli) MarshalJSON() ([]byte, error) {
	return strconv.AppendFloat(nil, float64(v), 'f', 3, 64), nil
}

// tool is all loads with one tool.
type tool struct {
	Name    string `json:"name"`
	Runs    []load `json:"runs"`
	AddedUS milli  `json:"added_us_per_message"` // mean, over the mean of the base
	LeastUS milli  `json:"added_us_least"`       // of one run
	MostUS  milli  `json:"added_us_most"`        // of one run
	OwnUS   milli  `json:"own_us_per_message"`   // of it, in the tool's own processes
	Events  milli  `json:"events_per_message"`   // in its file
	Lost    int64  `json:"lost"`                 // as far as the tool says
}

type load struct {
	Messages int64 `json:"messages"`
	US       milli `json:"us_per_message"`
	OwnMS    int64 `json:"own_ms"`
	Events   int64 `json:"events"`
	Lost     int64 `json:"lost"`
}

// programs is one more load with txtrace, in which the kernel counted the
// runs and the time of each BPF program.
type programs struct {
	Load    load      `json:"load"`
	AddedUS milli     `json:"added_us_per_message"`
	BPFUS   milli     `json:"bpf_us_per_message"`  // in the programs below
	OwnUS   milli     `json:"own_us_per_message"`  // in txtrace's own process
	RestUS  milli     `json:"rest_us_per_message"` // in the kernel around the programs
	List    []program `json:"list"`
}

type program struct {
	Name string `json:"name"`
	Hook string `json:"hook"`
	Runs int64  `json:"runs"`
	NS   int64  `json:"ns"`
	Per  milli  `json:"runs_per_message"`
	US   milli  `json:"us_per_message"`
}

// names of the tools in the guest's lines, and what people call them.
var names = []struct{ key, text string }{
	{"txtrace", "txtrace record"},
	{"trace-cmd", "trace-cmd record"},
	{"perf", "perf record"},
}

func newDocument(o *options, release string, lines []line, list []program) (*document, error) {
	d := &document{
		V: 1, Type: "cost", Release: release, NIC: o.nic,
		MessageBytes: o.bytes, LoadSeconds: o.seconds,
	}
	loadOf := func(l line) load {
		return load{l.messages, milli(o.seconds) * 1e6 / milli(l.messages), l.cpuMS, max(l.events, 0), max(l.lost, 0)}
	}
	loads := make(map[string][]load)
	for _, l := range lines {
		if l.round == "stats" {
			d.Programs = &programs{Load: loadOf(l)}
			continue
		}
		loads[l.tool] = append(loads[l.tool], loadOf(l))
	}
	if d.Programs == nil || len(list) == 0 {
		return nil, errors.New("runs: no load with the kernel's statistics of BPF programs")
	}
	bare := loads["none"]
	if len(bare) < 2 {
		return nil, fmt.Errorf("runs: no tool: measured %d times, want 2", len(bare))
	}
	d.Base.Runs = bare
	d.Base.US, d.Base.LeastUS, d.Base.MostUS = spread(bare)
	for _, n := range names {
		runs := loads[n.key]
		if len(runs) < 2 {
			return nil, fmt.Errorf("runs: %s: measured %d times, want 2", n.key, len(runs))
		}
		d.Tools = append(d.Tools, newTool(n.text, runs, d.Base.US))
	}
	p := d.Programs
	messages := milli(p.Load.Messages)
	p.AddedUS = p.Load.US - d.Base.US
	p.OwnUS = milli(p.Load.OwnMS) * 1000 / messages
	for _, one := range list {
		one.Per = milli(one.Runs) / messages
		one.US = milli(one.NS) / 1000 / messages
		p.BPFUS += one.US
		p.List = append(p.List, one)
	}
	p.RestUS = p.AddedUS - p.BPFUS - p.OwnUS
	slices.SortStableFunc(p.List, func(a, b program) int { return cmp.Compare(b.NS, a.NS) })
	return d, nil
}

func spread(runs []load) (mean, least, most milli) {
	least = runs[0].US
	for _, r := range runs {
		mean += r.US / milli(len(runs))
		least, most = min(least, r.US), max(most, r.US)
	}
	return mean, least, most
}

func newTool(name string, runs []load, base milli) tool {
	mean, least, most := spread(runs)
	t := tool{Name: name, Runs: runs, AddedUS: mean - base, LeastUS: least - base, MostUS: most - base}
	n := milli(len(runs))
	for _, r := range runs {
		t.OwnUS += milli(r.OwnMS) * 1000 / milli(r.Messages) / n
		t.Events += milli(r.Events) / milli(r.Messages) / n
		t.Lost += r.Lost
	}
	return t
}

// text is what is printed: ASCII, 72 columns.
func (d *document) text() string {
	var b strings.Builder
	p := func(format string, args ...any) { fmt.Fprintf(&b, format+"\n", args...) }
	p("cost of recording: us per %d-byte message of netperf UDP_STREAM", d.MessageBytes)
	p("kernel %s, %s, one processor; time is a count of", d.Release, d.NIC)
	p("instructions, 2 ns each; loads of %d s, %d with each tool", d.LoadSeconds, len(d.Tools[0].Runs))
	p("")
	p("%-22s %20s %6s %8s", "", "us per message", "own", "events")
	p("%-22s %6s %6s %6s %6s %8s %6s", "", "mean", "least", "most", "us", "/msg", "lost")
	p("%-22s %6.2f %6.2f %6.2f", "without a tool", d.Base.US, d.Base.LeastUS, d.Base.MostUS)
	for _, t := range d.Tools {
		p("%-22s %6.2f %6.2f %6.2f %6.2f %8.2f %6d", "+ "+t.Name, t.AddedUS, t.LeastUS, t.MostUS, t.OwnUS, t.Events, t.Lost)
	}
	p("")
	p("The load without a tool varies by %.2f %%, %.2f us.", 100*(d.Base.MostUS/d.Base.LeastUS-1), d.Base.MostUS-d.Base.LeastUS)
	p("own: in the tool's own processes, as the scheduler counts it.")
	p("trace-cmd and perf record qdisc:qdisc_dequeue, net:net_dev_start_xmit")
	p("and net:net_dev_xmit; txtrace and they have their default buffers.")
	more := d.Tools[0].AddedUS - d.Tools[1].AddedUS
	word := "more"
	if more < 0 {
		more, word = -more, "less"
	}
	p("%s adds %.2f us %s than %s.", d.Tools[0].Name, more, word, d.Tools[1].Name)
	p("")
	s := d.Programs
	p("What each program of txtrace adds, in one more load, with the")
	p("kernel's statistics of BPF programs (which cost, too):")
	p("")
	p("program           hook                              runs   ns     us")
	p("                                                    /msg  /run   /msg")
	rare := 0
	for _, one := range s.List {
		if one.US < 0.005 {
			rare++
			continue
		}
		p("%-17.17s %-31.31s %6.2f %5.0f %6.2f", one.Name, one.Hook, one.Per, float64(one.NS)/float64(one.Runs), one.US)
	}
	if rare > 0 {
		p("%-62s %6s", fmt.Sprintf("%d that this load hardly ran", rare), "0.00")
	}
	p("%-62s %6.2f", "all programs", s.BPFUS)
	p("%-62s %6.2f", "txtrace's own process", s.OwnUS)
	p("%-62s %6.2f", "the rest: trampolines, statistics, switches between processes", s.RestUS)
	p("%-62s %6.2f", "added", s.AddedUS)
	return b.String()
}
