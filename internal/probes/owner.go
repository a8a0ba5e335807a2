// SPDX-License-Identifier: Apache-2.0

package probes

import (
	"fmt"

	"golang.org/x/sys/unix"
)

// sockets fills in what bpf/sock.h chooses by.
func (f *Filter) sockets(b *bpfConfig, facts *Facts) error {
	if (f.Cgroup != "" || f.PID != 0) && !facts.Fields[atomicFetch] {
		return &Error{Object: "--filter-cgroup and --filter-pid", What: "nothing is recorded of sockets here", Kind: CannotRun,
			Cause: "the kernel is older than 5.12", Next: "use --filter-ifname or --filter-netns"}
	}
	if f.Cgroup != "" {
		if !facts.Fields["sock.sk_cgrp_data"] {
			return &Error{Object: "--filter-cgroup " + f.Cgroup, What: "sockets have no cgroup", Kind: CannotRun,
				Cause: "the kernel was built without CONFIG_SOCK_CGROUP_DATA, or is older than 5.14", Next: "use --filter-pid"}
		}
		id, err := cgroupID(f.Cgroup)
		if err != nil {
			return err
		}
		b.Cgroup = id
	}
	if f.PID != 0 {
		var ns unix.Stat_t
		if err := unix.Stat("/proc/self/ns/pid", &ns); err != nil {
			return &Error{Object: "/proc/self/ns/pid", What: "cannot be read", Kind: CannotRun, Cause: err.Error(), Next: "mount /proc", Err: err}
		}
		if err := unix.Stat(fmt.Sprintf("/proc/%d", f.PID), new(unix.Stat_t)); err != nil {
			return &Error{Object: fmt.Sprintf("--filter-pid %d", f.PID), What: "no such process", Kind: Usage, Cause: "it has ended, or counts in another PID namespace",
				Next: "pgrep NAME shows the numbers; --filter-cgroup chooses what is yet to start", Err: err}
		}
		b.Pid, b.PidnsDev, b.PidnsIno = f.PID, ns.Dev, ns.Ino
	}
	return nil
}

// cgroupID is the number of a folder in the hierarchy of version 2, which is the
// kernel's own id of the cgroup (kernfs_node.id).
func cgroupID(folder string) (uint64, error) {
	refuse := func(cause string, err error) error {
		return &Error{Object: "--filter-cgroup " + folder, What: "no such cgroup", Kind: Usage, Cause: cause,
			Next: "give a folder under /sys/fs/cgroup; /proc/PID/cgroup names that of a process", Err: err}
	}
	var fs unix.Statfs_t
	if err := unix.Statfs(folder, &fs); err != nil {
		return 0, refuse(err.Error(), err)
	}
	if fs.Type != unix.CGROUP2_SUPER_MAGIC {
		return 0, refuse("it is not in a file system of type cgroup2", nil)
	}
	var st unix.Stat_t
	if err := unix.Stat(folder, &st); err != nil {
		return 0, refuse(err.Error(), err)
	}
	if st.Mode&unix.S_IFMT != unix.S_IFDIR {
		return 0, refuse("it is no folder", nil)
	}
	return st.Ino, nil
}
