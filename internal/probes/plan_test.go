// SPDX-License-Identifier: Apache-2.0

package probes

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/txtrace/txtrace/internal/capture"
)

func facts(t *testing.T, name string) *Facts {
	t.Helper()
	b, err := os.ReadFile(filepath.Join("testdata", "facts", name+".json"))
	if err != nil {
		t.Fatal(err)
	}
	var f Facts
	if err := json.Unmarshal(b, &f); err != nil {
		t.Fatal(err)
	}
	return &f
}

// absent lists the facts of a plan that have no source, with the reason.
func absent(p *Plan) map[string]string {
	m := map[string]string{}
	for _, c := range p.Choices {
		if c.State == "absent" {
			m[c.Fact] = c.Reason
		}
	}
	return m
}

// What each kernel we saved offers: everything, but for what is named here.
func TestPlanOfKernels(t *testing.T) {
	noEnqueue := "tracepoint qdisc_enqueue is not there"
	old := "bpf.atomic_fetch is not there (5.12 and later)"
	for name, want := range map[string]map[string]string{
		"5.10": {
			"tsq.throttle": old, "tsq.wfree": old, "tsq.resume": old, "tsq.release": old, "pick": old, "packet.transmit": old,
			"steer": noEnqueue, "packet.enqueue": noEnqueue, "sojourn": noEnqueue,
			"gro.poll":     "__napi_poll has no symbol (inlined or not built)",
			"schedule":     "__netif_reschedule has no symbol (inlined or not built)",
			"packet.life":  "skb_drop_reason is not there",
			"packet.burst": "Qdisc.defer_count is not there",
			"stall":        "tracepoint dql_stall_detected is not there",
		},
		"6.1":      {"stall": "tracepoint dql_stall_detected is not there", "packet.burst": "Qdisc.defer_count is not there"},
		"6.12.43":  {"packet.burst": "Qdisc.defer_count is not there"},
		"6.12.117": {"packet.burst": "Qdisc.defer_count is not there"},
		"7.2":      {"tsq.resume": "tcp_tsq_handler has no symbol (inlined or not built)"},
	} {
		p, err := NewPlan(facts(t, name), "auto", Extras())
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		got := absent(p)
		if len(got) != len(want) {
			t.Errorf("%s: absent %v, want %v", name, got, want)
		}
		for fact, reason := range want {
			if got[fact] != reason {
				t.Errorf("%s: %s: %q, want %q", name, fact, got[fact], reason)
			}
		}
		if len(p.Choices) != len(points) {
			t.Errorf("%s: %d choices for %d points", name, len(p.Choices), len(points))
		}
	}
}

// Too old a kernel is told so before anything is loaded.
func TestPlanOfOldKernel(t *testing.T) {
	f := facts(t, "5.10")
	f.Fields["bpf.this_cpu_ptr"] = false
	_, err := NewPlan(f, "auto", nil)
	var e *Error
	if !errors.As(err, &e) || e.Object != "bpf.per_cpu" || e.Kind != CannotRun {
		t.Errorf("5.10: %v", err)
	}
}

// The count of a CPU's context lies in pcpu_hot between 6.2 and 6.14 only.
func TestPlanPrefers(t *testing.T) {
	for name, want := range map[string]string{
		"6.1": "__preempt_count", "6.12.43": "pcpu_hot.preempt_count", "7.2": "__preempt_count",
	} {
		p, _ := NewPlan(facts(t, name), "auto", Extras())
		i := slices.IndexFunc(p.Choices, func(c capture.Choice) bool { return c.Fact == "context" })
		if got := p.Choices[i].Source; got != want {
			t.Errorf("%s: context from %q, want %q", name, got, want)
		}
	}
}

// A missing hook costs its facts and rules, a missing required one the recording.
func TestPlanGaps(t *testing.T) {
	for _, c := range []struct {
		name     string
		break_   func(*Facts)
		fact     string
		reason   string
		required bool
	}{
		{"suffixed", func(f *Facts) { f.Functions["tcp_wfree"] = Function{Suffixed: "tcp_wfree.isra.0", BTF: true} },
			"tsq.wfree", "tcp_wfree is tcp_wfree.isra.0 here", false},
		{"twice", func(f *Facts) { f.Functions["net_tx_action"] = Function{Symbols: 2, BTF: true, Ftrace: true} },
			"run.who", "net_tx_action is the name of 2 symbols", false},
		{"notrace", func(f *Facts) { f.Functions["__netif_schedule"] = Function{Symbols: 1, BTF: true} },
			"run.rescheduled", "__netif_schedule is not traceable", false},
		{"no BTF", func(f *Facts) { f.Functions["sch_direct_xmit"] = Function{Symbols: 1, Ftrace: true} },
			"direct", "sch_direct_xmit has no BTF", true},
		{"no tracepoint", func(f *Facts) { f.Tracepoints["qdisc_dequeue"] = false },
			"dequeue", "tracepoint qdisc_dequeue is not there", true},
		{"other dql", func(f *Facts) { f.Fields["dql.order"] = false },
			"bql", "dql.order is not there", false},
		{"no KALLSYMS_ALL", func(f *Facts) { f.Functions["__per_cpu_offset"] = Function{} },
			"symbols", "symbol __per_cpu_offset is not visible (CONFIG_KALLSYMS_ALL, kernel.kptr_restrict)", true},
		{"hidden addresses", func(f *Facts) { f.Fields["kallsyms.addresses"] = false },
			"symbols", "kallsyms.addresses is not there (CAP_SYSLOG, kernel.kptr_restrict below 2)", true},
		{"no kallsyms", func(f *Facts) { f.Functions["softnet_data"] = Function{} },
			"handover.more", "symbol softnet_data is not visible", false},
	} {
		t.Run(c.name, func(t *testing.T) {
			f := facts(t, "6.1")
			c.break_(f)
			p, err := NewPlan(f, "auto", Extras())
			if !strings.Contains(absent(p)[c.fact], c.reason) {
				t.Errorf("%s: %q, want %q", c.fact, absent(p)[c.fact], c.reason)
			}
			var e *Error
			if got := errors.As(err, &e); got != c.required {
				t.Fatalf("error %v, required %t", err, c.required)
			}
			if c.required && (e.Object != c.fact || e.Kind != CannotRun) {
				t.Errorf("error %+v", e)
			}
			for _, s := range points {
				if s.Fact == c.fact && slices.Contains(p.Programs, programOf(s)) {
					t.Errorf("%s is loaded all the same", programOf(s))
				}
			}
		})
	}
}

func programOf(p Point) string {
	if len(p.Sources[0].Programs) == 0 {
		return "none"
	}
	return p.Sources[0].Programs[0]
}

func TestPlanBackend(t *testing.T) {
	if _, err := NewPlan(facts(t, "6.1"), "kprobe", nil); err == nil {
		t.Error("there is no kprobe source yet, and no error")
	}
}

// What is an extra is off until it is asked for, and says how to.
func TestPlanExtras(t *testing.T) {
	f := facts(t, "7.2")
	for _, with := range [][]string{nil, append(Extras(), PerPacket)} {
		p, err := NewPlan(f, "auto", with)
		if err != nil {
			t.Fatal(err)
		}
		for i, c := range p.Choices {
			extra := points[i].With
			if off := c.State == "off"; off != (extra != "" && with == nil) {
				t.Errorf("with %v: %s is %s", with, c.Fact, c.State)
			}
			if c.State == "off" && (!strings.Contains(c.Reason, flagOf(extra)) || len(c.Disables) != len(points[i].Rules) || c.Source != "") {
				t.Errorf("%+v", c)
			}
			if got := slices.Contains(p.Programs, programOf(points[i])); c.State == "off" && got {
				t.Errorf("%s is off and loaded", c.Fact)
			}
		}
	}
	f.Functions["netdev_core_pick_tx"] = Function{}
	if p, _ := NewPlan(f, "auto", nil); !strings.Contains(absent(p)["pick"], "no symbol") {
		t.Errorf("an extra that cannot be: %+v", p.Choices)
	}
	if slices.Equal(Extras(), nil) || ExtraOf("pick") != "pick" || ExtraOf("run") != "" {
		t.Errorf("extras %q", Extras())
	}
}

// The line that says what is missing names the capability and what grants it.
func TestPermitted(t *testing.T) {
	f := facts(t, "6.1")
	for _, c := range []struct {
		caps     []string
		lockdown string
		cause    string
	}{
		{[]string{"CAP_SYS_ADMIN"}, "none", ""},
		{[]string{"CAP_BPF", "CAP_PERFMON"}, "", ""},
		{[]string{"CAP_BPF"}, "", "CAP_PERFMON is missing"},
		{[]string{"CAP_PERFMON"}, "", "CAP_BPF is missing"},
		{nil, "", "CAP_BPF is missing"},
		{[]string{"CAP_SYS_ADMIN"}, "confidentiality", "locked down"},
	} {
		f.Caps, f.Lockdown = map[string]bool{}, c.lockdown
		for _, name := range c.caps {
			f.Caps[name] = true
		}
		err := f.Permitted()
		if (err == nil) != (c.cause == "") || err != nil && !strings.Contains(err.Error(), c.cause) {
			t.Errorf("caps %v, lockdown %q: %v, want %q", c.caps, c.lockdown, err, c.cause)
		}
	}
}

// A driver's own function tells of completions only where no device needs
// another way to be seen.
func TestPlanOfCompletions(t *testing.T) {
	const generic, own, none = "fexit __handle_irq_event_percpu", "fexit e1000_clean_tx_irq", "napi_poll: no device needs more"
	clean := Function{Symbols: 1, BTF: true, Ftrace: true}
	for name, c := range map[string]struct {
		drivers []string
		clean   Function
		user    bool
		want    string
	}{
		"e1000e":               {[]string{"e1000e"}, clean, false, own},
		"e1000e and others":    {[]string{"e1000e", "igb", "virtio_net"}, clean, false, own},
		"e1000e and one more":  {[]string{"8139cp", "e1000e"}, clean, false, generic},
		"no e1000e":            {[]string{"igb"}, Function{}, false, none},
		"no device":            {[]string{}, Function{}, false, none},
		"not all seen":         {nil, clean, false, generic},
		"e1000 is loaded, too": {[]string{"e1000e"}, Function{Symbols: 2, BTF: true, Ftrace: true}, false, generic},
		"module without BTF":   {[]string{"e1000e"}, Function{Symbols: 1, Ftrace: true}, false, generic},
		"not root":             {[]string{"e1000e"}, clean, true, generic},
	} {
		f := facts(t, "6.1")
		f.Drivers, f.Functions["e1000_clean_tx_irq"], f.Caps["CAP_SYS_ADMIN"] = c.drivers, c.clean, !c.user
		p, err := NewPlan(f, "auto", nil)
		if err != nil {
			t.Fatal(err)
		}
		for _, choice := range p.Choices {
			if choice.Fact == "complete.hardirq" && choice.Source != c.want {
				t.Errorf("%s: %s, want %s", name, choice.Source, c.want)
			}
		}
	}
}
