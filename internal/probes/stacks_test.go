// SPDX-License-Identifier: Apache-2.0

package probes

import (
	"errors"
	"slices"
	"testing"

	"github.com/cilium/ebpf/btf"

	"github.com/txtrace/txtrace/internal/capture"
)

// The numbers of the moments are those of the programs.
func TestMoments(t *testing.T) {
	spec, err := loadTxtrace()
	if err != nil {
		t.Fatal(err)
	}
	var e *btf.Enum
	if err := spec.Types.TypeByName("tx_moment", &e); err != nil {
		t.Fatal(err)
	}
	moments := capture.Moments()
	if len(e.Values) != len(moments)+1 {
		t.Fatalf("%d moments, and in BPF %v", len(moments), e.Values)
	}
	for i, m := range moments {
		if v := e.Values[i]; v.Name != "TX_MOMENT_"+m.Name || v.Value != uint64(i) {
			t.Errorf("moment %d is %s, in BPF %s", i, m.Name, v.Name)
		}
		if !slices.ContainsFunc(points, func(p Point) bool { return p.Fact == m.Fact }) {
			t.Errorf("%s is seen by %s, which is no fact", m.Name, m.Fact)
		}
	}
}

const kallsyms = `0000000000000000 A fixed_percpu_data
ffffffff81000000 T _text
ffffffff81000100 T __dev_queue_xmit
ffffffff81000100 t same_place
ffffffff81000200 D some_data
ffffffff81000300 T __qdisc_run
ffffffff810003f0 t __pfx_kthread_data
ffffffff81000400 T kthread_data
ffffffffc0000000 t e1000_xmit_frame	[e1000e]
ffffffffc0001000 t bpf_trampoline_6442	[bpf]
ffffffffc0002000 t bpf_prog_12ab_run_end	[bpf]
`

// A return address is of the call before it: 300 is still of the function before
// it. What tracing adds is left out, a function that calls itself is not, and a
// stack ends in the function of its moment.
func TestCalls(t *testing.T) {
	s, err := parseSymbols(kallsyms)
	if err != nil {
		t.Fatal(err)
	}
	ips := []uint64{0xffffffffc0002050, 0xffffffffc0001010, 0xffffffff81000344, 0xffffffffc0001020, 0xffffffff81000304, 0xffffffff81000300, 0xffffffff81000180, 0xffffffffc0000010, 0xfff, 0, 0xffffffff81000301}
	want := []capture.StackFunction{{Name: unknownCall}, {Name: "e1000_xmit_frame", Module: "e1000e"}, {Name: "__dev_queue_xmit"}, {Name: "__dev_queue_xmit"}, {Name: "__qdisc_run"}}
	if got := s.calls(ips, "__qdisc_run"); !slices.Equal(got, want) {
		t.Errorf("got %v", got)
	}
	if got := s.calls(ips[3:], "sch_direct_xmit"); got[len(got)-1].Name != "sch_direct_xmit" || len(got) != 6 {
		t.Errorf("without its own function: %v", got)
	}
	if got := s.calls([]uint64{0xffffffff81000400, 0xffffffff81000410}, "kthread_data"); len(got) != 2 || got[0].Name != "kthread_data" || got[1] != got[0] {
		t.Errorf("interrupted before the first instruction: %v", got)
	}
	if _, err := parseSymbols("0000000000000000 T _text\n"); err == nil {
		t.Error("hidden addresses were taken")
	}
}

// A moment that this kernel does not show is refused, not silently empty.
func TestTakesStacks(t *testing.T) {
	f := facts(t, "5.10")
	p, err := NewPlan(f, "auto", nil)
	if err != nil {
		t.Fatal(err)
	}
	var e *Error
	if err := p.takesStacks([]string{"handover", "throttle"}); !errors.As(err, &e) || e.Object != "--stacks throttle" || e.Kind != CannotRun {
		t.Errorf("throttle on 5.10: %v", err)
	}
	if err := p.takesStacks([]string{"handover", "doorbell", "requeue", "quota", "schedule"}); err != nil {
		t.Error(err)
	}
}
