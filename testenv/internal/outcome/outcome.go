// SPDX-License-Identifier: Apache-2.0

// Package outcome is what vm says of a boot: its exit codes, and the file
// result.json that each scenario leaves.
package outcome

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// Exit codes of vm beside those of what ran in the guest.
const (
	ExitUsage    = 2
	ExitSkip     = 4 // a kernel, a device or a scenario that cannot be had
	ExitInternal = 5
	ExitGuest    = 70  // the guest panicked, hung or did not come up
	ExitSignal   = 130 // interrupted
)

// Outcome is how one scenario went.
type Outcome struct {
	Version  int      `json:"v"`
	Type     string   `json:"type"`
	Kernel   string   `json:"kernel"`
	Release  string   `json:"release,omitempty"`
	NIC      string   `json:"nic"`
	Scenario string   `json:"scenario"`
	Seed     int      `json:"seed"`
	Emulated bool     `json:"emulated"`
	Exit     int      `json:"exit"`
	Failure  string   `json:"failure,omitempty"`
	Guest    string   `json:"guest,omitempty"`    // how the boot failed, whatever became of the scenario
	Warnings []string `json:"warnings,omitempty"` // of the kernel, in the whole boot
	Steps    []Step   `json:"steps"`
	QEMU     string   `json:"qemu"`
}

// Step is a part of a run and the time it took.
type Step struct {
	Name    string  `json:"name"`
	Exit    int     `json:"exit"`
	Seconds float64 `json:"seconds"`
}

// File is an outcome's name in the folder of its scenario.
const File = "result.json"

// Dir is where a scenario's files go: a single one has the whole folder.
func Dir(out string, scenarios []string, name string) string {
	if len(scenarios) == 1 {
		return out
	}
	return filepath.Join(out, name)
}

// Write leaves an outcome in its folder, which it makes.
func (o *Outcome) Write(dir string) error {
	b, err := json.MarshalIndent(o, "", "  ")
	if err != nil {
		return err
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(dir, File), append(b, '\n'), 0o644)
}

// Read reads the outcome of a folder.
func Read(dir string) (*Outcome, error) {
	b, err := os.ReadFile(filepath.Join(dir, File))
	if err != nil {
		return nil, err
	}
	var o Outcome
	if err := json.Unmarshal(b, &o); err != nil {
		return nil, fmt.Errorf("%s: %w", filepath.Join(dir, File), err)
	}
	return &o, nil
}

// CutShort says that the guest's own end was the scenario's.
func (o *Outcome) CutShort() bool { return o.Guest != "" && strings.HasSuffix(o.Failure, o.Guest) }

// Skipped says that the scenario has nothing to do on this device or kernel.
func (o *Outcome) Skipped() bool { return o.Exit == ExitSkip && o.Failure != "" }
