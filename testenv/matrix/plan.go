// SPDX-License-Identifier: Apache-2.0

package main

import (
	"slices"
	"strings"
)

// nic is a column of the matrix.
type nic struct {
	name      string
	scenarios []string
}

// Every scenario but faults is somewhere in the matrix. Most loads do not care
// for the driver, so all NICs play few, and the others are shared out. everything
// plays the loads of paced, bulk-udp and the three of TCP in one capture.
var (
	core = []string{"bulk-udp", "everything"}

	nics = []nic{
		{"e1000e", join(core, "mixed", "tcp-rr", "htb", "lives", "bounds", "bursts", "changes", "dummy", "owners")},
		{"igb", join(core, "mixed", "htb", "queues", "churn")},
		{"virtio", join(core, "mixed", "tcp-rr")},
		{"rtl8139", join(core, "tcp-rr")},
		{"veth", join(core, "mixed", "paced", "noqueue", "veth-full", "churn")},
	}
)

// shorter are the rows of the table of kernels that are booted with fewer NICs:
// they are there for how tasks interleave, not for their drivers.
var shorter = map[string][]string{
	"6.1-rt":  {"e1000e", "igb", "veth"},
	"6.12-rt": {"e1000e", "igb", "veth"},
}

func join(list []string, more ...string) []string { return append(slices.Clip(list), more...) }

// planned is a cell to be played.
type planned struct {
	kernel, nic string
	scenarios   []string
}

// plan lists the cells, kernel by kernel. What is not empty of wantNICs and
// scenarios replaces what is above.
func plan(kernels, wantNICs, scenarios []string) []planned {
	var cells []planned
	for _, k := range kernels {
		names := wantNICs
		if len(names) == 0 {
			names = nicsOf(k)
		}
		for _, n := range names {
			p := planned{k, n, scenarios}
			if len(scenarios) == 0 {
				p.scenarios = scenariosOf(n)
			}
			cells = append(cells, p)
		}
	}
	return cells
}

func nicsOf(kernel string) []string {
	if names, ok := shorter[kernel]; ok {
		return names
	}
	names := make([]string, len(nics))
	for i, n := range nics {
		names[i] = n.name
	}
	return names
}

// scenariosOf is what a NIC plays; one that is not of the matrix plays the core.
func scenariosOf(name string) []string {
	for _, n := range nics {
		if n.name == name {
			return n.scenarios
		}
	}
	return core
}

// words splits a list of a variable: at commas and at spaces.
func words(s string) []string {
	return strings.FieldsFunc(s, func(r rune) bool { return r == ',' || r == ' ' })
}
