// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strconv"

	"golang.org/x/sys/unix"

	"github.com/txtrace/txtrace/internal/capture"
	"github.com/txtrace/txtrace/internal/probes"
	"github.com/txtrace/txtrace/internal/report"
)

// kernelRecorder records the running kernel.
type kernelRecorder struct{}

func (kernelRecorder) record(ctx context.Context, s session) (*capture.Footer, error) {
	c, err := s.flags.config()
	if err != nil {
		return nil, err
	}
	foot, err := probes.Record(ctx, c, s.out, probes.Hooks{
		Ready: s.ready,
		Child: s.child,
		Ended: func() string { return endOf(ctx).Error() },
	})
	return foot, probeFailure(err)
}

func (kernelRecorder) doctor(p *probeFlags) (*report.Doctor, error) {
	f, err := probes.Gather(p.kernelBTF)
	if f == nil {
		return nil, probeFailure(err)
	}
	plan := &probes.Plan{}
	if err == nil {
		plan, err = probes.NewPlan(f, p.backend, nil)
	}
	d := report.NewDoctor(f.Kernel, plan.Choices)
	d.BTF, d.Lockdown, d.Capabilities = f.BTF, f.Lockdown, f.Caps
	var devices []capture.Device
	d.Settings, devices = probes.Look()
	for _, dev := range devices {
		d.Devices = append(d.Devices, report.DoctorDevice{Device: dev, Completions: plan.Completes(dev.Driver)})
	}
	if permitted := f.Permitted(); permitted != nil {
		err = permitted // first of all: without it the facts are not all there
	}
	return d, probeFailure(err)
}

// config turns the flags into what internal/probes takes.
func (r *recordFlags) config() (probes.Config, error) {
	if r.detail == "packet" {
		r.with.add(probes.PerPacket)
	}
	c := probes.Config{
		Tool: version(), With: r.with, Stacks: r.stacks, SojournOneIn: r.oneIn, Backend: r.backend, KernelBTF: r.kernelBTF,
		RingBytes: uint64(r.ring.size), RawAddresses: r.rawAddr,
		Filter: probes.Filter{Ifnames: r.ifnames, Queues: r.queues, Qdiscs: r.qdiscs, Cgroup: r.cgroup, PID: uint32(r.pid)},
	}
	for _, name := range r.netns {
		inode, err := netnsInode(name)
		if err != nil {
			return c, err
		}
		c.Filter.Netns = append(c.Filter.Netns, inode)
		c.FilterText = append(c.FilterText, "netns "+name)
	}
	for _, name := range r.ifnames {
		c.FilterText = append(c.FilterText, "ifname "+name)
	}
	for _, q := range r.queues {
		c.FilterText = append(c.FilterText, fmt.Sprintf("queue %d", q))
	}
	for _, kind := range r.qdiscs {
		c.FilterText = append(c.FilterText, "qdisc "+kind)
	}
	if r.cgroup != "" {
		c.FilterText = append(c.FilterText, "cgroup "+r.cgroup)
	}
	if r.pid != 0 {
		c.FilterText = append(c.FilterText, fmt.Sprintf("pid %d", r.pid))
	}
	return c, nil
}

// netnsInode of a namespace given by name, path or inode number.
func netnsInode(name string) (uint32, error) {
	if n, err := strconv.ParseUint(name, 10, 32); err == nil {
		return uint32(n), nil
	}
	path := name
	if _, err := os.Stat(path); err != nil || name[0] != '/' {
		path = "/run/netns/" + name
	}
	var st unix.Stat_t
	if err := unix.Stat(path, &st); err != nil {
		return 0, usage("--filter-netns "+name, "no such namespace", err.Error(), "ip netns shows their names")
	}
	return uint32(st.Ino), nil
}

// probeFailure gives an error of internal/probes its exit code.
func probeFailure(err error) error {
	var e *probes.Error
	if !errors.As(err, &e) {
		return err
	}
	code := map[probes.Kind]int{probes.CannotRun: exitSkip, probes.Usage: exitUsage, probes.Broken: exitInternal}[e.Kind]
	return &failure{code, e.Object, e.What, e.Cause, e.Next, err}
}
