// SPDX-License-Identifier: Apache-2.0

package probes

import (
	"fmt"
	"slices"
	"strings"

	"github.com/txtrace/txtrace/internal/capture"
)

// Plan says which programs observe which fact on one kernel.
type Plan struct {
	Choices  []capture.Choice
	Programs []string
}

// SeeDoctor is the next step where a kernel lacks what is required.
const SeeDoctor = "txtrace doctor lists what it offers"

// NewPlan chooses for every point the first source the kernel can serve; one
// that is observed only with an extra is off without it. It is a pure
// function, so a saved Facts file stands for a kernel in tests. backend is
// auto, btf or kprobe. The error names the first required fact that has no
// source.
func NewPlan(f *Facts, backend string, with []string) (*Plan, error) {
	p := &Plan{}
	var missing error
	for _, pt := range points {
		c := capture.Choice{Fact: pt.Fact, State: "absent", Disables: pt.Rules}
		var why []string
		for _, s := range pt.Sources {
			if backend != "auto" && backend != s.Backend {
				why = append(why, fmt.Sprintf("%s is not a %s source", s.Name, backend))
				continue
			}
			if gap := f.gap(s); gap != "" {
				why = append(why, gap)
				continue
			}
			if pt.With != "" && !slices.Contains(with, pt.With) {
				c.State, c.Reason = "off", fmt.Sprintf("%s observes it, by %s", flagOf(pt.With), s.Name)
				break
			}
			c.State, c.Source, c.Disables = "chosen", s.Name, nil
			p.Programs = append(p.Programs, s.Programs...)
			break
		}
		if c.State == "absent" {
			c.Reason = strings.Join(why, "; ")
			if pt.Required && missing == nil {
				missing = &Error{Object: pt.Fact, What: "this kernel does not offer it (" + pt.Meaning + ")",
					Cause: c.Reason, Next: SeeDoctor, Kind: CannotRun}
			}
		}
		p.Choices = append(p.Choices, c)
	}
	return p, missing
}

// Extras are what Config.With may name, in the order of the points.
func Extras() []string {
	var all []string
	for _, pt := range points {
		if pt.With != "" && pt.With != PerPacket && !slices.Contains(all, pt.With) {
			all = append(all, pt.With)
		}
	}
	return all
}

func flagOf(with string) string {
	if with == PerPacket {
		return "--detail packet"
	}
	return "--with " + with
}

// ExtraOf is the extra with which a fact is observed, or PerPacket; empty where
// it always is.
func ExtraOf(fact string) string {
	for _, pt := range points {
		if pt.Fact == fact {
			return pt.With
		}
	}
	return ""
}

// observes says whether a fact has a source.
func (p *Plan) observes(fact string) bool {
	return slices.ContainsFunc(p.Choices, func(c capture.Choice) bool { return c.Fact == fact && c.State == "chosen" })
}

// gap says what the kernel lacks for a source, "" when nothing.
func (f *Facts) gap(s Source) string {
	if s.Drivers != nil {
		if f.Drivers == nil {
			return "not all devices could be looked at"
		}
		for _, name := range f.Drivers {
			if !slices.Contains(s.Drivers, name) {
				return fmt.Sprintf("a device of %s may complete elsewhere", name)
			}
		}
	}
	if s.Module != "" && !f.Caps["CAP_SYS_ADMIN"] {
		return "the BTF of modules takes CAP_SYS_ADMIN"
	}
	for _, name := range s.Functions {
		fn := f.Functions[name]
		switch {
		case fn.Suffixed != "" && fn.Symbols == 0:
			return fmt.Sprintf("%s is %s here, its arguments are not what they were", name, fn.Suffixed)
		case fn.Symbols == 0:
			return fmt.Sprintf("%s has no symbol (inlined or not built)", name)
		case fn.Symbols > 1:
			return fmt.Sprintf("%s is the name of %d symbols", name, fn.Symbols)
		case !fn.BTF:
			return fmt.Sprintf("%s has no BTF", name)
		case f.Ftrace && !fn.Ftrace:
			return fmt.Sprintf("%s is not traceable (built without ftrace)", name)
		}
	}
	for _, name := range s.Tracepoints {
		if !f.Tracepoints[name] {
			return fmt.Sprintf("tracepoint %s is not there", name)
		}
	}
	for _, name := range s.Symbols {
		if f.Functions[name].Symbols == 0 {
			return fmt.Sprintf("symbol %s is not visible (CONFIG_KALLSYMS_ALL, kernel.kptr_restrict)", name)
		}
	}
	for _, name := range s.Fields {
		if !f.Fields[name] {
			return name + " is not there" + map[string]string{
				"kallsyms.addresses": " (CAP_SYSLOG, kernel.kptr_restrict below 2)",
				atomicFetch:          " (5.12 and later)",
			}[name]
		}
	}
	return ""
}

// names of everything the points ask a kernel about.
func wanted() (functions, tracepoints []string) {
	seen := map[string]bool{}
	add := func(to *[]string, names []string) {
		for _, n := range names {
			if !seen[n] {
				seen[n] = true
				*to = append(*to, n)
			}
		}
	}
	for _, pt := range points {
		for _, s := range pt.Sources {
			add(&functions, s.Functions)
			add(&functions, s.Symbols)
			add(&tracepoints, s.Tracepoints)
		}
	}
	return functions, tracepoints
}
