// SPDX-License-Identifier: Apache-2.0

package accept

import (
	"path/filepath"
	"regexp"
	"strconv"
	"testing"
)

var batchOf = regexp.MustCompile(`a batch of (\d+)`)

// 6.12.43 bounds a bulk dequeue by bytes alone, which 0345552a653c mended: a
// real no on a real kernel.
func Test6_12_43(t *testing.T) {
	// Without the scenario's low limit at the start, so that the first batches
	// past the quota, which are the evidence, are past 65 packets too.
	out := boot(t, "6.12.43", "-scenario", "bulk-udp", "-tools", "txtrace,perf", "-env", "BULK_LIMIT=max")
	file := filepath.Join(out, "capture.txtrace")

	v, code := verify(t, file)
	if code != 0 {
		t.Errorf("auto: exit %d", code)
	}
	for _, r := range v.Rules {
		if r.ID == "D2" && (r.Verdict != "expected" || r.Expected < 10 || r.Fails != 0) {
			t.Errorf("auto: D2 is %s: %+v", r.Verdict, r)
		}
	}
	for _, s := range v.Variants {
		if s.Switch == "bulk" && (s.State != "proven" || s.Variant != "bytes" || s.MendedBy != "0345552a653c") {
			t.Errorf("auto: bulk is %+v", s)
		}
	}

	for _, variant := range []string{"bulk=budget", "latest"} {
		v, code := verify(t, file, "--variant", variant)
		if code != 1 {
			t.Errorf("%s: exit %d", variant, code)
		}
		for _, r := range v.Rules {
			if r.ID != "D2" {
				if r.Verdict == "fail" {
					t.Errorf("%s: %s fails too", variant, r.ID)
				}
				continue
			}
			if r.Verdict != "fail" || len(r.Evidence) == 0 {
				t.Errorf("%s: D2 is %s", variant, r.Verdict)
				continue
			}
			most := 0
			for _, e := range r.Evidence {
				if m := batchOf.FindStringSubmatch(e.Says); m != nil {
					n, _ := strconv.Atoi(m[1])
					most = max(most, n)
				}
			}
			if most <= 65 {
				t.Errorf("%s: no batch above 65 is evidence: %+v", variant, r.Evidence)
			}
		}
	}
}
