// SPDX-License-Identifier: Apache-2.0

package analysis

import (
	"github.com/txtrace/txtrace/internal/capture"
)

// Result is all that one pass over a capture gives.
type Result struct {
	Header *capture.Header
	Footer *capture.Footer  // nil when the file is cut
	Cut    *capture.CutInfo // nil when it is whole
	Stats  capture.ReaderStats

	Verify Verify
	Queues []QueueReport // by netns, ifindex, generation, queue
	TSQ    []TSQReport   // by network namespace
	Picks  []PickReport  // by netns, ifindex, generation
	GRO    []GROReport   // by netns, ifindex, generation
	Checks []Comparison  // of our sums with the kernel's own counters
}

// Verify is what verify prints: text and JSON are both fed from it.
type Verify struct {
	V        int            `json:"v"`
	Type     string         `json:"type"`
	Capture  CaptureInfo    `json:"capture"`
	Rules    []RuleVerdict  `json:"rules"`
	Variants []VariantState `json:"variants"`
	Lost     LostInfo       `json:"lost"`
	Exit     int            `json:"exit"`
}

// CaptureInfo says what was checked.
type CaptureInfo struct {
	Tool      string `json:"tool,omitempty"`
	Release   string `json:"release,omitempty"`
	Version   string `json:"version,omitempty"`
	Machine   string `json:"machine,omitempty"`
	Commit    string `json:"commit,omitempty"`
	Emulated  bool   `json:"emulated,omitempty"`
	Simulated bool   `json:"simulated,omitempty"`
	BeginNS   U64    `json:"begin_ns"` // CLOCK_MONOTONIC
	EndNS     U64    `json:"end_ns"`
	Records   U64    `json:"records"`
	Variant   string `json:"variant"` // the argument of --variant
}

// RuleVerdict is what the capture says of one rule. Counts are of instances.
type RuleVerdict struct {
	ID           string        `json:"id"`
	Verdict      Verdict       `json:"verdict"`
	Exercised    U64           `json:"exercised"` // instances in which the antecedent held
	Held         U64           `json:"held"`
	Fails        U64           `json:"fails"`
	Suspects     U64           `json:"suspects"`
	Expected     U64           `json:"expected"`
	Inconclusive U64           `json:"inconclusive"` // undecided instances
	Undecided    []ReasonCount `json:"undecided,omitempty"`
	Variant      string        `json:"variant,omitempty"` // judged under, SWITCH=NAME,...
	Reason       string        `json:"reason,omitempty"`
	Evidence     []Evidence    `json:"evidence,omitempty"`

	Sentence string `json:"-"`
	Gate     bool   `json:"-"` // a rule of the capture, not of the kernel
}

// ReasonCount counts undecided instances by their reason.
type ReasonCount struct {
	Reason string `json:"reason"`
	Count  U64    `json:"count"`
}

// States of a switch.
const (
	StateProven       = "proven"       // one variant is left
	StateUndecided    = "undecided"    // several are left
	StateContradicted = "contradicted" // none is left
	StateForced       = "forced"       // by --variant
)

// VariantState says which variant of a switch the kernel shows.
type VariantState struct {
	Switch   string    `json:"switch"`
	State    string    `json:"state"`
	Variant  string    `json:"variant,omitempty"`   // proven or forced
	JudgedAs string    `json:"judged_as,omitempty"` // undecided: the newest left, which rules are judged under
	Left     []string  `json:"left,omitempty"`      // not refuted, oldest first
	MendedBy string    `json:"mended_by,omitempty"` // the commit that the kernel lacks
	By       *Evidence `json:"by,omitempty"`        // the observation that decided
	Rule     string    `json:"rule,omitempty"`      // whose observation it was
}

// LostInfo says what the capture lacks.
type LostInfo struct {
	Records U64    `json:"records"` // missing in the sequences
	Gaps    U64    `json:"gaps"`
	Missed  U64    `json:"missed"`  // runs of programs that the kernel skipped (recursion)
	Orphans U64    `json:"orphans"` // span ends without a begin
	Late    U64    `json:"late"`    // records that came too late or twice
	Corrupt U64    `json:"corrupt_blocks"`
	Unknown U64    `json:"unknown_records"`
	Cut     string `json:"cut,omitempty"` // why the readable part ends early
}
