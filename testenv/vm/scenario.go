// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/txtrace/txtrace/testenv"
	"github.com/txtrace/txtrace/testenv/internal/outcome"
)

// scenarioNames lists the files of testenv/scenarios.
func scenarioNames() []string {
	entries, err := fs.ReadDir(testenv.Files, "scenarios")
	if err != nil {
		panic(err) // embedded
	}
	var names []string
	for _, e := range entries {
		if path.Ext(e.Name()) == "" {
			names = append(names, e.Name())
		}
	}
	return names
}

// scenarioJob is the guest's script for some scenarios, one after the
// other in one boot.
func scenarioJob(names []string) string {
	return fmt.Sprintf(`. /run/txtrace/net
. /run/txtrace/scenarios/lib.sh
SCENARIO=guest
step net net_up || exit %d
run_scenarios %s
`, outcome.ExitGuest, strings.Join(names, " "))
}

// made is what a scenario leaves in its folder; an earlier run's goes.
var made = []string{
	"*.txtrace", "report.txt", "report.json", "verify.txt", "verify.json", "result.json",
	"before", "after", "record*.log", "kprobe_profile.txt", "direct.txt", "memory.txt", "netperf-*.txt",
	"perf.data", "perf.log", "trace.dat", "trace-cmd.log",
}

func removeMade(dir string) error {
	entries, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	for _, e := range entries {
		if slices.ContainsFunc(made, func(pattern string) bool {
			ok, err := path.Match(pattern, e.Name())
			return ok && err == nil
		}) {
			if err := os.RemoveAll(filepath.Join(dir, e.Name())); err != nil {
				return err
			}
		}
	}
	return nil
}

// runScenarios boots the guest, looks at the captures on the host, writes
// a result.json for each scenario, and returns the worst exit code.
func runScenarios(ctx context.Context, o *options, g *guest) (int, error) {
	for _, name := range o.scenarios {
		dir := outcome.Dir(o.out, o.scenarios, name)
		if err := removeMade(dir); err != nil {
			return outcome.ExitInternal, err
		}
	}
	g.job = scenarioJob(o.scenarios)
	g.env["TOOLS"] = strings.Join(o.tools, " ")
	g.env["SEED"] = fmt.Sprint(o.seed)
	g.env["LOAD_SECONDS"] = fmt.Sprint(o.seconds)
	if slices.Contains(o.tools, "txtrace") {
		bin, err := filepath.Abs(o.txtrace)
		if err != nil {
			return outcome.ExitInternal, err
		}
		if _, err := os.Stat(bin); err != nil {
			return outcome.ExitUsage, fmt.Errorf("%w: make build", err)
		}
		g.env["TXTRACE_BIN"] = "/host" + bin
	}

	res, bootErr := g.boot(ctx)
	if res == nil {
		return outcome.ExitInternal, bootErr
	}
	var f *failure
	if bootErr != nil && !errors.As(bootErr, &f) {
		return outcome.ExitInternal, bootErr
	}

	end := g.output
	if o.quiet {
		end = io.Discard
	}
	codes := make([]int, 0, len(o.scenarios))
	for _, name := range o.scenarios {
		oc := outcome.Outcome{
			Version: 1, Type: "result",
			Kernel: o.kernel, Release: res.Release, NIC: o.nic, Scenario: name,
			Seed: o.seed, Emulated: !g.kvm,
			Warnings: res.Warnings, QEMU: shellQuote(res.Command),
		}
		oc.Steps, oc.Exit, oc.Failure = judge(name, res, bootErr)
		if bootErr != nil {
			oc.Guest = bootErr.Error()
		}
		dir := outcome.Dir(o.out, o.scenarios, name)
		if strings.HasPrefix(oc.Failure, "ready: ") || strings.HasPrefix(oc.Failure, "stop-txtrace: ") {
			if says := recorderSays(dir); says != "" {
				oc.Failure += ": " + says
			}
		}
		if _, err := os.Stat(filepath.Join(dir, "capture.txtrace")); err == nil {
			steps := examine(ctx, o.txtrace, dir)
			oc.Steps = append(oc.Steps, steps...)
			if oc.Exit == 0 {
				oc.Exit = steps[0].Exit
			}
			if err := printVerdict(end, name, dir); err != nil {
				return outcome.ExitInternal, err
			}
		}
		if err := oc.Write(dir); err != nil {
			return outcome.ExitInternal, err
		}
		if oc.Failure != "" {
			logf("%s: %s", name, oc.Failure)
		}
		codes = append(codes, oc.Exit)
	}
	if bootErr != nil {
		return outcome.ExitGuest, fmt.Errorf("%w; the console is in %s", bootErr, g.console)
	}
	fmt.Fprintf(end, "What the guest left is in %s.\n", o.out)
	return worst(codes), nil
}

// printVerdict prints the last lines of a scenario's verify.txt, which count
// the rules and say the verdict.
func printVerdict(w io.Writer, name, dir string) error {
	b, err := os.ReadFile(filepath.Join(dir, "verify.txt"))
	if err != nil {
		return err
	}
	for line := range strings.Lines(string(b)) {
		if strings.HasPrefix(line, "rules: ") || strings.HasPrefix(line, "verdict: ") {
			fmt.Fprintf(w, "%s: %s", name, line)
		}
	}
	return nil
}

// judge picks a scenario's steps from those of the boot, and says how it
// went in the guest: 0, a skip or a failure.
func judge(name string, res *result, bootErr error) (steps []outcome.Step, exit int, failed string) {
	ran := false
	for _, s := range res.Steps {
		owner, short, ok := strings.Cut(s.Name, "/")
		if !ok || owner == "guest" {
			steps = append(steps, s)
			continue
		}
		if owner != name {
			continue
		}
		ran = true
		s.Name = short
		steps = append(steps, s)
		switch {
		case s.Exit == 0 || exit != 0:
		case short == "setup" && s.Exit == outcome.ExitSkip:
			exit, failed = outcome.ExitSkip, "skipped: the scenario cannot run on this device or kernel"
		default:
			exit, failed = outcome.ExitGuest, fmt.Sprintf("%s: exit code %d", short, s.Exit)
		}
	}
	finished := slices.ContainsFunc(steps, func(s outcome.Step) bool { return s.Name == "teardown" })
	switch {
	case exit != 0 || ran && finished:
		return steps, exit, failed
	case bootErr != nil:
		return steps, outcome.ExitGuest, fmt.Sprintf("after %s: %v", steps[len(steps)-1].Name, bootErr)
	}
	return steps, outcome.ExitGuest, "it did not run to its end"
}

// recorderSays is the last line of a recorder's log, or "".
func recorderSays(dir string) string {
	b, err := os.ReadFile(filepath.Join(dir, "record.log"))
	if err != nil {
		return ""
	}
	b = bytes.TrimSpace(b)
	return cleanLine(b[bytes.LastIndexByte(b, '\n')+1:])
}

// examine runs verify and report on a capture; verify's text comes first.
func examine(ctx context.Context, txtrace, dir string) []outcome.Step {
	var steps []outcome.Step
	for _, verb := range []string{"verify", "report"} {
		for _, form := range []struct{ name, suffix string }{{"text", "txt"}, {"json", "json"}} {
			s := outcome.Step{Name: verb + "-" + form.name}
			start := time.Now()
			err := capture(ctx, filepath.Join(dir, verb+"."+form.suffix),
				txtrace, verb, "--format", form.name, filepath.Join(dir, "capture.txtrace"))
			s.Seconds = seconds(time.Since(start))
			var ee *exec.ExitError
			switch {
			case err == nil:
			case errors.As(err, &ee) && ee.ExitCode() >= 0:
				s.Exit = ee.ExitCode()
			default:
				s.Exit = outcome.ExitInternal
				logf("%v", err)
			}
			steps = append(steps, s)
		}
	}
	return steps
}

// capture runs a command with its output in a file.
func capture(ctx context.Context, file, name string, args ...string) error {
	ctx, cancel := context.WithTimeout(ctx, 10*time.Minute)
	defer cancel()
	f, err := os.Create(file)
	if err != nil {
		return err
	}
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Stdout = f
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	err = cmd.Run()
	if stderr.Len() > 0 {
		os.Stderr.Write(stderr.Bytes())
	}
	return errors.Join(err, f.Close())
}

// worst picks the exit code that matters most. That some scenarios were
// skipped shows only when all were.
func worst(codes []int) int {
	for _, c := range []int{outcome.ExitGuest, outcome.ExitInternal, outcome.ExitUsage, 1, 6, 3, 0} {
		if slices.Contains(codes, c) {
			return c
		}
	}
	if slices.Contains(codes, outcome.ExitSkip) {
		return outcome.ExitSkip
	}
	return slices.Max(codes)
}

func seconds(d time.Duration) float64 { return d.Round(10 * time.Millisecond).Seconds() }

// toolNames is what lib.sh knows how to start.
var toolNames = []string{"txtrace", "perf", "trace-cmd"}

func checkNames(what string, got, known []string) error {
	for _, g := range got {
		if !slices.Contains(known, g) {
			return fmt.Errorf("%s %s: not known; there is %s", what, g, strings.Join(known, ", "))
		}
	}
	return nil
}

func nicNames() []string { return slices.Sorted(maps.Keys(nicModels)) }
