// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bufio"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/txtrace/txtrace/testenv/internal/debian"
)

// TestGuestEnds holds what vm says of guests that end in each way.
func TestGuestEnds(t *testing.T) {
	vmTest(t)
	for _, c := range []struct {
		name, command string
		limit         time.Duration
		kind, detail  string
		exit          int
	}{
		{"exit code", "echo written >/out/file; exit 9", 2 * time.Minute, "", "", 9},
		{"panic", "echo kept >/out/file; echo c >/proc/sysrq-trigger; sleep 60", 2 * time.Minute, "panic", "sysrq triggered crash", 0},
		{"time limit", "sleep 1000", 45 * time.Second, "timeout", "45s", 0},
		{"no end", "/run/bin/busybox poweroff -f", 2 * time.Minute, "boot", "ended before its job did", 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			out := t.TempDir()
			o, g := vmGuest(t, out, "-kernel", "6.1", "-nic", "none", "--", "sh", "-c", c.command)
			job, err := commandJob(o.command)
			if err != nil {
				t.Fatal(err)
			}
			g.job, g.limit = job, c.limit
			res, err := g.boot(t.Context())
			if c.kind == "" {
				if err != nil || res.Exit != c.exit {
					t.Errorf("exit code %d, %v; want %d", res.Exit, err, c.exit)
				}
			} else {
				var f *failure
				if !errors.As(err, &f) || f.kind != c.kind || !strings.Contains(f.detail, c.detail) {
					t.Errorf("error %v; want %s: %s", err, c.kind, c.detail)
				}
			}
			if c.name == "panic" {
				// What was written before the panic is on the host.
				if b, err := os.ReadFile(filepath.Join(out, "file")); err != nil || string(b) != "kept\n" {
					t.Errorf("file of the panicked guest: %q, %v", b, err)
				}
			}
			console, err := os.Open(filepath.Join(out, "console.log"))
			if err != nil {
				t.Fatal(err)
			}
			defer console.Close()
			lines := 0
			for sc := bufio.NewScanner(console); sc.Scan(); lines++ {
			}
			want := 100
			if c.name == "time limit" {
				want = 1 // of however far a busy machine came
			}
			if lines < want {
				t.Errorf("console.log has %d lines", lines)
			}
		})
	}
}

// TestKernelGone holds that a package its suite no longer has is a skip.
func TestKernelGone(t *testing.T) {
	vmTest(t)
	cache, err := debian.CacheDir()
	if err != nil {
		t.Fatal(err)
	}
	row := debian.Row{Name: "gone", Suite: "bookworm", Packages: []string{"linux-image-6.1.0-1-amd64"}}
	if _, err := debian.Fetch(t.Context(), cache, row, t.Logf); !errors.Is(err, debian.ErrNotFound) {
		t.Errorf("error %v: want %v", err, debian.ErrNotFound)
	}
}

// TestOwnKernel boots an image by its path, as a kernel of one's own.
func TestOwnKernel(t *testing.T) {
	vmTest(t)
	_, stock := vmGuest(t, t.TempDir(), "-kernel", "6.1", "--", "true")
	flags := []string{"-kernel", stock.kernel, "-nic", "e1000e"}
	command := []string{"--", "sh", "-c", "uname -r; modprobe sch_fq"}

	o, g := vmGuest(t, t.TempDir(), append(append(flags, "-modules", stock.modules), command...)...)
	var err error
	if g.job, err = commandJob(o.command); err != nil {
		t.Fatal(err)
	}
	if res, err := g.boot(t.Context()); err != nil || res.Exit != 0 {
		t.Errorf("with its modules: %+v, %v", res, err)
	}

	o, g = vmGuest(t, t.TempDir(), append(flags, command...)...)
	if g.job, err = commandJob(o.command); err != nil {
		t.Fatal(err)
	}
	if _, err := g.boot(t.Context()); err == nil || !strings.Contains(err.Error(), "testenv/kernel.config") {
		t.Errorf("without its modules: %v: want an error that names kernel.config", err)
	}
}
