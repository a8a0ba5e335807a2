// SPDX-License-Identifier: Apache-2.0

package comparison

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/txtrace/txtrace/internal/analysis"
	"github.com/txtrace/txtrace/internal/capture"
)

// Capture is one file and what its analysis gave.
type Capture struct {
	Path   string
	Result *analysis.Result
}

// Refusal is why captures cannot be compared.
type Refusal struct {
	Object, What, Cause, Next string
}

func (r *Refusal) Error() string {
	return fmt.Sprintf("%s: %s: %s; %s", r.Object, r.What, r.Cause, r.Next)
}

// set is the captures of one side.
type set struct {
	name string
	runs []run
}

func newSet(name string, captures []Capture, ifnames []string) set {
	s := set{name: name}
	for _, c := range captures {
		s.runs = append(s.runs, run{Result: c.Result, path: c.Path, queues: only(c.Result.Queues, ifnames)})
	}
	return s
}

// fact is one thing that may differ between captures.
type fact struct{ what, is string }

func (r *run) kernel() fact {
	k := r.Header.Kernel
	return fact{"kernel", strings.TrimSpace(k.Release + " " + k.Version + " " + k.Commit)}
}

func (r *run) command() fact {
	switch {
	case r.Footer == nil:
		return fact{"load", "not known, the file is cut"}
	case r.Footer.Child == nil:
		return fact{"load", "no command of its own"}
	}
	return fact{"load", strings.Join(r.Footer.Child.Command, " ")}
}

// setup is what prepared the run, under run --repeat.
func (r *run) setup() fact {
	if r.Footer == nil || r.Footer.Child == nil {
		return fact{"setup", ""}
	}
	return fact{"setup", r.Footer.Child.Setup}
}

func (r *run) kind() fact {
	switch {
	case r.Header.Simulated:
		return fact{"kind", "simulated"}
	case r.emulated():
		return fact{"kind", "emulated"}
	}
	return fact{"kind", "real"}
}

// facts are all that should not differ unless it is what was changed.
func (r *run) facts() []fact {
	h := r.Header
	fs := []fact{
		r.kernel(), r.command(), r.setup(),
		{"machine", fmt.Sprintf("%s, %d CPUs", h.Kernel.Machine, h.Kernel.CPUs)},
		{"preemption", h.Kernel.Preemption},
		{"HZ", fmt.Sprint(h.Kernel.HZ)},
		{"boot line", h.Kernel.Cmdline},
		{"quota", fmt.Sprintf("%d packets", h.Settings.TxWeight())},
		{"detail", h.Detail},
		{"filters", strings.Join(h.Filters, " ")},
		{"ring", fmt.Sprintf("%d bytes", h.RingBytes)},
		{"txtrace", h.Tool},
	}
	for _, d := range h.Devices {
		if r.sent(d) {
			fs = append(fs, deviceFacts(d)...)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(h.Settings.Sysctls)) {
		fs = append(fs, fact{name, h.Settings.Sysctls[name]})
	}
	return fs
}

func (r *run) sent(d capture.Device) bool {
	return slices.ContainsFunc(r.queues, func(q analysis.QueueReport) bool {
		return q.Netns == d.Netns && q.Ifindex == d.Ifindex && q.Handovers.Taken > 0
	})
}

func deviceFacts(d capture.Device) []fact {
	var qdiscs, offloads []string
	for _, q := range d.Qdiscs {
		qdiscs = append(qdiscs, q.Kind)
	}
	for name, on := range d.Offloads {
		if on {
			offloads = append(offloads, name)
		}
	}
	slices.Sort(offloads)
	return []fact{
		{d.Ifname, strings.TrimSpace(d.Driver + " sent")},
		{d.Ifname + " MTU", fmt.Sprint(d.MTU)},
		{d.Ifname + " queues", fmt.Sprint(d.TxQueues)},
		{d.Ifname + " ring", fmt.Sprint(d.TxRing)},
		{d.Ifname + " qdiscs", strings.Join(qdiscs, " ")},
		{d.Ifname + " offloads", strings.Join(offloads, " ")},
	}
}

// Difference is one fact that is another in B than in A.
type Difference struct {
	What string `json:"what"`
	A    string `json:"a"`
	B    string `json:"b"`
}

// differences of two captures, in the order of the facts.
func differences(a, b *run) []Difference {
	var ds []Difference
	fa, fb := a.facts(), b.facts()
	in := func(fs []fact, what string) string {
		for _, f := range fs {
			if f.what == what {
				return cmp.Or(f.is, "none")
			}
		}
		return "none"
	}
	for _, f := range append(fa, fb...) {
		d := Difference{f.what, in(fa, f.what), in(fb, f.what)}
		if d.A != d.B && !slices.Contains(ds, d) {
			ds = append(ds, d)
		}
	}
	return ds
}

// check refuses sets that are no samples of one thing each.
func check(a, b *set) error {
	for _, s := range []*set{a, b} {
		if len(s.runs) == 0 {
			return &Refusal{"set " + s.name, "empty", "it has no capture", "name captures on both sides of --, as in A1.txtrace A2.txtrace -- B1.txtrace B2.txtrace"}
		}
		first := &s.runs[0]
		for i := range s.runs[1:] {
			r := &s.runs[i+1]
			for _, of := range []func(*run) fact{(*run).kernel, (*run).command} {
				if x, y := of(first), of(r); x != y && !(x.what == "load" && (first.Footer == nil || r.Footer == nil)) {
					return &Refusal{r.path, fmt.Sprintf("not of the same %s as the rest of set %s", x.what, s.name),
						fmt.Sprintf("%q here, %q in %s", y.is, x.is, first.path), "a set is one kernel and one load, run by run"}
				}
			}
		}
	}
	first := &a.runs[0]
	for _, s := range []*set{a, b} {
		for i := range s.runs {
			if x, y := first.kind(), s.runs[i].kind(); x != y {
				return &Refusal{s.runs[i].path, y.is, first.path + " is " + x.is + ", and their numbers are not of one kind", "compare captures of one kind"}
			}
		}
	}
	return nil
}

// notes say what makes the captures of a set worth less.
func (s *set) notes() []string {
	var notes []string
	first := &s.runs[0]
	for i := range s.runs {
		r := &s.runs[i]
		for _, d := range differences(first, r) {
			notes = append(notes, fmt.Sprintf("%s: within set %s, %s is %s here and %s in %s", r.path, s.name, d.What, d.B, d.A, first.path))
		}
		l := r.Verify.Lost
		switch {
		case l.Cut != "":
			notes = append(notes, fmt.Sprintf("%s: cut, what is there was read: %s", r.path, l.Cut))
		case r.lost():
			notes = append(notes, fmt.Sprintf("%s: incomplete, counts are of what was recorded: %d records lost, %d runs of programs skipped", r.path, l.Records, l.Missed))
		}
		if f := r.Footer; f != nil && f.Child != nil && f.Ended == "child" && (f.Child.Exit != 0 || f.Child.Signal != "") {
			notes = append(notes, r.path+": its command failed")
		}
	}
	return notes
}
