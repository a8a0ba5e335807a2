// SPDX-License-Identifier: Apache-2.0

package probes

import (
	"cmp"
	"errors"
	"fmt"
	"slices"

	"github.com/cilium/ebpf"

	"github.com/txtrace/txtrace/internal/capture"
)

// Keys and values of the maps of bpf/stack.h.
type (
	stackKey  struct{ Moment, Stack uint32 }
	stackSum  struct{ Count, Packets, Bytes, NS uint64 }
	stackSeen struct{ Seen, Lost uint64 }
	stackIPs  [stackDepth]uint64
)

const (
	stackDepth = 127 // TX_STACK_DEPTH
	stackLeast = 1
)

// takesStacks says whether the moments can be seen here.
func (p *Plan) takesStacks(names []string) error {
	for _, m := range capture.Moments() {
		if slices.Contains(names, m.Name) && !p.observes(m.Fact) {
			return &Error{Object: "--stacks " + m.Name, What: "this kernel does not offer " + m.Fact, Kind: CannotRun,
				Cause: "the moment is not seen", Next: SeeDoctor}
		}
	}
	return nil
}

// setStacks chooses the moments. Without any, the maps take next to no memory.
func setStacks(spec *ebpf.CollectionSpec, names []string) error {
	var wanted uint32
	for i, m := range capture.Moments() {
		if slices.Contains(names, m.Name) {
			wanted |= 1 << i
		}
	}
	if wanted == 0 {
		spec.Maps[txtraceMapStacks].MaxEntries = stackLeast
		spec.Maps[txtraceMapStackSums].MaxEntries = stackLeast
	}
	if err := spec.Variables[txtraceVarStackMoments].Set(wanted); err != nil {
		return fmt.Errorf("BPF configuration: %w", err)
	}
	return nil
}

// stacks reads what was added up, and the names of all that was called. What a
// stack has of the programs that take it is left out.
func (s *session) stacks(names []string) (*capture.Stacks, error) {
	symbols, err := readSymbols("/proc/kallsyms")
	if err != nil {
		return nil, err
	}
	ways, err := s.stackWays()
	if err != nil {
		return nil, err
	}
	table := functionTable{at: map[capture.StackFunction]int{}}
	all := &capture.Stacks{}
	for i, m := range capture.Moments() {
		if !slices.Contains(names, m.Name) {
			continue
		}
		of := capture.StackMoment{Name: m.Name}
		var seen []stackSeen
		if err := s.coll.Maps[txtraceMapStackSeen].Lookup(uint32(i), &seen); err != nil {
			return nil, fmt.Errorf("read the stacks: %w", err)
		}
		for _, n := range seen {
			of.Seen += n.Seen
			of.Lost += n.Lost
		}
		for _, w := range ways[uint32(i)] {
			if w.ips == nil {
				of.Lost += w.sum.Count
				continue
			}
			w.sum.Calls = table.places(symbols.calls(w.ips[:], m.Function))
			of.Stacks = append(of.Stacks, w.sum)
		}
		of.Stacks = joined(of.Stacks)
		all.Moments = append(all.Moments, of)
	}
	all.Functions = table.all
	return all, nil
}

// stackWay is a stack as the kernel has it: ips are nil where that has lost them.
type stackWay struct {
	ips *stackIPs
	sum capture.Stack
}

// stackWays reads the stacks of each moment.
func (s *session) stackWays() (map[uint32][]stackWay, error) {
	ways := map[uint32][]stackWay{}
	var key stackKey
	var sums []stackSum
	it := s.coll.Maps[txtraceMapStackSums].Iterate()
	for it.Next(&key, &sums) {
		w := stackWay{ips: new(stackIPs)}
		for _, n := range sums {
			w.sum.Add(capture.Stack{Count: n.Count, Packets: n.Packets, Bytes: n.Bytes, NS: n.NS})
		}
		switch err := s.coll.Maps[txtraceMapStacks].Lookup(key.Stack, w.ips); {
		case errors.Is(err, ebpf.ErrKeyNotExist):
			w.ips = nil
		case err != nil:
			return nil, fmt.Errorf("read the stacks: %w", err)
		}
		ways[key.Moment] = append(ways[key.Moment], w)
	}
	if err := it.Err(); err != nil {
		return nil, fmt.Errorf("read the stacks: %w", err)
	}
	return ways, nil
}

// joined adds up stacks of the same calls, which differed in their addresses, and
// puts the most frequent first.
func joined(stacks []capture.Stack) []capture.Stack {
	slices.SortFunc(stacks, func(a, b capture.Stack) int { return slices.Compare(a.Calls, b.Calls) })
	var all []capture.Stack
	for _, s := range stacks {
		if n := len(all); n > 0 && slices.Equal(all[n-1].Calls, s.Calls) {
			all[n-1].Add(s)
			continue
		}
		all = append(all, s)
	}
	slices.SortStableFunc(all, func(a, b capture.Stack) int { return cmp.Compare(b.Count, a.Count) })
	return all
}
