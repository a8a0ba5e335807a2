// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"io"
	"os"
	"strings"

	"github.com/txtrace/txtrace/internal/capture"
)

// openReader opens the capture at path; "-" is stdin. The caller closes it.
func openReader(ctx context.Context, t *tool, path string) (*capture.Reader, io.Closer, error) {
	in := input(ctx, t, path)
	r, err := capture.Open(in)
	if err != nil {
		in.Close()
		return nil, nil, notCapture(path, err)
	}
	return r, in, nil
}

// input gives what is at path until ctx is done: opening and reading a pipe or
// a terminal may wait for ever, and a signal must end that, too.
func input(ctx context.Context, t *tool, path string) io.ReadCloser {
	out, in := io.Pipe()
	context.AfterFunc(ctx, func() { in.CloseWithError(context.Canceled) })
	go func() {
		from := t.stdin
		if path != "-" {
			f, err := os.Open(path)
			if err != nil {
				in.CloseWithError(err)
				return
			}
			defer f.Close()
			from = f
		}
		_, err := io.Copy(in, from)
		in.CloseWithError(err)
	}()
	return out
}

// notCapture words an error of capture.Open, whose text is what happened, the
// cause and the next step.
func notCapture(path string, err error) error {
	if path == "-" {
		path = "stdin"
	}
	for _, known := range []error{capture.ErrForeign, capture.ErrNewer, capture.ErrHeader, capture.ErrTables} {
		if !errors.Is(err, known) {
			continue
		}
		rest := strings.TrimPrefix(err.Error(), known.Error()+": ")
		cause, next, ok := strings.Cut(rest, "; ")
		if !ok {
			next = "name a file that txtrace record or txtrace run wrote"
		}
		return usage(path, known.Error(), cause, next)
	}
	return notRead(path, err)
}

// isCapture says whether the file at path begins as a capture does.
func isCapture(path string) bool {
	f, err := os.Open(path)
	if err != nil {
		return false
	}
	defer f.Close()
	_, err = capture.Open(f)
	return !errors.Is(err, capture.ErrForeign)
}
