// SPDX-License-Identifier: Apache-2.0

package accept

import (
	"bytes"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"testing"
)

// sized is a datagram that perf saw queued, and its length.
var sized = regexp.MustCompile(`dev=dummy9 skbaddr=\S+ len=(\d+)`)

// owned holds what a filter of sockets let through to what perf saw of all: each
// packet of the chosen sender, whose length no other has, and no other's.
func owned(t *testing.T, g *guest, dir string) {
	cmd := exec.CommandContext(t.Context(), "perf", "script", "-i", filepath.Join(dir, "perf.data"), "-F", "event,trace")
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%s: %v", cmd, err)
	}
	seen := make(map[string]sum) // by payload
	for _, m := range sized.FindAllSubmatch(out, -1) {
		n, err := strconv.ParseUint(string(bytes.TrimSpace(m[1])), 10, 64)
		if err != nil {
			t.Fatal(err)
		}
		payload := strconv.FormatUint(n-42, 10)
		seen[payload] = sum{seen[payload].n + 1, seen[payload].bytes + n}
	}
	t.Logf("perf: %v", seen)
	senders := []string{"100", "200", "300", "400"}
	for _, payload := range senders {
		if seen[payload].n < 100 {
			t.Errorf("%d packets of %s bytes: no load", seen[payload].n, payload)
		}
	}
	// Each netperf ends with as many that are empty.
	empty := sum{seen["0"].n / uint64(len(senders)), seen["0"].bytes / uint64(len(senders))}
	for _, c := range []struct{ name, file, payload string }{
		{"cgroup", "capture.txtrace", "100"}, {"pid", "pid.txtrace", "200"},
	} {
		file := filepath.Join(dir, c.file)
		r, v := g.report(t, file), g.verify(t, file)
		if v.Lost.Missed != 0 {
			t.Logf("%s: %d runs skipped by the kernel: not compared", c.name, v.Lost.Missed)
			continue
		}
		var picks sum
		for i := range r.Picks {
			picks = sum{picks.n + uint64(r.Picks[i].Picks), picks.bytes + uint64(r.Picks[i].Bytes)}
		}
		sent := seen[c.payload]
		same(t, c.name+": picks and the sender's packets", picks, sum{sent.n + empty.n, sent.bytes + empty.bytes})
	}
}
