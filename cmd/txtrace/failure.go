// SPDX-License-Identifier: Apache-2.0

package main

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
)

// Exit codes.
const (
	exitOK           = 0
	exitFail         = 1 // a rule failed, under --strict also suspect and inconclusive; a bound of compare is broken
	exitUsage        = 2
	exitInconclusive = 3 // no fail, but a rule is inconclusive, or none was exercised
	exitSkip         = 4 // cannot run here
	exitInternal     = 5
	exitChild        = 6 // the command under run or record failed, no rule did
)

// failure is an error as the user meets it: one line and an exit code.
type failure struct {
	code   int
	object string // what it is about: a file, a flag, a verb
	what   string // what happened
	cause  string // the likely cause
	next   string // the next step
	err    error  // what the system said, if it did
}

func (f *failure) Error() string {
	object := f.object
	if strings.TrimSpace(object) == "" {
		object = strconv.Quote(object) // a blank cannot be seen
	}
	return fmt.Sprintf("%s: %s: %s; %s", object, f.what, f.cause, f.next)
}

func (f *failure) Unwrap() error { return f.err }

// usage is a failure of what was typed.
func usage(object, what, cause, next string) *failure {
	return &failure{code: exitUsage, object: object, what: what, cause: cause, next: next}
}

// status is the exit code of work that was done and said what it had to say.
type status int

func (s status) Error() string { return fmt.Sprintf("exit %d", int(s)) }

// asFailure is the failure in err: any error that is neither one nor a status
// was not foreseen, and is an internal error.
func asFailure(err error) *failure {
	var f *failure
	var s status
	switch {
	case err == nil || errors.As(err, &s):
		return nil
	case errors.As(err, &f):
		return f
	}
	return &failure{exitInternal, "internal error", err.Error(), "not foreseen", "report it with this line", err}
}

// codeOf is the exit code of work that did not fail.
func codeOf(err error) int {
	var s status
	if errors.As(err, &s) {
		return int(s)
	}
	return exitOK
}
