// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/txtrace/txtrace/internal/capture"
)

const (
	// childGrace is how long a command that was told to end may take.
	childGrace = 500 * time.Millisecond
	// childOutput is how much of its output a capture keeps.
	childOutput = 64 << 10
)

// child is the command under record and run.
type child struct {
	cmd   *exec.Cmd
	info  capture.Child
	begun bool
	done  chan struct{} // closed when the command has ended or can no longer begin
	head  head
}

// newChild looks for the command. It is a command that is not there, or one
// that may not be run, that is found here, before anything is recorded.
//
// Decision: a command that does not exist is usage (2). 6 is kept for a
// command that ran and failed, as the exit code then says that the capture
// is of a load that did not do what it should.
func newChild(ctx context.Context, t *tool, command []string, stdout io.Writer) (*child, error) {
	path, err := exec.LookPath(command[0])
	if err != nil {
		f := usage(command[0], "not started", reasonOf(err), "check its name and permissions")
		var e *exec.Error
		if errors.As(err, &e) {
			f.cause = reasonOf(e.Err)
		}
		if errors.Is(err, exec.ErrNotFound) || errors.Is(err, syscall.ENOENT) {
			f.cause, f.next = "no such command", "check its name, or give its whole path"
		}
		return nil, f
	}
	c := &child{
		cmd:  exec.CommandContext(ctx, path, command[1:]...),
		info: capture.Child{Command: command, Exit: -1},
		done: make(chan struct{}),
	}
	c.cmd.Args[0] = command[0]
	c.cmd.Stdin = t.stdin
	c.cmd.Stdout = io.MultiWriter(stdout, &c.head)
	c.cmd.Stderr = t.stderr
	c.cmd.Cancel = func() error { return c.cmd.Process.Signal(syscall.SIGTERM) }
	c.cmd.WaitDelay = childGrace
	return c, nil
}

// start runs the command; ended is called when it is over.
func (c *child) start(ended func()) error {
	c.info.BeginNS = monotonic()
	before := cpuTimes()
	if err := c.cmd.Start(); err != nil {
		close(c.done)
		return usage(c.info.Command[0], "not started", reasonOf(err), "check its name and permissions")
	}
	c.begun = true
	go func() {
		defer close(c.done)
		// What went wrong is in ProcessState; output that outlives the
		// command (a daemon's) is no error.
		_ = c.cmd.Wait()
		c.info.EndNS = monotonic()
		c.info.CPU = cpuSince(before, cpuTimes())
		c.info.Exit = c.cmd.ProcessState.ExitCode()
		if ws, ok := c.cmd.ProcessState.Sys().(syscall.WaitStatus); ok && ws.Signaled() {
			c.info.Signal = unix.SignalName(ws.Signal())
		}
		c.info.Output = string(c.head)
		ended()
	}()
	return nil
}

// wait returns how the command ended. The caller has seen to it that it ends.
func (c *child) wait() *capture.Child {
	if c.begun {
		<-c.done
	}
	return &c.info
}

// complaint is how a command failed, or "".
func complaint(c *capture.Child) string {
	switch {
	case c.Signal != "":
		return "ended by " + c.Signal
	case c.Exit != 0:
		return fmt.Sprintf("exited with %d", c.Exit)
	}
	return ""
}

// head keeps the first bytes written to it.
type head []byte

func (h *head) Write(p []byte) (int, error) {
	*h = append(*h, p[:min(len(p), childOutput-len(*h))]...)
	return len(p), nil
}

// monotonic is the clock of the records.
func monotonic() uint64 {
	var ts unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_MONOTONIC, &ts); err != nil {
		return 0
	}
	return uint64(ts.Nano())
}
