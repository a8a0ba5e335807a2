// SPDX-License-Identifier: Apache-2.0

package main

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/txtrace/txtrace/testenv/internal/outcome"
)

func TestPrintVerdict(t *testing.T) {
	dir := t.TempDir()
	text := "D1   pass          held 8. A bulk\n                   verdict: none\n\nrules: 1 pass, 2 fail\nverdict: fail: a rule was broken; exit 1\n"
	if err := os.WriteFile(filepath.Join(dir, "verify.txt"), []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	want := "dummy: rules: 1 pass, 2 fail\ndummy: verdict: fail: a rule was broken; exit 1\n"
	if err := printVerdict(&b, "dummy", dir); err != nil || b.String() != want {
		t.Errorf("%q, %v; want %q", b.String(), err, want)
	}
	if err := printVerdict(&b, "dummy", filepath.Join(dir, "none")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("without verify.txt: %v", err)
	}
}

// TestQueuesSkips plays the scenario on a device with one queue: it is a skip,
// and nothing but the reason is printed.
func TestQueuesSkips(t *testing.T) {
	const script = `. ../scenarios/queues
tracing=/nonexistent sout=/nonexistent DEV=eth0
tcp_peer() { :; }
tx() { echo tx-0; }
rx() { echo "rx $*"; }
setup
code=$?
teardown
exit $code`
	out, err := exec.Command("sh", "-c", script).CombinedOutput()
	var ee *exec.ExitError
	if !errors.As(err, &ee) || ee.ExitCode() != outcome.ExitSkip || string(out) != "queues: eth0 has one queue\n" {
		t.Errorf("%v, %q; want exit code 4 and the reason alone", err, out)
	}
}
