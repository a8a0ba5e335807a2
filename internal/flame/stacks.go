// SPDX-License-Identifier: Apache-2.0

package flame

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/txtrace/txtrace/internal/capture"
)

// Stacks of one moment, by one weight.
type Stacks struct {
	Moment capture.Moment
	Weight string // of capture.ByCount and so on
	Lost   uint64 // stacks of which nothing is known
	Seen   uint64
	Ways   []Way
}

// Way is one stack: its calls, the outermost first, and what came that way.
type Way struct {
	Calls []capture.StackFunction
	Value uint64
}

// Refusal is why no stacks can be shown.
type Refusal struct{ Object, What, Cause, Next string }

func (r *Refusal) Error() string {
	return fmt.Sprintf("%s: %s: %s; %s", r.Object, r.What, r.Cause, r.Next)
}

// New takes the stacks of a moment out of a capture. Emulated says that its
// durations mean nothing. The error is a *Refusal.
func New(of *capture.Stacks, moment, weight string, emulated bool) (*Stacks, error) {
	i := slices.IndexFunc(capture.Moments(), func(m capture.Moment) bool { return m.Name == moment })
	if i < 0 {
		return nil, &Refusal{"--at " + moment, "unknown moment", "there is no such one", "it is " + names()}
	}
	s := &Stacks{Moment: capture.Moments()[i], Weight: weight}
	switch {
	case !slices.Contains(s.Moment.Weights, weight):
		return nil, &Refusal{"--by " + weight, "refused", "a " + moment + " has no " + weight, "it has " + strings.Join(s.Moment.Weights, ", ")}
	case weight == capture.ByNS && emulated:
		return nil, &Refusal{"--by ns", "refused", "durations of an emulated guest mean nothing", "use --by count"}
	case of == nil:
		return nil, &Refusal{"stacks", "none recorded", "they are taken only if asked for, and stored when a recording ends", "record with --stacks " + moment}
	}
	i = slices.IndexFunc(of.Moments, func(m capture.StackMoment) bool { return m.Name == moment })
	if i < 0 {
		return nil, &Refusal{"stacks of " + moment, "not recorded", "the recording was asked for " + recorded(of), "record with --stacks " + moment}
	}
	m := of.Moments[i]
	s.Lost, s.Seen = m.Lost, m.Seen
	for _, st := range m.Stacks {
		w := Way{Value: map[string]uint64{
			capture.ByCount: st.Count, capture.ByPackets: st.Packets, capture.ByBytes: st.Bytes, capture.ByNS: st.NS,
		}[weight]}
		for _, at := range st.Calls {
			f := capture.StackFunction{Name: "[unknown]"}
			if at >= 0 && at < len(of.Functions) {
				f = of.Functions[at]
			}
			w.Calls = append(w.Calls, f)
		}
		if w.Value > 0 {
			s.Ways = append(s.Ways, w)
		}
	}
	if len(s.Ways) == 0 {
		return nil, &Refusal{"stacks of " + moment, "none", fmt.Sprintf("it came %d times, and %d stacks were lost", m.Seen, m.Lost), "look at another moment, or record a load that meets it"}
	}
	return s, nil
}

func names() string {
	var all []string
	for _, m := range capture.Moments() {
		all = append(all, m.Name)
	}
	last := len(all) - 1
	return strings.Join(all[:last], ", ") + " or " + all[last]
}

func recorded(of *capture.Stacks) string {
	var all []string
	for _, m := range of.Moments {
		all = append(all, m.Name)
	}
	if all == nil {
		return "none"
	}
	return strings.Join(all, ", ")
}

// Total of all ways.
func (s *Stacks) Total() (n uint64) {
	for _, w := range s.Ways {
		n += w.Value
	}
	return n
}

// frame is a node of the graph: a call, where it came from, and what came
// through it.
type frame struct {
	capture.StackFunction
	value, before uint64 // in this capture, and in the one that it is compared with
	calls         []*frame
}

// tree joins ways that begin alike. Calls of a frame are in the order of their
// names, as flame graphs have them.
func tree(s, base *Stacks) *frame {
	root := new(frame)
	root.add(s, func(f *frame, n uint64) { f.value += n })
	if base != nil {
		root.add(base, func(f *frame, n uint64) { f.before += n })
	}
	root.sort()
	return root
}

func (f *frame) add(s *Stacks, count func(*frame, uint64)) {
	for _, w := range s.Ways {
		at := f
		count(at, w.Value)
		for _, c := range w.Calls {
			i := slices.IndexFunc(at.calls, func(n *frame) bool { return n.StackFunction == c })
			if i < 0 {
				i = len(at.calls)
				at.calls = append(at.calls, &frame{StackFunction: c})
			}
			at = at.calls[i]
			count(at, w.Value)
		}
	}
}

func (f *frame) sort() {
	slices.SortFunc(f.calls, func(a, b *frame) int {
		return cmp.Or(cmp.Compare(a.Name, b.Name), cmp.Compare(a.Module, b.Module))
	})
	for _, c := range f.calls {
		c.sort()
	}
}

func (f *frame) depth() (n int) {
	for _, c := range f.calls {
		n = max(n, c.depth())
	}
	return n + 1
}
