// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"
)

// untilSignal is done at the first SIGINT or SIGTERM, or SIGHUP unless that is
// ignored, as under nohup, so that work ends in order. The second one ends the process at once; a capture is readable up to
// its last block at any time. That is not left to the signals' default: it is
// to ignore them in what a script runs in the background.
func untilSignal(ctx context.Context) context.Context {
	ctx, cancel := context.WithCancel(ctx)
	// Who reads stdout may go, and a file may reach its limit: a recording ends
	// in order then, too, and what cannot be written is told.
	signal.Notify(make(chan os.Signal, 1), syscall.SIGPIPE, syscall.SIGXFSZ)
	signals := make(chan os.Signal, 2)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	if !signal.Ignored(syscall.SIGHUP) {
		signal.Notify(signals, syscall.SIGHUP)
	}
	go func() {
		<-signals
		cancel()
		code := exitInternal
		if s, ok := (<-signals).(syscall.Signal); ok {
			code = 128 + int(s) // as a shell counts a command that a signal ended
		}
		os.Exit(code)
	}()
	return ctx
}
