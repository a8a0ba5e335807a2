// SPDX-License-Identifier: Apache-2.0

// Package accept holds txtrace to what a real kernel did: it boots one, runs
// the scenarios with txtrace and perf recording at the same time, and
// compares what they say with each other and with what tc, ip and sysfs say,
// between two quiet moments.
//
//	TXTRACE_VM=1 go test -v ./testenv/accept
//
// Each test boots one guest, and another one only for scenarios in which
// perf lost events. Its files, console.log among them, are kept in
// out/accept.
package accept

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/txtrace/txtrace/internal/analysis"
	"github.com/txtrace/txtrace/internal/report"
	"github.com/txtrace/txtrace/testenv/internal/outcome"
)

// guest is where a test's guests are made and leave their files.
type guest struct {
	out         string // absolute
	vm, txtrace string // built from this tree
}

func newGuest(t *testing.T) *guest {
	t.Helper()
	if os.Getenv("TXTRACE_VM") == "" {
		t.Skip("boots a guest: set TXTRACE_VM=1")
	}
	root, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	g := &guest{out: filepath.Join(root, "out", "accept", t.Name())}
	if err := os.RemoveAll(g.out); err != nil {
		t.Fatal(err)
	}
	build := func(what string) string {
		to := filepath.Join(g.out, "bin", filepath.Base(what))
		cmd := exec.CommandContext(t.Context(), "go", "build", "-o", to, what)
		cmd.Dir, cmd.Env = root, append(os.Environ(), "CGO_ENABLED=0")
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("go build %s: %v\n%s", what, err, out)
		}
		return to
	}
	g.vm, g.txtrace = build("./testenv/vm"), build("./cmd/txtrace")
	return g
}

// boot runs vm with its files in a folder of g.out, and returns the folder.
func (g *guest) boot(t *testing.T, name, kernel string, args ...string) string {
	t.Helper()
	out := filepath.Join(g.out, name)
	cmd := exec.CommandContext(t.Context(), g.vm, append([]string{
		"-kernel", kernel, "-nic", "e1000e", "-timeout", "12m", "-txtrace", g.txtrace, "-out", out}, args...)...)
	var said bytes.Buffer
	cmd.Stdout = io.MultiWriter(t.Output(), &said)
	cmd.Stderr = cmd.Stdout
	t.Cleanup(func() {
		if t.Failed() {
			t.Logf("the console is in %s", filepath.Join(out, "console.log"))
		}
	})
	err := cmd.Run()
	code := exitCode(t, err)
	switch {
	case code == outcome.ExitSkip && bytes.Contains(said.Bytes(), []byte("skip: kernel")):
		t.Skip(said.String())
	case code == 0 || code == analysis.ExitFail || code == analysis.ExitInconclusive:
		// What the verdicts are is looked at scenario by scenario.
	default:
		t.Fatalf("%s: %v", cmd, err)
	}
	return out
}

func exitCode(t *testing.T, err error) int {
	t.Helper()
	var ee *exec.ExitError
	switch {
	case err == nil:
		return 0
	case errors.As(err, &ee):
		return ee.ExitCode()
	}
	t.Fatal(err)
	return 0
}

func readJSON(t *testing.T, path string, to any) {
	t.Helper()
	b, err := os.ReadFile(path)
	if err == nil {
		err = json.Unmarshal(b, to)
	}
	if err != nil {
		t.Fatalf("%s: %v", path, err)
	}
}

// ask runs a verb of txtrace on a capture. It must not fail otherwise than by
// its verdict.
func (g *guest) ask(t *testing.T, to any, verb, file string, flags ...string) int {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), g.txtrace, append([]string{verb, "--format", "json", file}, flags...)...)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	code := exitCode(t, err)
	if stderr.Len() > 0 {
		t.Logf("%s", bytes.TrimSpace(stderr.Bytes()))
	}
	if err := json.Unmarshal(out, to); err != nil {
		t.Fatalf("%s: exit code %d: %v\n%s", cmd, code, err, out)
	}
	return code
}

func (g *guest) verify(t *testing.T, file string, flags ...string) *analysis.Verify {
	t.Helper()
	var v analysis.Verify
	if code := g.ask(t, &v, "verify", file, flags...); code != v.Exit {
		t.Errorf("verify %v: exit code %d, and exit %d in its JSON", flags, code, v.Exit)
	}
	return &v
}

func (g *guest) report(t *testing.T, file string) *report.Report {
	t.Helper()
	var r report.Report
	if code := g.ask(t, &r, "report", file); code != 0 {
		t.Errorf("report: exit code %d", code)
	}
	return &r
}

func rule(t *testing.T, v *analysis.Verify, id string) *analysis.RuleVerdict {
	t.Helper()
	for i := range v.Rules {
		if v.Rules[i].ID == id {
			return &v.Rules[i]
		}
	}
	t.Fatalf("no rule %s", id)
	return nil
}

func variant(t *testing.T, v *analysis.Verify, name string) *analysis.VariantState {
	t.Helper()
	for i := range v.Variants {
		if v.Variants[i].Switch == name {
			return &v.Variants[i]
		}
	}
	t.Fatalf("no switch %s", name)
	return nil
}

// value of an evidence, by its name.
func value(t *testing.T, e *analysis.Evidence, name string) int64 {
	t.Helper()
	for _, v := range e.Values {
		if v.Name == name {
			return v.Value
		}
	}
	t.Fatalf("no %s: %+v", name, e)
	return 0
}
