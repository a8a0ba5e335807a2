// SPDX-License-Identifier: Apache-2.0

package probes

import (
	"errors"
	"math"
	"os"
	"path/filepath"
	"testing"
)

// What is no cgroup and no process is refused by its name, as a wrong wish.
func TestFilterSockets(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	facts := &Facts{Fields: map[string]bool{"sock.sk_cgrp_data": true, atomicFetch: true}}
	for _, c := range []struct {
		filter Filter
		want   string
	}{
		{Filter{Cgroup: "/no/such"}, "--filter-cgroup /no/such: no such cgroup: no such file or directory; give a folder under /sys/fs/cgroup; /proc/PID/cgroup names that of a process"},
		{Filter{Cgroup: file}, "--filter-cgroup " + file + ": no such cgroup: it is not in a file system of type cgroup2; give a folder under /sys/fs/cgroup; /proc/PID/cgroup names that of a process"},
		{Filter{PID: math.MaxInt32}, "--filter-pid 2147483647: no such process: it has ended, or counts in another PID namespace; pgrep NAME shows the numbers; --filter-cgroup chooses what is yet to start"},
	} {
		var b bpfConfig
		err := c.filter.sockets(&b, facts)
		var e *Error
		if !errors.As(err, &e) || e.Kind != Usage || err.Error() != c.want {
			t.Errorf("%+v: %v, want %s", c.filter, err, c.want)
		}
		if b != (bpfConfig{}) {
			t.Errorf("%+v: refused, and still filtered", c.filter)
		}
	}

	for _, fields := range []map[string]bool{{atomicFetch: true}, {"sock.sk_cgrp_data": true}} {
		if err := (&Filter{Cgroup: "/"}).sockets(new(bpfConfig), &Facts{Fields: fields}); err == nil {
			t.Errorf("a kernel that has %v took the filter", fields)
		}
	}
	err := (&Filter{PID: uint32(os.Getpid())}).sockets(new(bpfConfig), &Facts{})
	var e *Error
	if !errors.As(err, &e) || e.Kind != CannotRun || e.Cause != "the kernel is older than 5.12" {
		t.Errorf("before 5.12 sockets are filtered: %v", err)
	}
	var b bpfConfig
	if err := (&Filter{PID: uint32(os.Getpid())}).sockets(&b, facts); err != nil || b.Pid != uint32(os.Getpid()) || b.PidnsIno == 0 {
		t.Errorf("pid %d in namespace %d: %v", b.Pid, b.PidnsIno, err)
	}
}
