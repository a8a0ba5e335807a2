// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/txtrace/txtrace/testenv"
	"github.com/txtrace/txtrace/testenv/internal/debian"
)

// faultnic is the NIC that breaks rules; see testenv/faultnic.
const faultnic = "faultnic"

// buildFaultnic returns its module for a kernel of the table, built when the
// cache has none of these sources.
func buildFaultnic(ctx context.Context, name string, k debian.Kernel) ([]byte, error) {
	row, cache, err := debian.FindRow(name)
	if err != nil {
		return nil, err
	}
	tree, err := debian.FetchHeaders(ctx, cache, row, k, logf)
	if err != nil {
		return nil, err
	}
	sources, err := fs.Sub(testenv.Files, "faultnic")
	if err != nil {
		return nil, err
	}
	sum, err := digest(sources)
	if err != nil {
		return nil, err
	}
	ko := filepath.Join(cache, "faultnic", filepath.Base(k.Modules)+"-"+sum+".ko")
	if b, err := os.ReadFile(ko); err == nil || !errors.Is(err, fs.ErrNotExist) {
		return b, err
	}
	b, err := buildModule(ctx, cache, tree, sources)
	if err != nil {
		return nil, err
	}
	if err := os.MkdirAll(filepath.Dir(ko), 0o755); err != nil {
		return nil, err
	}
	part := fmt.Sprintf("%s.%d", ko, os.Getpid())
	if err := os.WriteFile(part, b, 0o644); err != nil {
		return nil, err
	}
	return b, os.Rename(part, ko)
}

// digest names a set of files by what is in them.
func digest(files fs.FS) (string, error) {
	h := sha256.New()
	err := fs.WalkDir(files, ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		b, err := fs.ReadFile(files, name)
		fmt.Fprintf(h, "%s %d\n%s", name, len(b), b)
		return err
	})
	return fmt.Sprintf("%.6x", h.Sum(nil)), err
}

// buildModule builds faultnic.ko. It gets no BTF: txtrace must do without.
func buildModule(ctx context.Context, cache, tree string, sources fs.FS) ([]byte, error) {
	dir, err := os.MkdirTemp(cache, "build-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	if err := os.CopyFS(dir, sources); err != nil {
		return nil, err
	}
	logf("building faultnic for %s", filepath.Base(tree))
	cmd := exec.CommandContext(ctx, "make", "-s", "-C", tree, "M="+dir, "CONFIG_DEBUG_INFO_BTF_MODULES=", "modules")
	if out, err := cmd.CombinedOutput(); err != nil {
		return nil, fmt.Errorf("%s: %w\n%s", cmd, err, strings.TrimSpace(string(out)))
	}
	return os.ReadFile(filepath.Join(dir, "faultnic.ko"))
}
