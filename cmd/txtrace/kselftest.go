// SPDX-License-Identifier: Apache-2.0

package main

import (
	"os"
	"strconv"

	"golang.org/x/sys/unix"
)

// kselftest is the two pipes by which a test of the kernel's selftests talks
// with what it starts in the background: one for a word once that is ready,
// and one that tells it to end, by a byte or by being closed. A nil one was not
// given. (bkg in tools/testing/selftests/net/lib/py/utils.py, and ksft.h
// beside it.)
//
// Decision: with a command they are the command's, which inherits them. It
// starts when everything records and the recording ends with it, so what the
// test waits for and ends is the command.
type kselftest struct{ ready, wait *os.File }

// newKselftest looks for the pipes where the environment says they are.
func newKselftest(getenv func(string) string) (kselftest, error) {
	ready, err := pipeOf(getenv, "KSFT_READY_FD", unix.O_WRONLY)
	if err != nil {
		return kselftest{}, err
	}
	wait, err := pipeOf(getenv, "KSFT_WAIT_FD", unix.O_RDONLY)
	return kselftest{ready, wait}, err
}

// pipeOf is the pipe whose descriptor a variable holds. What else might have
// that number by now (sudo closes what it does not know) is refused, as are
// the first three, which have another use.
func pipeOf(getenv func(string) string, name string, access int) (*os.File, error) {
	value := getenv(name)
	if value == "" {
		return nil, nil
	}
	fd, err := strconv.ParseUint(value, 10, 31)
	if err == nil && fd > 2 {
		var st unix.Stat_t
		mode, bad := unix.FcntlInt(uintptr(fd), unix.F_GETFL, 0)
		mode &= unix.O_ACCMODE
		if bad == nil && unix.Fstat(int(fd), &st) == nil && st.Mode&unix.S_IFMT == unix.S_IFIFO &&
			(mode == access || mode == unix.O_RDWR) {
			return os.NewFile(uintptr(fd), name), nil
		}
	}
	return nil, usage(name+"="+value, "not used", "it is not the descriptor of such a pipe",
		"start txtrace with bkg() of the kernel's selftests, or unset it")
}

// recording tells the test that everything records, and calls end when the
// test says so.
func (k kselftest) recording(end func()) error {
	if k.ready != nil {
		if _, err := k.ready.WriteString(readyText); err != nil {
			f := notWritten(k.ready.Name(), err)
			f.next = "run the test again"
			return f
		}
		k.ready.Close()
	}
	if k.wait != nil {
		go func() {
			_, _ = k.wait.Read(make([]byte, 1)) // a byte or the end: both are the word
			end()
		}()
	}
	return nil
}
