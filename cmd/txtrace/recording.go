// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"io"
	"time"

	"github.com/txtrace/txtrace/internal/capture"
)

// recording is what record and run share: the flags of what is recorded, the
// capture file, the command.
type recording struct {
	outputFlags
	recordFlags
	setup string // what prepared it, under run --repeat
}

// result is a recording that came to its end.
type result struct {
	footer *capture.Footer
	child  *capture.Child // nil without a command
	end    error          // errChild, errDuration, errTest, errSignal
}

// childFailed says that the command ended by itself, and not well. One that
// was told to end is not blamed for how it did.
func (r *result) childFailed() bool {
	return r.child != nil && errors.Is(r.end, errChild) && complaint(r.child) != ""
}

// record makes the capture. The command's stdout goes to childOut.
func (r *recording) record(ctx context.Context, t *tool, command []string, childOut io.Writer) (*result, error) {
	if err := r.recordFlags.check(); err != nil {
		return nil, err
	}
	out, err := openCapture(t, r.output, r.force)
	if err != nil {
		return nil, err
	}
	if err := r.notOnto(r.kernelBTF, "what --kernel-btf names"); err != nil {
		return nil, err
	}
	if err := r.notOnto(r.readyFile, "what --ready-file names"); err != nil {
		return nil, err
	}
	if err := clearReady(r.readyFile, r.force); err != nil {
		return nil, err
	}

	ctx, end := context.WithCancelCause(ctx)
	defer end(nil)
	var kid *child
	var test kselftest
	if len(command) > 0 {
		kid, err = newChild(ctx, t, command, childOut)
	} else {
		test, err = newKselftest(t.getenv)
	}
	if err != nil {
		return nil, err
	}
	if kid != nil {
		kid.info.Setup = r.setup
	}
	res := &result{}
	s := session{flags: &r.recordFlags, out: out}
	var startErr error
	s.ready = func() error {
		if r.readyFile != "" {
			if err := t.writeWhole(r.readyFile, []byte(readyText)); err != nil {
				return notWritten(r.readyFile, err)
			}
		}
		if r.duration.Duration > 0 {
			time.AfterFunc(r.duration.Duration, func() { end(errDuration) })
		}
		if kid != nil {
			startErr = kid.start(func() { end(errChild) })
			return startErr
		}
		if !r.quiet {
			t.say("%s: recording: every probe is attached; Ctrl-C ends it", r.output)
		}
		return test.recording(func() { end(errTest) })
	}
	s.child = func() *capture.Child {
		if kid == nil {
			return nil
		}
		end(errSignal) // no effect unless the recorder ended by itself
		return kid.wait()
	}

	res.footer, err = t.recorder.record(ctx, s)
	end(errSignal)
	if kid != nil {
		res.child = kid.wait()
	}
	err = errors.Join(startErr, err, out.Close())
	switch {
	case out.bad != nil && startErr == nil:
		return nil, out.ended()
	case err != nil:
		return nil, err
	}
	res.end = endOf(ctx)
	return res, nil
}

// endOf is why ctx is done: what ended it first.
func endOf(ctx context.Context) error {
	cause := context.Cause(ctx)
	for _, e := range []error{errChild, errDuration, errTest} {
		if errors.Is(cause, e) {
			return e
		}
	}
	return errSignal
}
