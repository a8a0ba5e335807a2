// SPDX-License-Identifier: Apache-2.0

// Package model holds the steps of the kernel's transmit path as pure
// functions, one file per mechanism, each with the variants that the kernel
// had over time or that its developers proposed.
//
// The functions know nothing of captures, rules or drivers. A mechanism that
// is checked has two directions: what the kernel does (the simulator's), and
// whether an observation could have come from it (the checker's). A checker's
// answer has three values, because a race that hardware allows makes an
// interval of a number: see Answer.
//
// Sources are named in the doc comments. "000" to "004" are the mailing-list
// threads dfeb1c712f3ce5c5 (bulk dequeue), 06fe2ee777a53261 (queue selection),
// 59aed0d87ab09d98 (GRO), c93f631334ab3194 (TSQ) and 9aeb9cc635f797dc
// (doorbells); twelve hex digits are kernel commits.
//
// Decision: what the documents only proposed is in WhatIf and not in Switches. A
// simulator takes both; a recording is explained by what kernels really did, and
// a proposal among the candidates would leave switches undecided for nothing.
//
// Decision: where a document leaves a number open (whether the caps of 8 and 7
// count the head) or a variant hides a later change (the slow path of 4.8 under
// BulkBytes), the reading taken is said at the variant, and no switch is added.
//
// Decision: steps that are atomic in the kernel are methods of their own only
// where interleavings decide what happens (Lockless); memory barriers are taken
// for granted.
//
// To add a mechanism: one file, one entry of Switches per choice it has, and a
// test for each variant that shows where it differs from its neighbours.
package model

import (
	"fmt"
	"strings"
)

// Switch names a point at which kernels differ, as --variant spells it.
type Switch string

// Variant names one behaviour at a Switch. The same name may serve at several
// switches, so a Variant means something only together with its Switch.
type Variant string

// VariantInfo describes one variant of a switch.
type VariantInfo struct {
	Name     Variant
	Says     string // what such a kernel does
	Source   string // document or commit, and the releases that have it
	MendedBy string // the commit or title that mended it as a fault, if one did
}

// SwitchInfo describes one switch. Variants are oldest first, today's last.
type SwitchInfo struct {
	Name     Switch
	Says     string
	Variants []VariantInfo
}

// Lookup returns the entry of Switches of that name.
func Lookup(name Switch) (SwitchInfo, error) {
	return lookup(name, Switches)
}

func lookup(name Switch, switches []SwitchInfo) (SwitchInfo, error) {
	names := make([]string, len(switches))
	for i, s := range switches {
		if s.Name == name {
			return s, nil
		}
		names[i] = string(s.Name)
	}
	return SwitchInfo{}, fmt.Errorf("variant switch %q: unknown; the switches are %s", name, strings.Join(names, ", "))
}

// Variant returns the switch's variant of that name.
func (s SwitchInfo) Variant(name Variant) (VariantInfo, error) {
	names := make([]string, len(s.Variants))
	for i, v := range s.Variants {
		if v.Name == name {
			return v, nil
		}
		names[i] = string(v.Name)
	}
	return VariantInfo{}, fmt.Errorf("variant %s=%q: unknown; %s has %s", s.Name, name, s.Name, strings.Join(names, ", "))
}

// Latest is today's variant, the one that --variant latest holds the switch at.
func (s SwitchInfo) Latest() VariantInfo {
	return s.Variants[len(s.Variants)-1]
}

// Parse reads the argument of --variant, SWITCH=NAME,..., and returns what it
// sets. Each error names the object and the alternatives, on one line.
func Parse(arg string) (map[Switch]Variant, error) {
	return parse(arg, Switches)
}

func parse(arg string, switches []SwitchInfo) (map[Switch]Variant, error) {
	set := make(map[Switch]Variant)
	for _, part := range strings.Split(arg, ",") {
		name, value, ok := strings.Cut(part, "=")
		if !ok {
			return nil, fmt.Errorf("variant %q: want SWITCH=NAME, as in bulk=budget", part)
		}
		s, err := lookup(Switch(name), switches)
		if err != nil {
			return nil, err
		}
		v, err := s.Variant(Variant(value))
		if err != nil {
			return nil, err
		}
		if old, twice := set[s.Name]; twice && old != v.Name {
			return nil, fmt.Errorf("variant switch %q: set twice, to %s and to %s", s.Name, old, v.Name)
		}
		set[s.Name] = v.Name
	}
	return set, nil
}

// Answer is a checker's answer. No means that no interleaving explains the
// observation; Maybe that some do and some do not.
type Answer uint8

// The answers.
const (
	Maybe Answer = iota
	Yes
	No
)

// String returns the answer as a word.
func (a Answer) String() string {
	return [...]string{"maybe", "yes", "no"}[a]
}
