// SPDX-License-Identifier: Apache-2.0

package probes

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"

	"golang.org/x/sys/unix"
)

// namespace is a network namespace that could be opened.
type namespace struct {
	inode uint32
	name  string // of /run/netns, empty without one
	file  *os.File
}

// namespaces opens every network namespace that a name or a process holds, in
// inode order. Those of other users that may not be opened are left out.
func namespaces() ([]namespace, error) {
	var all []namespace
	seen := map[uint32]int{}
	add := func(path, name string) {
		inode, err := inodeOf(path)
		if err != nil {
			return
		}
		if i, ok := seen[inode]; ok {
			if all[i].name == "" {
				all[i].name = name
			}
			return
		}
		file, err := os.Open(path)
		if err != nil {
			return
		}
		if inode, err = inodeOf(fmt.Sprintf("/proc/self/fd/%d", file.Fd())); err != nil { // another one by now
			file.Close()
			return
		}
		seen[inode] = len(all)
		all = append(all, namespace{inode, name, file})
	}
	add("/proc/self/ns/net", "")
	named, _ := filepath.Glob("/run/netns/*")
	for _, path := range named {
		add(path, filepath.Base(path))
	}
	held, _ := filepath.Glob("/proc/[0-9]*/ns/net")
	for _, path := range held {
		add(path, "")
	}
	if len(all) == 0 {
		return nil, &Error{Object: "/proc/self/ns/net", What: "cannot be opened", Cause: "/proc is not mounted",
			Next: "mount it", Kind: CannotRun}
	}
	slices.SortFunc(all, func(a, b namespace) int { return int(int64(a.inode) - int64(b.inode)) })
	return all, nil
}

// inodeOf is the number of the namespace that a path leads to.
func inodeOf(path string) (uint32, error) {
	var st unix.Stat_t
	if err := unix.Stat(path, &st); err != nil {
		return 0, &os.PathError{Op: "stat", Path: path, Err: err}
	}
	return uint32(st.Ino), nil
}

func closeAll(all []namespace) {
	for _, ns := range all {
		ns.file.Close()
	}
}

// do runs f inside the namespace. f runs on a thread of its own which is
// thrown away afterwards, so nothing can leak into the rest of the program.
func (ns namespace) do(f func() error) error {
	done := make(chan error)
	go func() {
		runtime.LockOSThread() // not unlocked: the thread ends with the goroutine
		if unix.Gettid() == unix.Getpid() {
			// The first thread would not end: it would stay in the namespace
			// and keep it alive. It is held while another one does the work.
			defer runtime.UnlockOSThread()
			done <- ns.do(f)
			return
		}
		done <- func() error {
			if err := unix.Setns(int(ns.file.Fd()), unix.CLONE_NEWNET); err != nil {
				return fmt.Errorf("enter network namespace %d: %w", ns.inode, err)
			}
			return f()
		}()
	}()
	return <-done
}

// doWithSys is do, with /sys showing the namespace's devices. It needs
// CAP_SYS_ADMIN; without it f still runs and finds the caller's /sys.
func (ns namespace) doWithSys(f func(own bool) error) error {
	return ns.do(func() error { return f(mountSys() == nil) })
}

// mountSys gives this thread a /sys of its network namespace. It is not
// mounted read-only: all mounts of one namespace share a superblock, which
// takes that from the first, so that nobody could set anything there as long
// as this one lives.
func mountSys() error {
	return errors.Join(
		unix.Unshare(unix.CLONE_FS|unix.CLONE_NEWNS),
		unix.Mount("", "/", "", unix.MS_SLAVE|unix.MS_REC, ""),
		unix.Mount("sysfs", "/sys", "sysfs", unix.MS_NOSUID|unix.MS_NODEV|unix.MS_NOEXEC, ""),
	)
}
