// SPDX-License-Identifier: Apache-2.0

package accept

import (
	"os/exec"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/txtrace/txtrace/internal/analysis"
)

// strictFolded is a line as tools for flame graphs parse it.
var strictFolded = regexp.MustCompile(`^([^ ;]+(?:;[^ ;]+)*) ([0-9]+)$`)

// stacked holds what stacks add up to against what the records say: the two take
// different ways out of the kernel.
func stacked(t *testing.T, g *guest, file string) {
	r := g.report(t, file)
	var handed, requeues, quota analysis.U64
	var packets, bytes analysis.U64
	for _, q := range r.Queues {
		handed += q.Handovers.Count
		packets += q.Handovers.Packets
		bytes += q.Handovers.Bytes
		requeues += q.Requeues.Packets
		quota += q.Runs.QuotaEnded
	}
	t.Logf("%d hand-overs of %d packets, %d bytes; %d requeued, %d runs ended by the quota", handed, packets, bytes, requeues, quota)
	for _, c := range []struct {
		at, by string
		want   analysis.U64
		last   string
	}{
		{"handover", "count", handed, "dev_hard_start_xmit"},
		{"handover", "packets", packets, "dev_hard_start_xmit"},
		{"handover", "bytes", bytes, "dev_hard_start_xmit"},
		{"requeue", "packets", requeues, "sch_direct_xmit"},
		{"quota", "count", quota, "__qdisc_run"},
	} {
		cmd := exec.Command(g.txtrace, "flame", "--at", c.at, "--by", c.by, file)
		var says strings.Builder
		cmd.Stderr = &says
		folded, err := cmd.Output()
		if err != nil {
			t.Errorf("flame --at %s: %v: %s", c.at, err, says.String())
			continue
		}
		var sum analysis.U64
		met := false
		for line := range strings.Lines(string(folded)) {
			m := strictFolded.FindStringSubmatch(strings.TrimSuffix(line, "\n"))
			if m == nil {
				t.Errorf("not folded: %q", line)
				continue
			}
			n, _ := strconv.ParseUint(m[2], 10, 64)
			sum += analysis.U64(n)
			met = met || strings.HasSuffix(m[1], ";"+c.last) && strings.Contains(m[1], "__dev_queue_xmit;")
			if strings.Contains(m[1], "bpf_trampoline") || strings.Contains(m[1], ";"+c.last+";"+c.last) {
				t.Errorf("tracing is in it: %s", line)
			}
		}
		if !met {
			t.Errorf("%s: no stack goes from __dev_queue_xmit to %s:\n%s", c.at, c.last, folded)
		}
		// A stack that finds another in its place is counted, and said.
		if lost := says.Len() > 0; sum > c.want || sum < c.want && !lost {
			t.Errorf("%s by %s: %d, the records say %d (%s)", c.at, c.by, sum, c.want, strings.TrimSpace(says.String()))
		}
	}
}
