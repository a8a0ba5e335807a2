// SPDX-License-Identifier: Apache-2.0

package report

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/txtrace/txtrace/internal/analysis"
	"github.com/txtrace/txtrace/internal/capture"
)

// Marks of captures whose numbers are not those of a kernel on hardware.
const (
	emulated  = "emulated: counts only; durations and rates of a guest mean nothing"
	simulated = "simulated: written by txtrace's model, not by a kernel"
)

// head prints what was recorded, where, and what that lost and cost.
func (d *Report) head(p *printer) {
	k := d.Kernel
	if k.Emulated {
		p.line("%s", emulated)
	}
	if d.Capture.Simulated {
		p.line("%s", simulated)
	}
	p.field("kernel", k.Release+" "+k.Version, k.Machine, p.counted(uint64(k.CPUs), "CPU", "CPUs"))
	p.field("commit", k.Commit)
	p.field("config", named("preemption", k.Preemption), hz(k.HZ), quota(d.Settings))
	if d.Command != nil {
		p.field("command", d.Command.text())
	}
	p.field("began", d.began())
	p.field("ended", d.ending()...)
	p.field("filters", d.Filters...)
	quiet := 0
	for _, dev := range d.Devices {
		if p.More || d.sent(dev) {
			deviceHead(p, dev)
		} else {
			quiet++
		}
	}
	if quiet > 0 {
		p.field("", p.counted(uint64(quiet), "more device", "more devices")+" sent nothing that was recorded")
	}
	if p.More {
		sysctls(p, d.Settings)
		p.field("boot line", k.Cmdline)
	}
	d.lost(p)
	d.cost(p)
}

// sent says whether anything of the device was recorded.
func (d *Report) sent(dev capture.Device) bool {
	return slices.ContainsFunc(d.Queues, func(q Queue) bool {
		return q.Netns == dev.Netns && q.Ifindex == dev.Ifindex
	})
}

func named(name, value string) string {
	if value == "" {
		return ""
	}
	return name + " " + value
}

func hz(n uint32) string {
	if n == 0 {
		return ""
	}
	return fmt.Sprintf("HZ %d", n)
}

func sysctls(p *printer, s capture.Settings) {
	var all []string
	for _, name := range slices.Sorted(maps.Keys(s.Sysctls)) {
		all = append(all, name+"="+s.Sysctls[name])
	}
	p.field("sysctls", all...)
}

func quota(s capture.Settings) string {
	if s.TxWeight() == 0 {
		return ""
	}
	return fmt.Sprintf("quota %d packets (dev_weight %d, tx bias %d)", s.TxWeight(), s.DevWeight, s.DevWeightTxBias)
}

func (c *Command) text() string {
	s := strings.Join(c.Argv, " ")
	if c.Signal != "" {
		s += "; ended by " + c.Signal
	} else {
		s += fmt.Sprintf("; exit %d", c.Exit)
	}
	if c.DurationNS != nil {
		s += "; " + seconds(uint64(*c.DurationNS))
	}
	return s
}

func (d *Report) began() string {
	if d.clock.Real == 0 {
		return ""
	}
	return time.Unix(0, int64(d.clock.Real)).UTC().Format("2006-01-02 15:04:05 UTC")
}

// ending says what ended the recording, and how long it was.
func (d *Report) ending() []string {
	how := map[string]string{
		"child": "with the command", "signal": "by a signal", "duration": "when its time was over",
		"test": "when the test said so", "disk": "by a full disk", "error": "by an error",
	}[d.Ended]
	switch {
	case d.Lost.Cut != "":
		how = "cut: " + d.Lost.Cut
	case how == "":
		how = d.Ended
	}
	if c := d.Capture; !d.Kernel.Emulated && c.EndNS > c.BeginNS {
		return []string{how, seconds(uint64(c.EndNS-c.BeginNS)) + " after it began"}
	}
	return []string{how}
}

func deviceHead(p *printer, d capture.Device) {
	p.field("device", d.Ifname, fmt.Sprintf("index %d in %s", d.Ifindex, netns(d.Netns, d.NetnsName)),
		named("driver", d.Driver), fmt.Sprintf("MTU %d", d.MTU), p.counted(uint64(d.TxQueues), "queue", "queues"),
		some("ring", d.TxRing), some("gso_max_size", d.GsoMaxSize), some("gso_max_segs", d.GsoMaxSegs))
	p.field("  offloads", offloads(d.Offloads)...)
	var qdiscs []string
	for _, q := range d.Qdiscs {
		qdiscs = append(qdiscs, fmt.Sprintf("%s %s at %s", q.Kind, handle(q.Handle), parent(q.Parent)))
	}
	p.field("  qdisc", qdiscs...)
	for _, b := range d.BQL {
		p.field("  BQL", fmt.Sprintf("queue %d: limit %d bytes (min %d, max %d), hold %d ms", b.Txq, b.Limit, b.LimitMin, b.LimitMax, b.HoldMS))
	}
}

func some(name string, n uint32) string {
	if n == 0 {
		return ""
	}
	return fmt.Sprintf("%s %d", name, n)
}

// offloads names those that are on, then those that are off.
func offloads(m map[string]bool) []string {
	var on, off []string
	for _, name := range slices.Sorted(maps.Keys(m)) {
		if m[name] {
			on = append(on, name)
		} else {
			off = append(off, "no "+name)
		}
	}
	return append(on, off...)
}

func netns(inode uint32, name string) string {
	if name != "" {
		return fmt.Sprintf("namespace %s (%d)", name, inode)
	}
	return fmt.Sprintf("namespace %d", inode)
}

// handle as tc spells it.
func handle(h uint32) string {
	if h&0xffff == 0 {
		return fmt.Sprintf("%x:", h>>16)
	}
	return fmt.Sprintf("%x:%x", h>>16, h&0xffff)
}

func parent(h uint32) string {
	switch h {
	case 0xffffffff:
		return "root"
	case 0xfffffff1:
		return "ingress"
	}
	return handle(h)
}

// lost says what is missing, in one line when nothing is.
func (d *Report) lost(p *printer) {
	p.field("lost", lostText(p.Text, d.Lost, d.Capture.Records)...)
}

func lostText(t Text, l analysis.LostInfo, records analysis.U64) []string {
	var parts []string
	switch read := t.counted(uint64(records), "record", "records"); {
	case l.Records > 0:
		parts = append(parts, fmt.Sprintf("%s of %s in %s", t.count(uint64(l.Records)),
			t.counted(uint64(l.Records+records), "record", "records"), t.counted(uint64(l.Gaps), "gap", "gaps")))
	case l == (analysis.LostInfo{}):
		return []string{"nothing of " + read}
	default:
		parts = append(parts, "no gap in "+read)
	}
	for _, c := range []struct {
		n         analysis.U64
		one, many string
	}{
		{l.Missed, "run of a program skipped", "runs of programs skipped"},
		{l.Orphans, "end without its begin", "ends without their begin"},
		{l.Late, "record out of place", "records out of place"},
		{l.Corrupt, "corrupt block", "corrupt blocks"},
		{l.Unknown, "record of an unknown kind", "records of unknown kinds"},
	} {
		if c.n > 0 {
			parts = append(parts, t.counted(uint64(c.n), c.one, c.many))
		}
	}
	if l.Cut != "" {
		parts = append(parts, "what followed the cut is not known")
	}
	return parts
}

// cost says what recording took.
func (d *Report) cost(p *printer) {
	s := d.Self
	if s == nil {
		p.field("cost", "not known: the file is cut")
		return
	}
	var perRecord, cpu string
	if n := d.Capture.Records; n > 0 {
		perRecord = ratio(uint64(s.WrittenBytes), uint64(n)) + " bytes per record"
	}
	if s.UserNS != nil && s.SysNS != nil {
		cpu = "CPU " + seconds(uint64(*s.UserNS)) + " user " + seconds(uint64(*s.SysNS)) + " system"
	}
	p.field("cost", p.count(uint64(s.WrittenBytes))+" bytes written", perRecord, cpu,
		p.count(uint64(s.MaxRSSBytes))+" bytes resident")
	p.field("", "ring "+p.count(uint64(s.RingBytes))+" bytes",
		fmt.Sprintf("programs saw %s events: %s submitted, %s filtered, %s lost", p.count(uint64(s.Seen)),
			p.count(uint64(s.Submitted)), p.count(uint64(s.Filtered)), p.count(uint64(s.Lost))))
}
