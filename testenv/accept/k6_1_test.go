// SPDX-License-Identifier: Apache-2.0

package accept

import (
	"path/filepath"
	"strings"
	"testing"
)

// Bookworm's kernel keeps every rule in every scenario, and what txtrace says
// of it is what perf, tc, ip and sysfs say.
func Test6_1(t *testing.T) {
	out := boot(t, "6.1", "-scenario", "all", "-tools", "txtrace,perf")
	for _, s := range []string{"bulk-udp", "tcp-gso", "tcp-small", "tcp-tso", "dummy"} {
		t.Run(s, func(t *testing.T) { compare(t, filepath.Join(out, s), s) })
	}

	// The bound of packets is proven by a batch that ended at it although
	// bytes and packets were left.
	t.Run("budget", func(t *testing.T) {
		file := filepath.Join(out, "bulk-udp", "capture.txtrace")
		for _, variant := range []string{"auto", "bulk=budget", "latest"} {
			v, code := verify(t, file, "--variant", variant)
			if code != 0 || v.exercised("D2") == 0 {
				t.Errorf("--variant %s: exit %d, D2 %d", variant, code, v.exercised("D2"))
			}
			for _, sw := range v.Variants {
				if variant != "auto" || sw.Switch != "bulk" {
					continue
				}
				if sw.State != "proven" || sw.Variant != "budget" || sw.By == nil || !strings.Contains(sw.By.Says, "the qdisc held") {
					t.Errorf("bulk: %+v %+v", sw, sw.By)
				}
			}
		}
	})
}
