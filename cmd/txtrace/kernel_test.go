// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/txtrace/txtrace/internal/probes"
)

// Every reason for which a kernel cannot be recorded that does not take a
// kernel to show.
func TestRefusals(t *testing.T) {
	all := map[string]bool{"CAP_BPF": true, "CAP_PERFMON": true, "CAP_SYSLOG": true, "CAP_NET_ADMIN": true}
	without := func(name string) map[string]bool {
		caps := map[string]bool{}
		for k := range all {
			caps[k] = k != name
		}
		return caps
	}
	plan := func(f *probes.Facts) error {
		_, err := probes.NewPlan(f, "auto", nil)
		return err
	}
	fields := map[string]bool{"bpf.this_cpu_ptr": true, "kallsyms.addresses": true}
	offset := probes.Function{Symbols: 1}
	missing := &probes.Facts{Fields: fields, Functions: map[string]probes.Function{
		"__per_cpu_offset": offset,
		"__qdisc_run":      {Symbols: 1, BTF: true, Ftrace: true}, "sch_direct_xmit": {Symbols: 1, BTF: true, Ftrace: true},
		"dev_hard_start_xmit": {Suffixed: "dev_hard_start_xmit.isra.0", BTF: true},
	}, Tracepoints: map[string]bool{"qdisc_dequeue": true}}
	_, noBTF := probes.Gather("no-such-vmlinux")
	_, noNetns := (&recordFlags{netns: []string{"no-such-namespace"}}).config()
	var b strings.Builder
	for _, c := range []struct {
		what string
		err  error
	}{
		{"no root", (&probes.Facts{Caps: map[string]bool{}}).Permitted()},
		{"no CAP_PERFMON", (&probes.Facts{Caps: without("CAP_PERFMON")}).Permitted()},
		{"lockdown", (&probes.Facts{Caps: all, Lockdown: "confidentiality"}).Permitted()},
		{"a BTF file that is not there", noBTF},
		{"a namespace that is not there", noNetns},
		{"a kernel before 5.10", plan(&probes.Facts{})},
		{"a kernel without CONFIG_KALLSYMS_ALL", plan(&probes.Facts{Fields: fields})},
		{"hidden addresses", plan(&probes.Facts{Fields: map[string]bool{"bpf.this_cpu_ptr": true}, Functions: map[string]probes.Function{"__per_cpu_offset": offset}})},
		{"a hook that is not there", plan(&probes.Facts{Fields: fields, Functions: map[string]probes.Function{"__per_cpu_offset": offset}})},
		{"a hook with another name", plan(missing)},
	} {
		f := asFailure(probeFailure(c.err))
		if f == nil {
			t.Errorf("%s: taken", c.what)
			continue
		}
		fmt.Fprintf(&b, "%s\ntxtrace: %s\n(%d)\n\n", c.what, f, f.code)
	}
	golden := filepath.Join("testdata", "refusals.txt")
	if os.Getenv("UPDATE") != "" {
		if err := os.WriteFile(golden, []byte(b.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(string(want), b.String()); d != "" {
		t.Errorf("-want +got\n%s", d)
	}
}
