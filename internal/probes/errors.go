// SPDX-License-Identifier: Apache-2.0

package probes

// Kind says what an Error means for the caller's exit code.
type Kind int

const (
	// CannotRun: this machine cannot record; nothing is wrong with txtrace.
	CannotRun Kind = iota
	// Usage: what was asked for cannot be done, another wish can.
	Usage
	// Broken: recording failed in the middle or for no known reason.
	Broken
)

// Error names the object, what happened to it, the likely cause and the next
// step: the four parts of a line of txtrace's stderr.
type Error struct {
	Object, What, Cause, Next string
	Kind                      Kind
	Err                       error // what the system said, may be nil
}

func (e *Error) Error() string {
	s := e.Object + ": " + e.What
	if e.Cause != "" {
		s += ": " + e.Cause
	}
	if e.Next != "" {
		s += "; " + e.Next
	}
	return s
}

func (e *Error) Unwrap() error { return e.Err }
