// SPDX-License-Identifier: Apache-2.0

package main

import (
	"flag"
	"math"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

var update = flag.Bool("update", false, "write the golden files")

const runs = `# 6.1.0-50-amd64
1 none 90000 0 - -
1 txtrace 75000 50 - -
1 trace-cmd 77000 90 231000 0
1 perf 65000 130 - -
2 none 89900 0 - -
2 txtrace 75100 50 - -
2 trace-cmd 77100 90 231300 7
2 perf 65100 130 - -
3 none 90000 0 - -
stats txtrace 72000 40 - -
`

func TestText(t *testing.T) {
	release, lines, err := parseRuns(runs)
	if err != nil {
		t.Fatal(err)
	}
	for i := range lines {
		switch lines[i].tool {
		case "txtrace":
			lines[i].events, lines[i].lost = 37500, 0
		case "perf":
			lines[i].events, lines[i].lost = 195000, 0
		}
	}
	d, err := newDocument(&options{nic: "e1000e", bytes: 200, seconds: 3}, release, lines, []program{
		{Name: "dequeue", Hook: "tp_btf:qdisc_dequeue", Runs: 72000, NS: 14_400_000},
		{Name: "complete_hardirq", Hook: "fexit:__handle_irq_event_percpu", Runs: 86000, NS: 100_000_000},
		{Name: "write_begin", Hook: "fentry:tcp_write_xmit", Runs: 5, NS: 6000},
	})
	if err != nil {
		t.Fatal(err)
	}
	got := d.text()
	for line := range strings.Lines(got) {
		if len(line) > 73 {
			t.Errorf("%d columns: %s", len(line)-1, line)
		}
	}
	const golden = "testdata/cost.txt"
	if *update {
		if err := os.WriteFile(golden, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("-want +got\n%s", diff)
	}
	// What is added is all accounted for.
	if p := d.Programs; math.Abs(float64(p.BPFUS+p.OwnUS+p.RestUS-p.AddedUS)) > 1e-9 || p.List[0].Name != "complete_hardirq" {
		t.Errorf("%+v", p)
	}
}

// A run that is not whole is no result.
func TestRunsNotWhole(t *testing.T) {
	for name, text := range map[string]string{
		"empty":       "",
		"no release":  "1 none 90000 0 - -\n",
		"short line":  "# 6.1\n1 none 90000\n",
		"no messages": "# 6.1\n1 none 0 0 - -\n",
	} {
		if _, _, err := parseRuns(text); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
	_, lines, err := parseRuns(runs)
	if err != nil {
		t.Fatal(err)
	}
	one := []program{{Name: "dequeue", Runs: 1, NS: 1}}
	for name, less := range map[string][]line{"no statistics": lines[:9], "one base": lines[1:8], "one round": append(lines[:4:4], lines[8:]...)} {
		if _, err := newDocument(&options{seconds: 3}, "6.1", less, one); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}

func TestParseStats(t *testing.T) {
	const text = `
Aggregated stats:
           TOTAL events:     194812
          SAMPLE events:     194298  (99.7%)
            LOST events:          3  ( 0.0%)
qdisc:qdisc_dequeue stats:
          SAMPLE events:      64766
`
	events, lost, err := parseStats(text)
	if events != 194298 || lost != 3 || err != nil {
		t.Error(events, lost, err)
	}
	if _, _, err := parseStats("nothing"); err == nil {
		t.Error("no error")
	}
}
