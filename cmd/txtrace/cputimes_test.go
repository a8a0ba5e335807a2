// SPDX-License-Identifier: Apache-2.0

package main

import (
	"strings"
	"testing"

	"github.com/txtrace/txtrace/internal/capture"
)

func TestCPUTimes(t *testing.T) {
	const stat = "cpu  100 20 30 400 5 6 7 8 9 10\ncpu0 1 2 3 4 5 6 7 8 9 10\nintr 1\n"
	got := parseCPUTimes(strings.NewReader(stat))
	want := capture.CPUTimes{User: 1_200_000_000, System: 300_000_000, Idle: 4_050_000_000, IRQ: 60_000_000, SoftIRQ: 70_000_000, Steal: 80_000_000}
	if got == nil || *got != want {
		t.Fatalf("%+v", got)
	}
	if got.Busy() != 1_630_000_000 {
		t.Errorf("busy %d", got.Busy())
	}
	then := capture.CPUTimes{User: 200_000_000, Idle: 5_000_000_000}
	if d := cpuSince(&then, got); d.User != 1_000_000_000 || d.System != 300_000_000 || d.Idle != 0 {
		t.Errorf("%+v", d)
	}
	for _, bad := range []string{"", "cpu 1 2 3\n", "cpu0 1 2 3 4 5 6 7 8\n", "cpu  1 2 3 x 5 6 7 8\n"} {
		if got := parseCPUTimes(strings.NewReader(bad)); got != nil {
			t.Errorf("%q: %+v", bad, got)
		}
	}
	if cpuSince(nil, got) != nil || cpuSince(got, nil) != nil {
		t.Error("spent since a time that is not known")
	}
	if now := cpuTimes(); now == nil || now.Busy() == 0 {
		t.Errorf("this machine: %+v", now)
	}
}
