// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"encoding/json"
	"errors"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/txtrace/txtrace/testenv/internal/debian"
	"github.com/txtrace/txtrace/testenv/internal/outcome"
)

// vmTest skips a test that boots guests unless TXTRACE_VM is set.
func vmTest(t *testing.T) {
	t.Helper()
	if os.Getenv("TXTRACE_VM") == "" {
		t.Skip("boots a guest: set TXTRACE_VM=1")
	}
}

// vmGuest prepares a guest from vm's own flags.
func vmGuest(t *testing.T, out string, flags ...string) (*options, *guest) {
	t.Helper()
	o, err := parse(append([]string{"-out", out}, flags...))
	if err != nil {
		t.Fatal(err)
	}
	kernel, err := findKernel(t.Context(), o)
	if errors.Is(err, debian.ErrNotFound) {
		t.Skipf("kernel %s: %v", o.kernel, err)
	}
	if err != nil {
		t.Fatal(err)
	}
	g, err := newGuest(o, kernel)
	if err != nil {
		t.Fatal(err)
	}
	g.output = t.Output()
	return o, g
}

// heldElsewhere are scenarios that are nothing without txtrace, or repeat others:
// testenv/accept holds them.
var heldElsewhere = []string{"bursts", "everything", "faults", "htb", "lives", "mixed", "noqueue", "owners", "paced", "tcp-rr", "veth-full"}

// heldNowhere are scenarios that no test plays yet, but people by make vm.
var heldNowhere = []string{"churn"}

// TestScenarios boots 6.1 once, runs every other scenario with perf as the tool
// that records, and holds that each makes happen what it is there for.
func TestScenarios(t *testing.T) {
	vmTest(t)
	out := t.TempDir()
	names := slices.DeleteFunc(scenarioNames(), func(name string) bool { return slices.Contains(slices.Concat(heldElsewhere, heldNowhere), name) })
	o, g := vmGuest(t, out, "-kernel", "6.1", "-nic", "e1000e", "-scenario", strings.Join(names, ","), "-tools", "perf")
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Minute)
	defer cancel()
	code, err := runScenarios(ctx, o, g)
	if err != nil || code != 0 {
		t.Fatalf("exit code %d, %v", code, err)
	}
	for _, name := range o.scenarios {
		t.Run(name, func(t *testing.T) { checkScenario(t, name, filepath.Join(out, name)) })
	}
}

func checkScenario(t *testing.T, name, dir string) {
	var oc outcome.Outcome
	readJSON(t, filepath.Join(dir, "result.json"), &oc)
	if oc.Exit == outcome.ExitSkip && name == "queues" {
		t.Skip(oc.Failure) // it needs a device of several queues, and has a test of its own in accept
	}
	if oc.Exit != 0 || oc.Scenario != name || !strings.HasPrefix(oc.Release, "6.1.") {
		t.Errorf("result.json: %+v", oc)
	}
	if len(oc.Warnings) > 0 {
		t.Errorf("the kernel complained: %q", oc.Warnings)
	}
	ifindex := "2"
	if name == "dummy" {
		ifindex = "99"
	}
	sizes := dequeues(t, filepath.Join(dir, "perf.data"), ifindex)
	count, packets, batches := 0, 0, 0
	for n, times := range sizes {
		count += times
		packets += n * times
		if n > 1 {
			batches += times
		}
	}
	largest := slices.Max(append(slices.Collect(maps.Keys(sizes)), 0))
	requeues := qdiscSum(t, dir, "after", "requeues") - qdiscSum(t, dir, "before", "requeues")
	sent := qdiscSum(t, dir, "after", "packets") - qdiscSum(t, dir, "before", "packets")
	if name == "changes" { // each qdisc counts from zero
		sent = packets
	}
	bql, err := os.ReadFile(filepath.Join(dir, "after/tx/bql.txt"))
	if err != nil {
		t.Fatal(err)
	}
	limit := bqlValue(t, string(bql), "limit")
	t.Logf("%d packets, %d requeues; %d dequeues of %d packets, %d of two and more, %d of 65, largest %d; limit %d bytes",
		sent, requeues, count, packets, batches, sizes[65], largest, limit)

	// 6.1 stops a batch at 1 + 64 packets.
	if largest > 65 {
		t.Errorf("a dequeue of %d packets", largest)
	}
	if sent < 1000 {
		t.Errorf("%d packets sent", sent)
	}
	if count < 10 {
		t.Errorf("%d dequeues", count)
	}
	if name == "dummy" {
		if limit != 0 || largest > 1 {
			t.Errorf("limit %d, largest dequeue %d: a device without byte queue limits", limit, largest)
		}
		return
	}
	if limit == 0 {
		t.Error("limit is 0: byte queue limits are not at work")
	}
	if n := bqlValue(t, string(bql), "inflight"); n != 0 {
		t.Errorf("%d bytes in flight at a quiet moment", n)
	}
	switch name {
	case "bulk-udp":
		if batches < 10 || sizes[65] < 10 {
			t.Errorf("%d batches, %d of 65: want 10 of each", batches, sizes[65])
		}
	case "tcp-small":
		if batches < 10 {
			t.Errorf("%d batches: want 10", batches)
		}
	case "tcp-gso":
		if requeues < 10 {
			t.Errorf("%d requeues: want 10", requeues)
		}
	}
}

var dequeueLine = regexp.MustCompile(`ifindex=(\d+) .* packets=(\d+) skbaddr=(\S+)`)

// dequeues is perf's histogram of packets per dequeue on a device.
func dequeues(t *testing.T, data, ifindex string) map[int]int {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "perf", "script", "-i", data, "-F", "trace", "--show-lost-events")
	b, err := cmd.Output()
	if err != nil {
		t.Fatalf("perf script: %v", err)
	}
	sizes := make(map[int]int)
	for line := range strings.Lines(string(b)) {
		if strings.Contains(line, "PERF_RECORD_LOST") {
			t.Fatalf("perf lost events: %s", line)
		}
		m := dequeueLine.FindStringSubmatch(line)
		// An empty dequeue is an event with packets=1 and no skb.
		if m == nil || m[1] != ifindex || strings.Trim(m[3], "0x") == "" || m[3] == "(nil)" {
			continue
		}
		n, err := strconv.Atoi(m[2])
		if err != nil {
			t.Fatal(err)
		}
		sizes[n]++
	}
	return sizes
}

// qdiscSum adds a counter over the root qdiscs of the sender's device.
func qdiscSum(t *testing.T, dir, when, field string) int {
	t.Helper()
	var qdiscs []map[string]any
	readJSON(t, filepath.Join(dir, when, "tx/qdisc.json"), &qdiscs)
	sum := 0
	for _, q := range qdiscs {
		if q["root"] == true {
			n, ok := q[field].(float64)
			if !ok {
				t.Fatalf("qdisc.json: no %s in %v", field, q)
			}
			sum += int(n)
		}
	}
	return sum
}

// bqlValue is the largest value of a file of byte_queue_limits.
func bqlValue(t *testing.T, text, file string) int {
	t.Helper()
	largest := 0
	for line := range strings.Lines(text) {
		path, value, ok := strings.Cut(strings.TrimSpace(line), ":")
		if !ok || filepath.Base(path) != file {
			continue
		}
		n, err := strconv.Atoi(value)
		if err != nil {
			t.Fatal(err)
		}
		largest = max(largest, n)
	}
	return largest
}

func readJSON(t *testing.T, file string, v any) {
	t.Helper()
	b, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(b, v); err != nil {
		t.Fatalf("%s: %v", file, err)
	}
}
