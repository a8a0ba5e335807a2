// SPDX-License-Identifier: Apache-2.0

package probes

import (
	"errors"
	"slices"

	"golang.org/x/sys/unix"

	"github.com/txtrace/txtrace/internal/capture"
	"github.com/txtrace/txtrace/internal/event"
)

func (r *recorder) header() (*capture.Header, error) {
	hooks, err := hooks()
	if err != nil {
		return nil, err
	}
	set := settings()
	if set.DevWeight == 0 {
		return nil, &Error{Object: "net.core.dev_weight", What: "not readable", Cause: "/proc/sys of the first namespace is not visible",
			Next: "record where /proc/1/ns/net can be entered", Kind: CannotRun}
	}
	r.weights = set
	if r.before.counters, err = countersNow(); err != nil { // as late as can be
		return nil, err
	}
	return &capture.Header{
		Tool: r.config.Tool, Tables: event.Tables(), Kernel: r.facts.Kernel, Clock: clocks(),
		Programs: r.s.describe(r.plan, hooks), Plan: r.plan.Choices, Settings: set,
		Devices: r.before.devices, Counters: r.before.counters, Detail: r.detail(),
		Filters: r.config.FilterText, RingBytes: r.config.RingBytes, WalkBound: walkBound,
		RawAddresses: r.config.RawAddresses,
	}, nil
}

func (r *recorder) detail() string {
	if slices.Contains(r.config.With, PerPacket) {
		return "packet"
	}
	return "batch"
}

// walkBound is TX_WALK of bpf/queue.h.
const walkBound = 4096

func (r *recorder) footer(ended string, hooks Hooks) (*capture.Footer, error) {
	rows, t, err := r.ledger.read()
	counters, cerr := countersNow()
	err = errors.Join(err, cerr)
	for i := range rows {
		if n := t.lastSeq[rows[i].CPU]; rows[i].Program == 0 && n > 0 {
			rows[i].LastSeq = n - 1
		}
	}
	f := &capture.Footer{
		Clock: clocks(), Counters: counters, Ledger: rows,
		Open: t.open, Orphans: t.orphans, Overflow: t.overflow, Ended: ended, Self: r.self(),
	}
	if hooks.Child != nil {
		f.Child = hooks.Child()
	}
	if len(r.config.Stacks) > 0 {
		var serr error
		f.Stacks, serr = r.s.stacks(r.config.Stacks)
		err = errors.Join(err, serr)
	}
	return f, err
}

// self is what the recording cost this process and, where the kernel counts
// it (kernel.bpf_stats_enabled), the programs.
func (r *recorder) self() capture.Self {
	var u unix.Rusage
	_ = unix.Getrusage(unix.RUSAGE_SELF, &u) // cannot fail with a valid pointer
	s := capture.Self{
		UserNS: uint64(u.Utime.Nano()), SysNS: uint64(u.Stime.Nano()),
		MaxRSS: uint64(u.Maxrss) << 10, Written: uint64(r.w.Stats().Written),
	}
	for id, p := range r.s.programs {
		if p.prog == nil {
			continue
		}
		if st, err := p.prog.Stats(); err == nil && st.RunCount > 0 {
			s.BPF = append(s.BPF, capture.ProgramRun{Program: id, Runs: st.RunCount, NS: uint64(st.Runtime.Nanoseconds())})
		}
	}
	return s
}
