// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"io"

	"github.com/txtrace/txtrace/internal/capture"
	"github.com/txtrace/txtrace/internal/report"
)

// recorder is what record and run drive: the kernel's, or a test's.
type recorder interface {
	// record writes a capture until ctx is done, whose cause is one of the
	// ends below.
	record(ctx context.Context, s session) (*capture.Footer, error)
	// doctor says what it would record from which hooks. With an error of
	// exitSkip, which says why it would not, comes all that is known.
	doctor(p *probeFlags) (*report.Doctor, error)
}

// session is one recording.
type session struct {
	flags *recordFlags
	out   io.Writer
	ready func() error          // called once every probe is attached
	child func() *capture.Child // the command, once the recording has ended; nil without one
}

// Why a recording ended; the text is the footer's.
var (
	errChild    = errors.New("child")
	errDuration = errors.New("duration")
	errTest     = errors.New("test") // by KSFT_WAIT_FD
	errSignal   = errors.New("signal")
)
