// SPDX-License-Identifier: Apache-2.0

// Cost measures what recording adds to each packet, by txtrace and by the
// tools that people use now.
//
//	go run ./testenv/cost -out DIR
//
// is `make cost`. It boots one guest whose time is a count of instructions
// (vm's -icount), so that a busy machine changes nothing but how long it
// takes, and sends one load again and again: small messages over UDP, with
// sender, receiver and tool on one processor. What a message takes longer
// with a tool than without is what the tool adds. Instructions are not time:
// caches, and other processors that wait for the same lines, are not in it.
//
// DIR gets cost.txt, which is what is printed, cost.json, runs (the guest's
// lines), the captures of txtrace and the tools' own words.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"time"
)

const exitInternal = 5

type options struct {
	kernel, modules, nic, txtrace, out string
	rounds, seconds, bytes             int
	timeout                            time.Duration
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	var o options
	flag.StringVar(&o.kernel, "kernel", "6.1", "as of testenv/vm")
	flag.StringVar(&o.modules, "modules", "", "as of testenv/vm")
	flag.StringVar(&o.nic, "nic", "e1000e", "as of testenv/vm")
	flag.StringVar(&o.txtrace, "txtrace", "bin/txtrace", "the txtrace that is measured")
	flag.StringVar(&o.out, "out", "out/cost", "folder for what is measured")
	flag.IntVar(&o.rounds, "rounds", 2, "how often each tool is measured")
	flag.IntVar(&o.seconds, "seconds", 3, "how long one load lasts, in the guest's time")
	flag.IntVar(&o.bytes, "bytes", 200, "size of a message")
	flag.DurationVar(&o.timeout, "timeout", 60*time.Minute, "limit of the guest")
	flag.Parse()
	code, err := run(ctx, &o, os.Stdout)
	if err != nil {
		fmt.Fprintf(os.Stderr, "cost: %v\n", err)
	}
	os.Exit(code)
}

func run(ctx context.Context, o *options, stdout io.Writer) (int, error) {
	if o.rounds < 2 || o.seconds < 1 || o.bytes < 1 {
		return 2, errors.New("-rounds: at least 2; -seconds, -bytes: at least 1")
	}
	if err := os.RemoveAll(filepath.Join(o.out, "runs")); err != nil {
		return exitInternal, err
	}
	if code, err := boot(ctx, o); code != 0 || err != nil {
		return code, err
	}
	d, err := collect(ctx, o)
	if err != nil {
		return exitInternal, err
	}
	text := d.text()
	if _, err := io.WriteString(stdout, text); err != nil {
		return exitInternal, err
	}
	b, err := json.MarshalIndent(d, "", "  ")
	if err != nil {
		return exitInternal, err
	}
	err = errors.Join(
		os.WriteFile(filepath.Join(o.out, "cost.txt"), []byte(text), 0o644),
		os.WriteFile(filepath.Join(o.out, "cost.json"), append(b, '\n'), 0o644))
	if err != nil {
		return exitInternal, err
	}
	return 0, nil
}

// boot runs the guest. The exit code is vm's, which go run would not keep.
func boot(ctx context.Context, o *options) (int, error) {
	tmp, err := os.MkdirTemp("", "txtrace-cost-")
	if err != nil {
		return exitInternal, err
	}
	defer os.RemoveAll(tmp)
	vm := filepath.Join(tmp, "vm")
	build := exec.CommandContext(ctx, "go", "build", "-o", vm, "./testenv/vm")
	build.Stderr = os.Stderr
	if err := build.Run(); err != nil {
		return exitInternal, fmt.Errorf("build vm: %w", err)
	}
	txtrace, err := filepath.Abs(o.txtrace)
	if err != nil {
		return exitInternal, err
	}
	args := []string{"-icount", "-kernel", o.kernel, "-nic", o.nic, "-out", o.out, "-timeout", o.timeout.String()}
	if o.modules != "" {
		args = append(args, "-modules", o.modules)
	}
	for _, e := range []string{
		"TXTRACE_BIN=/host" + txtrace,
		fmt.Sprintf("ROUNDS=%d", o.rounds),
		fmt.Sprintf("SECONDS_EACH=%d", o.seconds),
		fmt.Sprintf("BYTES=%d", o.bytes),
	} {
		args = append(args, "-env", e)
	}
	cmd := exec.CommandContext(ctx, vm, append(args, "--", "sh", "testenv/cost/guest")...)
	cmd.Stdout, cmd.Stderr = os.Stderr, os.Stderr
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) } // it ends its QEMU
	cmd.WaitDelay = 10 * time.Second
	err = cmd.Run()
	var ee *exec.ExitError
	if errors.As(err, &ee) && ee.ExitCode() > 0 {
		return ee.ExitCode(), errors.New("the guest did not measure all")
	}
	if err != nil {
		return exitInternal, err
	}
	return 0, nil
}

// collect reads what the guest left in OUT, and removes the tools' files,
// which are large.
func collect(ctx context.Context, o *options) (*document, error) {
	text, err := os.ReadFile(filepath.Join(o.out, "runs"))
	if err != nil {
		return nil, err
	}
	release, lines, err := parseRuns(string(text))
	if err != nil {
		return nil, err
	}
	var programs []program
	for i := range lines {
		l := &lines[i]
		if l.tool == "none" {
			continue
		}
		file := filepath.Join(o.out, l.tool+"-"+l.round+".data")
		switch l.tool {
		case "txtrace":
			var c *inside
			if c, err = look(file); err == nil {
				l.events, l.lost = c.records, c.lost
				if l.round == "stats" {
					programs = c.programs
				}
				err = os.Rename(file, strings.TrimSuffix(file, ".data")+".txtrace")
			}
		case "perf":
			if l.events, l.lost, err = perfStats(ctx, file); err == nil {
				err = os.Remove(file)
			}
		default:
			err = os.Remove(file)
		}
		if err != nil {
			return nil, err
		}
	}
	return newDocument(o, release, lines, programs)
}
