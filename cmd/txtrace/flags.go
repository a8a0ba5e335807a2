// SPDX-License-Identifier: Apache-2.0

package main

import (
	"strings"

	"github.com/spf13/pflag"
)

// outputFlags are the flags every verb has.
type outputFlags struct {
	output  string
	format  string
	force   bool
	quiet   bool
	verbose bool
	color   string
}

// add defines them; forms are those of the output beside text and JSON.
func (o *outputFlags) add(fs *pflag.FlagSet, output string, forms ...string) {
	forms = append([]string{"text", "json"}, forms...)
	last := len(forms) - 1
	fs.StringVarP(&o.output, "output", "o", o.output, output)
	fs.Var(oneOf(&o.format, forms...), "format", "`FORM`: "+strings.Join(forms[:last], ", ")+" or "+forms[last])
	fs.BoolVar(&o.force, "force", false, "overwrite what is there")
	fs.BoolVarP(&o.quiet, "quiet", "q", false, "say nothing on stderr but errors")
	fs.BoolVarP(&o.verbose, "verbose", "v", false, "say more")
	fs.Var(oneOf(&o.color, "auto", "always", "never"), "color", "`WHEN`: auto, always or never")
}

// recordFlags say what is recorded and for how long.
type recordFlags struct {
	ifnames   []string
	netns     []string
	queues    []uint32
	qdiscs    []string
	cgroup    string
	pid       process
	with      extras
	oneIn     uint32
	stacks    moments
	detail    string
	ring      ringSize
	duration  span
	readyFile string
	rawAddr   bool
	probeFlags
}

func (r *recordFlags) add(fs *pflag.FlagSet) {
	fs.StringSliceVar(&r.ifnames, "filter-ifname", nil, "only devices of these `NAMES`")
	fs.StringSliceVar(&r.netns, "filter-netns", nil, "only namespaces: a `NAME`, path or inode")
	fs.Var(numbers{&r.queues}, "filter-queue", "only these queues, as in 0,2-5")
	fs.StringSliceVar(&r.qdiscs, "filter-qdisc", nil, "only queues with these `KINDS` of qdisc")
	fs.StringVar(&r.cgroup, "filter-cgroup", "", "only sockets of this cgroup `FOLDER`")
	fs.Var(&r.pid, "filter-pid", "only sockets of this process, by `PID`")
	fs.Var(&r.with, "with", "also "+r.with.names())
	fs.Uint32Var(&r.oneIn, "sojourn-one-in", 64, "with sojourn, follow one of `N` packets")
	fs.Var(&r.stacks, "stacks", "take stacks: all, or as flame --list")
	fs.Var(oneOf(&r.detail, "batch", "packet"), "detail", "`WHAT`: batch or packet")
	r.ring.size = 32 << 20
	fs.Var(&r.ring, "ringbuf-size", "`SIZE` of the ring to user space")
	fs.Var(&r.duration, "duration", "end after this `TIME`")
	fs.StringVar(&r.readyFile, "ready-file", "", "write this `FILE` once every probe is on")
	r.probeFlags.add(fs)
	fs.BoolVar(&r.rawAddr, "raw-addresses", false, "keep kernel addresses as they are")
}

// check refuses what this version cannot do, and what cannot be meant.
func (r *recordFlags) check() error {
	if r.oneIn == 0 {
		return usage("--sojourn-one-in", "0 is refused", "one of none is none", "1 follows every packet")
	}
	return r.probeFlags.check()
}

// probeFlags say by which means the kernel is observed.
type probeFlags struct {
	backend   string
	kernelBTF string
}

func (p *probeFlags) add(fs *pflag.FlagSet) {
	fs.Var(oneOf(&p.backend, "auto", "btf", "kprobe"), "backend", "`KIND`: auto, btf or kprobe")
	fs.StringVar(&p.kernelBTF, "kernel-btf", "", "BTF `FILE`, for a kernel without its own")
}

func (p *probeFlags) check() error {
	if p.backend == "kprobe" {
		return usage("--backend", "kprobe is refused", "this version has no kprobe programs", "leave it out, or use --backend btf")
	}
	return nil
}

// verifyFlags say what is held against a capture.
type verifyFlags struct {
	rules     []string
	variant   string
	strict    bool
	timeScale float64
}

func (v *verifyFlags) add(fs *pflag.FlagSet) {
	fs.StringSliceVar(&v.rules, "rules", nil, "only these rules, by `ID`")
	fs.StringVar(&v.variant, "variant", "auto", "auto, latest or SWITCH=`NAME`,...")
	fs.BoolVar(&v.strict, "strict", false, "suspect and inconclusive exit with 1, too")
	fs.Float64Var(&v.timeScale, "time-scale", 1, "stretch time limits by this `FACTOR`")
}

// reportFlags say how a report is cut and printed.
type reportFlags struct{ by string }

func (r *reportFlags) add(fs *pflag.FlagSet) {
	fs.Var(oneOf(&r.by, "queue", "device"), "by", "blocks per `WHAT`: queue or device")
}

// textFlags say how text spells numbers and times.
type textFlags struct {
	human bool
	time  string
}

func (f *textFlags) add(fs *pflag.FlagSet) {
	fs.BoolVar(&f.human, "human", false, "shorten large numbers to K and M")
	fs.Var(oneOf(&f.time, "relative", "boot", "wall"), "time", "`CLOCK`: relative, boot or wall")
}
