// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"fmt"
	"io"
	"runtime/debug"

	"github.com/txtrace/txtrace/internal/report"
)

// tool is what a verb may reach of the world outside. Tests bring their own.
type tool struct {
	stdin    io.Reader
	stdout   io.Writer
	stderr   io.Writer
	getenv   func(string) string
	recorder recorder
}

// main runs one verb and returns the exit code. A panic becomes exit 5.
func (t *tool) main(ctx context.Context, args []string) (code int) {
	defer func() {
		if p := recover(); p != nil {
			fmt.Fprintf(t.stderr, "%s\n", debug.Stack())
			t.complain(&failure{exitInternal, "internal error", fmt.Sprint(p),
				"a fault of txtrace itself", "report it with the lines above and the capture, if there is one", nil})
			code = exitInternal
		}
	}()
	err := t.dispatch(ctx, args)
	if f := asFailure(err); f != nil {
		t.complain(f)
		return f.code
	}
	return codeOf(err)
}

// complain prints the one line of a failure.
func (t *tool) complain(f *failure) { t.say("%s", f.Error()) }

// say prints one line to stderr. What it prints of the outside is cleaned.
func (t *tool) say(format string, args ...any) {
	fmt.Fprintf(t.stderr, "txtrace: %s\n", report.Clean(fmt.Sprintf(format, args...)))
}
