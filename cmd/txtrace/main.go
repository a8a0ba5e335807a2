// SPDX-License-Identifier: Apache-2.0

// Txtrace records what a running Linux kernel does on its transmit path,
// rebuilds the decisions it made, and says whether they follow the kernel's
// own rules.
//
// One file per verb; a verb only wires the packages together. Data goes to
// stdout, everything else to stderr, one line each:
//
//	txtrace: OBJECT: what happened: likely cause; next step
//
// Exit codes: 0 nothing is wrong, 1 a rule failed or a change is beyond what
// compare was given, 2 usage, 3 inconclusive, 4 cannot run here, 5 internal error, 6 the command failed and no rule did;
// 128 and more when a second signal ended it.
package main

import (
	"context"
	"io"
	"os"
)

func main() {
	os.Exit(run(untilSignal(context.Background()), os.Args[1:], os.Stdout, os.Stderr))
}

// run is the whole program but for the process: it returns the exit code.
func run(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	t := &tool{
		stdin:    os.Stdin,
		stdout:   stdout,
		stderr:   stderr,
		getenv:   os.Getenv,
		recorder: kernelRecorder{},
	}
	return t.main(ctx, args)
}
