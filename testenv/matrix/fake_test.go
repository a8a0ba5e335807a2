// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/txtrace/txtrace/internal/analysis"
	"github.com/txtrace/txtrace/internal/report"
	"github.com/txtrace/txtrace/testenv/internal/debian"
	"github.com/txtrace/txtrace/testenv/internal/outcome"
)

// TestMain makes the test binary a vm without a guest, where a test asks for it.
func TestMain(m *testing.M) {
	if os.Getenv("MATRIX_FAKE_VM") == "" {
		os.Exit(m.Run())
	}
	code, err := fakeVM(os.Args[1:])
	if err != nil {
		fmt.Fprintf(os.Stderr, "vm: %v\n", err)
	}
	os.Exit(code)
}

// fakeVM leaves what vm leaves. What became of the guest is in the NIC's name,
// what a scenario showed in the scenario's.
func fakeVM(args []string) (int, error) {
	fs := flag.NewFlagSet("vm", flag.ContinueOnError)
	kernel, nic, list, out := fs.String("kernel", "", ""), fs.String("nic", "", ""), fs.String("scenario", "", ""), fs.String("out", "", "")
	fs.Bool("q", false, "")
	for _, name := range []string{"seconds", "seed", "timeout", "txtrace"} {
		fs.String(name, "", "")
	}
	if err := fs.Parse(args); err != nil {
		return outcome.ExitUsage, err
	}
	parent := filepath.Dir(*out)
	runs, err := os.OpenFile(filepath.Join(parent, "runs"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644)
	if err != nil {
		return outcome.ExitInternal, err
	}
	fmt.Fprintf(runs, "%s-%s\n", *kernel, *nic)
	runs.Close()
	scenarios := strings.Split(*list, ",")
	guest := ""
	switch *nic {
	case "hang":
		signal.Ignore(syscall.SIGTERM)
		fmt.Fprintln(os.Stderr, "vm: booting")
		// A child that goes on, and holds a lock as long as it lives.
		lock, err := os.Create(filepath.Join(parent, "lock"))
		if err == nil {
			err = syscall.Flock(int(lock.Fd()), syscall.LOCK_EX)
		}
		if err != nil {
			return outcome.ExitInternal, err
		}
		child := exec.Command("sleep", "1000")
		child.ExtraFiles = []*os.File{lock}
		return 0, child.Run()
	case "full":
		return outcome.ExitInternal, errors.New("write console.log: no space left on device")
	case "gone":
		return outcome.ExitSkip, errors.New("skip: kernel k: gcc-99: not on this machine")
	case "waits":
		if _, err := os.ReadFile(filepath.Join(parent, "fifo")); err != nil {
			return outcome.ExitInternal, err
		}
	case "panics":
		guest = "guest: panic: Kernel panic - not syncing: test"
	}
	codes := 0
	for i, name := range scenarios {
		dir := outcome.Dir(*out, scenarios, name)
		o := &outcome.Outcome{Version: 1, Kernel: *kernel, NIC: *nic, Scenario: name, Release: "9.9", Guest: guest}
		switch {
		case guest != "" && i > 0:
			o.Exit, o.Failure = outcome.ExitGuest, "after ready: "+guest
		case name == "skips":
			o.Exit, o.Failure = outcome.ExitSkip, "skipped: not here"
			if len(scenarios) == 1 {
				codes = outcome.ExitSkip
				fmt.Fprintf(os.Stderr, "vm: %s: %s\n", name, o.Failure)
			}
		case name == "breaks":
			o.Exit, o.Failure = outcome.ExitGuest, "load: exit code 1"
			codes = outcome.ExitGuest
		default:
			o.Steps = []outcome.Step{{Name: "verify-json"}}
			if name == "unreadable" {
				o.Steps[0].Exit = outcome.ExitInternal
			}
			if err := fakeCapture(dir, *nic, name); err != nil {
				return outcome.ExitInternal, err
			}
		}
		if err := o.Write(dir); err != nil {
			return outcome.ExitInternal, err
		}
	}
	if guest != "" {
		return outcome.ExitGuest, errors.New(guest)
	}
	return codes, nil
}

func fakeCapture(dir, nic, name string) error {
	v := analysis.Verify{Rules: []analysis.RuleVerdict{{ID: "D1", Verdict: analysis.VerdictPass, Exercised: 3, Held: 3, Inconclusive: 1}}}
	r := report.Report{Queues: make([]report.Queue, 1)}
	r.Queues[0].BQL.AdvancedBytes, r.Queues[0].BQL.DecidedBytes = 1000, 990
	bulk := analysis.VariantState{Switch: "bulk", State: analysis.StateProven, Variant: "budget", Left: []string{"budget"}}
	switch name {
	case "fails":
		v.Rules[0].Verdict, v.Rules[0].Fails = analysis.VerdictFail, 2
		v.Rules[0].Evidence = []analysis.Evidence{{Says: "seen\nso"}}
	case "cut":
		v.Lost.Cut = "no footer"
	case "older":
		bulk.Variant, bulk.Left = "bytes", []string{"bytes"}
	case "open", "bulk-udp":
		bulk.State, bulk.Variant, bulk.Left = analysis.StateUndecided, "", []string{"bytes", "budget"}
	}
	if nic == "veth" {
		r.Queues[0].BQL.AdvancedBytes, r.Queues[0].BQL.DecidedBytes = 0, 0
	}
	v.Variants = []analysis.VariantState{bulk}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	for file, from := range map[string]any{"verify.json": v, "report.json": r} {
		b, err := json.Marshal(from)
		if err != nil {
			return err
		}
		if err := os.WriteFile(filepath.Join(dir, file), b, 0o644); err != nil {
			return err
		}
	}
	return nil
}

// fakes are options whose vm is the test binary, and whose kernels are found by
// their names. The limits are for what never ends by itself.
func fakes(t *testing.T) *options {
	t.Helper()
	t.Setenv("MATRIX_FAKE_VM", "1")
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	o := &options{kernels: []string{"k"}, jobs: 1, player: &player{
		vm: self, txtrace: self, out: t.TempDir(), seconds: 1,
		limit: time.Hour, patience: time.Minute, fetchLimit: time.Hour,
	}}
	o.player.ready()
	o.player.fetch = func(ctx context.Context, kernel string) (*source, error) {
		switch kernel {
		case "gone":
			return nil, fmt.Errorf("linux-image-gone: %w bookworm", debian.ErrNotFound)
		case "stalls":
			<-ctx.Done()
			return nil, ctx.Err()
		}
		return &source{expect: map[string]string{"bulk": "budget"}, digest: strings.TrimPrefix(kernel, "same-as-")}, nil
	}
	return o
}
