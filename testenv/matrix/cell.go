// SPDX-License-Identifier: Apache-2.0

package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"

	"github.com/txtrace/txtrace/internal/analysis"
)

// How a cell ended.
type state string

const (
	ok      state = "ok"
	failed  state = "fail"
	skipped state = "skip"
)

// cell is one boot, and what its captures show. cell.json keeps it.
type cell struct {
	V    int    `json:"v"`
	Type string `json:"type"`
	Key  string `json:"key"` // what it was made with

	Kernel  string `json:"kernel"`
	Release string `json:"release,omitempty"`
	NIC     string `json:"nic"`
	As      string `json:"as,omitempty"` // the folder of the cell whose boot is this one's, too

	Exit    int      `json:"exit"`           // vm's
	Says    string   `json:"says,omitempty"` // its last word
	State   state    `json:"state"`
	Reasons []string `json:"reasons,omitempty"` // why it failed or was skipped
	Played  []string `json:"played"`            // scenarios
	Skipped []string `json:"skipped"`

	Verdicts  map[analysis.Verdict]int `json:"verdicts"` // of the rules of all captures
	Suspects  []string                 `json:"suspects,omitempty"`
	Instances uint64                   `json:"instances"` // that a rule looked at
	Undecided uint64                   `json:"undecided"`
	Advanced  uint64                   `json:"advanced_bytes"` // completed, on queues with BQL
	Decided   uint64                   `json:"decided_bytes"`  // of these, by B13

	Expect   map[string]string `json:"expect,omitempty"`       // variants by switch, of the table of kernels
	Could    []string          `json:"could_decide,omitempty"` // switches, of which a capture shows enough
	Variants []variant         `json:"variants"`               // what the captures leave
	Warnings []string          `json:"warnings,omitempty"`     // the kernel's own
	Seconds  float64           `json:"seconds"`

	tookOver bool // from an earlier run
	cutShort bool // the guest ended before its scenarios
}

// variant says what all captures of a cell leave of a switch, oldest first.
type variant struct {
	Switch string   `json:"switch"`
	Left   []string `json:"left"`
}

func (v variant) proven() bool { return len(v.Left) == 1 }

const cellFile = "cell.json"

// fail notes a reason.
func (c *cell) fail(format string, args ...any) {
	c.State = failed
	c.Reasons = append(c.Reasons, fmt.Sprintf(format, args...))
}

func (c *cell) write(dir string) error {
	b, err := json.MarshalIndent(c, "", "  ")
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(dir, cellFile), append(b, '\n'), 0o644)
}

// readCell reads the cell of an earlier run.
func readCell(dir string) (*cell, error) {
	b, err := os.ReadFile(filepath.Join(dir, cellFile))
	if err != nil {
		return nil, err
	}
	var c cell
	return &c, json.Unmarshal(b, &c)
}
