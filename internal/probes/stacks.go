// SPDX-License-Identifier: Apache-2.0

package probes

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"

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
	stackDepth  = 127 // TX_STACK_DEPTH
	stackLeast  = 1
	unknownCall = "[unknown]"
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
	sums := map[uint32]map[string]capture.Stack{} // by moment and calls
	table := functionTable{at: map[capture.StackFunction]int{}}
	var key stackKey
	var cpus []stackSum
	lost := map[uint32]uint64{}
	moments := capture.Moments()
	for it := s.coll.Maps[txtraceMapStackSums].Iterate(); ; {
		if !it.Next(&key, &cpus) {
			if err := it.Err(); err != nil {
				return nil, fmt.Errorf("read the stacks: %w", err)
			}
			break
		}
		sum := capture.Stack{}
		for _, n := range cpus {
			sum.Count += n.Count
			sum.Packets += n.Packets
			sum.Bytes += n.Bytes
			sum.NS += n.NS
		}
		var ips stackIPs
		if err := s.coll.Maps[txtraceMapStacks].Lookup(key.Stack, &ips); errors.Is(err, ebpf.ErrKeyNotExist) {
			lost[key.Moment] += sum.Count
			continue
		} else if err != nil {
			return nil, fmt.Errorf("read the stacks: %w", err)
		}
		if int(key.Moment) >= len(moments) {
			return nil, fmt.Errorf("read the stacks: moment %d is not known", key.Moment)
		}
		sum.Calls = table.places(symbols.calls(ips[:], moments[key.Moment].Function))
		if sums[key.Moment] == nil {
			sums[key.Moment] = map[string]capture.Stack{}
		}
		way := fmt.Sprint(sum.Calls)
		had := sums[key.Moment][way]
		sum.Count, sum.Packets, sum.Bytes, sum.NS = sum.Count+had.Count, sum.Packets+had.Packets, sum.Bytes+had.Bytes, sum.NS+had.NS
		sums[key.Moment][way] = sum
	}
	all := &capture.Stacks{Functions: table.all}
	for i, m := range moments {
		if !slices.Contains(names, m.Name) {
			continue
		}
		var seen []stackSeen
		if err := s.coll.Maps[txtraceMapStackSeen].Lookup(uint32(i), &seen); err != nil {
			return nil, fmt.Errorf("read the stacks: %w", err)
		}
		of := capture.StackMoment{Name: m.Name, Lost: lost[uint32(i)], Stacks: slices.Collect(maps.Values(sums[uint32(i)]))}
		for _, n := range seen {
			of.Seen += n.Seen
			of.Lost += n.Lost
		}
		slices.SortFunc(of.Stacks, func(a, b capture.Stack) int {
			return cmp.Or(cmp.Compare(b.Count, a.Count), slices.Compare(a.Calls, b.Calls))
		})
		all.Moments = append(all.Moments, of)
	}
	return all, nil
}

// functionTable gives functions their places.
type functionTable struct {
	all []capture.StackFunction
	at  map[capture.StackFunction]int
}

func (t *functionTable) places(calls []capture.StackFunction) []int {
	places := make([]int, 0, len(calls))
	for _, f := range calls {
		i, ok := t.at[f]
		if !ok {
			i = len(t.all)
			t.at[f], t.all = i, append(t.all, f)
		}
		places = append(places, i)
	}
	return places
}

// symbols are the kernel's functions, by address.
type symbols struct {
	addresses []uint64
	functions []capture.StackFunction
}

// readSymbols reads /proc/kallsyms.
func readSymbols(file string) (*symbols, error) {
	b, err := os.ReadFile(file)
	if err != nil {
		return nil, fmt.Errorf("names of functions: %w", err)
	}
	return parseSymbols(string(b))
}

func parseSymbols(text string) (*symbols, error) {
	type symbol struct {
		address uint64
		f       capture.StackFunction
	}
	var all []symbol
	for line := range strings.Lines(text) {
		var s symbol
		var kind string
		n, _ := fmt.Sscanf(line, "%x %s %s %s", &s.address, &kind, &s.f.Name, &s.f.Module)
		if n < 3 || s.address == 0 || !strings.Contains("tTwW", kind) {
			continue
		}
		s.f.Module = strings.Trim(s.f.Module, "[]")
		all = append(all, s)
	}
	if len(all) == 0 {
		return nil, errors.New("names of functions: /proc/kallsyms shows no address (CAP_SYSLOG, kernel.kptr_restrict below 2)")
	}
	// Of several names of one address the last is as good as the first.
	slices.SortStableFunc(all, func(a, b symbol) int { return cmp.Compare(a.address, b.address) })
	s := &symbols{}
	for _, x := range all {
		if n := len(s.addresses); n > 0 && s.addresses[n-1] == x.address {
			continue
		}
		s.addresses, s.functions = append(s.addresses, x.address), append(s.functions, x.f)
	}
	return s, nil
}

// at is the function that an address is in.
func (s *symbols) at(address uint64) capture.StackFunction {
	i, ok := slices.BinarySearch(s.addresses, address)
	if !ok {
		i--
	}
	if i < 0 {
		return capture.StackFunction{Name: unknownCall}
	}
	return s.functions[i]
}

// calls are the functions of a stack, the outermost first, down to the one that
// the moment is in. ips are return addresses, the innermost first: each is of the
// call before it. Tracing puts a trampoline between a function and itself, for it
// is called from the function's first instruction, and ends in its own program;
// neither is of the kernel's path.
func (s *symbols) calls(ips []uint64, last string) []capture.StackFunction {
	var calls []capture.StackFunction
	traced := false
	for _, ip := range ips {
		if ip == 0 {
			break
		}
		f := s.at(ip - 1)
		n := len(calls)
		switch {
		case strings.HasPrefix(f.Name, "bpf_trampoline_"):
			traced = true
			continue
		case n == 0 && strings.HasPrefix(f.Name, "bpf_prog_"):
			continue
		case n == 0 || !traced || calls[n-1] != f:
			calls = append(calls, f)
		}
		traced = false
	}
	if len(calls) == 0 || calls[0].Name != last {
		calls = slices.Insert(calls, 0, capture.StackFunction{Name: last})
	}
	slices.Reverse(calls)
	return calls
}
