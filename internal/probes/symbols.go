// SPDX-License-Identifier: Apache-2.0

package probes

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/txtrace/txtrace/internal/capture"
)

// padding begins the names of what lies before functions and is never run
// (CONFIG_CALL_PADDING).
const padding = "__pfx_"

// unknownCall is the name of what no symbol is known of.
const unknownCall = "[unknown]"

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
		if strings.HasPrefix(f.Name, padding) {
			f = s.at(ip) // where an interrupt came, before a function's first instruction
		}
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
