// SPDX-License-Identifier: Apache-2.0

package probes

import (
	"encoding/json"
	"os"
	"testing"
)

// TestGatherSaves writes the running kernel's facts to the file that
// TXTRACE_FACTS names. It is how testdata/facts is made, in a guest:
//
//	go test -c -o probes.test ./internal/probes
//	TXTRACE_FACTS=/out/6.1.json ./probes.test -test.run TestGatherSaves
func TestGatherSaves(t *testing.T) {
	path := os.Getenv("TXTRACE_FACTS")
	if path == "" {
		t.Skip("TXTRACE_FACTS names no file to save the running kernel's facts to")
	}
	f, err := Gather("")
	if err != nil {
		t.Fatal(err)
	}
	f.Kernel.Cmdline, f.Kernel.Emulated, f.Kernel.CPUs, f.Kernel.PossibleCPUs = "", false, 2, 0 // the guest's, not the kernel's
	b, err := json.MarshalIndent(f, "", "\t")
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, append(b, '\n'), 0o644); err != nil {
		t.Fatal(err)
	}
}
