// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"io"
	"syscall"

	"github.com/txtrace/txtrace/internal/capture"
	"github.com/txtrace/txtrace/internal/probes"
	"github.com/txtrace/txtrace/internal/report"
)

// fakeRecorder plays a traffic instead of recording a kernel.
type fakeRecorder struct {
	*traffic
	fail error // of the recording, before anything is attached
	cut  bool  // ends without a footer
	full int64 // bytes that the disk takes after the header, 0: all
}

func (f *fakeRecorder) record(ctx context.Context, s session) (*capture.Footer, error) {
	if f.fail != nil {
		return nil, f.fail
	}
	w, err := capture.NewWriter(s.out, &f.header)
	if err != nil {
		return nil, err
	}
	if file, ok := s.out.(*captureFile); ok && f.full > 0 {
		file.out = &fullDisk{to: file.out, left: f.full}
	}
	if err := s.ready(); err != nil {
		return nil, err
	}
	for _, r := range f.records {
		if err := capture.PutAny(w, r); err != nil {
			return nil, err
		}
	}
	<-ctx.Done()
	foot := f.footer()
	foot.Ended, foot.Child = endOf(ctx).Error(), s.child()
	if f.cut {
		return foot, w.Flush()
	}
	return foot, w.Close(foot)
}

func (f *fakeRecorder) doctor(*probeFlags) (*report.Doctor, error) {
	d := report.NewDoctor(f.header.Kernel, f.header.Plan)
	d.BTF, d.Capabilities = "/sys/kernel/btf/vmlinux", map[string]bool{"CAP_BPF": f.fail == nil, "CAP_PERFMON": true}
	return d, f.fail
}

// fullDisk takes some bytes and then no more.
type fullDisk struct {
	to   io.Writer
	left int64
}

func (d *fullDisk) Write(p []byte) (int, error) {
	if int64(len(p)) <= d.left {
		d.left -= int64(len(p))
		return d.to.Write(p)
	}
	n, err := d.to.Write(p[:d.left])
	d.left = 0
	return n, errors.Join(err, syscall.ENOSPC)
}

// fakes are the recorders that a script may choose by name.
func fakes(name string) *fakeRecorder {
	f := &fakeRecorder{traffic: traffics(name)}
	switch name {
	case "cut":
		f.cut = true
	case "refuse":
		f.fail = &failure{exitSkip, "recording", "not permitted", "CAP_BPF is missing", "run as root", nil}
	case "lack":
		f.fail = &failure{exitSkip, "run", "this kernel does not offer it", "__qdisc_run has no symbol", probes.SeeDoctor, nil}
	case "full":
		f.full = 100
	case "panic":
		f.traffic = nil
	}
	return f
}
