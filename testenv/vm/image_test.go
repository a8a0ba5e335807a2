// SPDX-License-Identifier: Apache-2.0

package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/txtrace/txtrace/testenv/internal/outcome"
)

// TestOwnKernelRefused holds that what cannot be booted is a fault of what was
// typed, told before QEMU starts.
func TestOwnKernelRefused(t *testing.T) {
	dir := t.TempDir()
	image := make([]byte, 0x206)
	copy(image[0x1fe:], "\x55\xaa\xeb\x6aHdrS")
	noBoot, noHeader := append([]byte(nil), image...), append([]byte(nil), image...)
	noBoot[0x1fe], noHeader[0x202] = 0, 0
	write := func(name string, b []byte) string {
		file := filepath.Join(dir, name)
		if err := os.WriteFile(file, b, 0o644); err != nil {
			t.Fatal(err)
		}
		return file
	}
	bz := write("bzImage", image)
	for _, c := range []struct{ name, kernel, modules, says string }{
		{"not there", filepath.Join(dir, "none"), "", "none: no such file"},
		{"a folder", dir, "", "is a directory"},
		{"empty", write("empty", nil), "", "not a bzImage"},
		{"cut", write("cut", image[:0x205]), "", "not a bzImage"},
		{"no boot signature", write("boot", noBoot), "", "not a bzImage"},
		{"no header", write("header", noHeader), "", "not a bzImage"},
		{"no modules.dep", bz, dir, "run depmod -b DIR VERSION"},
	} {
		code, err := run(t.Context(), []string{"-kernel", c.kernel, "-modules", c.modules, "-out", filepath.Join(dir, "out"), "-scenario", "dummy"})
		if code != outcome.ExitUsage || err == nil || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: %d, %v: want 2 and %q", c.name, code, err, c.says)
		}
	}
	write("modules.dep", nil)
	k, err := findKernel(t.Context(), &options{kernel: bz, modules: dir})
	if err != nil || k.Image != bz || k.Modules != dir {
		t.Errorf("a bzImage with modules: %+v, %v", k, err)
	}
}
