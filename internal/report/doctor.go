// SPDX-License-Identifier: Apache-2.0

package report

import (
	"cmp"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/txtrace/txtrace/internal/capture"
)

// Doctor is what doctor prints: what can be recorded here, and from which
// hook.
type Doctor struct {
	V            int             `json:"v"`
	Type         string          `json:"type"`
	Kernel       capture.Kernel  `json:"kernel"`
	BTF          string          `json:"btf,omitempty"`
	Lockdown     string          `json:"lockdown,omitempty"`
	Capabilities map[string]bool `json:"capabilities"`
	// Settings and Devices are as a recording's would be, had it begun now.
	Settings capture.Settings `json:"settings"`
	Devices  []DoctorDevice   `json:"devices"`
	Facts    []Fact           `json:"facts"`
	Ready    bool             `json:"ready"` // record would work
	Problem  string           `json:"problem,omitempty"`
	Next     string           `json:"next,omitempty"`
}

// DoctorDevice is a device, and how its completions would be seen.
type DoctorDevice struct {
	capture.Device
	Completions string `json:"completions,omitempty"` // the source; empty: when its queue is looked at next
}

// Fact is one row of the plan.
type Fact struct {
	Name     string   `json:"name"`
	Source   string   `json:"source,omitempty"`
	State    string   `json:"state"` // chosen, absent, off
	Reason   string   `json:"reason,omitempty"`
	Disables []string `json:"disables,omitempty"` // rules that need it
}

// NewDoctor makes the document from a plan.
func NewDoctor(kernel capture.Kernel, plan []capture.Choice) *Doctor {
	d := &Doctor{V: 1, Type: "doctor", Kernel: kernel, Capabilities: map[string]bool{}, Settings: capture.Settings{Sysctls: map[string]string{}}, Devices: []DoctorDevice{}, Facts: []Fact{}, Ready: true}
	for _, c := range plan {
		d.Facts = append(d.Facts, Fact{Name: c.Fact, Source: c.Source, State: c.State, Reason: c.Reason, Disables: c.Disables})
	}
	return d
}

// Text prints the facts and the plan.
func (d *Doctor) Text(w io.Writer, t Text) error {
	p := &printer{Text: t, out: w}
	k := d.Kernel
	p.field("kernel", strings.TrimSpace(k.Release+" "+k.Version), k.Machine, p.counted(uint64(k.CPUs), "CPU", "CPUs"))
	p.field("config", named("preemption", k.Preemption), hz(k.HZ), quota(d.Settings))
	p.field("BTF", orNone(d.BTF))
	p.field("lockdown", orNone(d.Lockdown))
	var have, lack []string
	for _, name := range slices.Sorted(maps.Keys(d.Capabilities)) {
		if d.Capabilities[name] {
			have = append(have, name)
		} else {
			lack = append(lack, "no "+name)
		}
	}
	p.field("capabilities", append(have, lack...)...)
	sysctls(p, d.Settings)
	p.line("")
	for _, dev := range d.Devices {
		deviceHead(p, dev.Device)
		if len(dev.BQL) == 0 {
			p.field("  BQL", "not in sysfs: D1 and what else needs BQL is not exercised there")
		}
		p.field("  completes", cmp.Or(dev.Completions, "when the queue is looked at next"))
	}
	if len(d.Devices) > 0 {
		p.line("")
	}
	for _, f := range d.Facts {
		text := f.Source
		if f.State != "chosen" {
			text = f.State
			if f.Reason != "" {
				text += ": " + f.Reason
			}
		}
		if len(f.Disables) > 0 {
			text += "; rules without it: " + strings.Join(f.Disables, " ")
		}
		p.wrapped(fmt.Sprintf("%-18s ", f.Name), text)
	}
	p.line("")
	if d.Ready {
		p.wrapped("recording: ", "possible")
		return p.err
	}
	p.wrapped("recording: ", "not possible: "+d.Problem)
	if d.Next != "" {
		p.wrapped("next: ", d.Next)
	}
	return p.err
}

func orNone(s string) string {
	if s == "" {
		return "none"
	}
	return s
}
