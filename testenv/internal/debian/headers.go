// SPDX-License-Identifier: Apache-2.0

package debian

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
)

// ErrNoCompiler says that the compiler that a kernel was built with is missing.
var ErrNoCompiler = errors.New("not on this machine")

// FetchHeaders returns the folder that modules for a row's kernel, as Fetch
// gave it, are built against. The packages are unpacked in the cache, not
// installed. What is in the cache is used as it is, without the network.
func FetchHeaders(ctx context.Context, cache string, row Row, k Kernel, log func(string, ...any)) (string, error) {
	release := filepath.Base(k.Modules)
	dir := filepath.Join(cache, "headers", release)
	tree := filepath.Join(dir, "usr/src/linux-headers-"+release)
	if isFile(filepath.Join(tree, "Makefile")) {
		return tree, nil
	}
	apt, err := Suite(ctx, cache, row.Suite, log)
	if err != nil {
		return "", err
	}
	version, err := versionOf(filepath.Join(cache, "kernels", row.Name))
	if err != nil {
		return "", err
	}
	return tree, apt.withFreshLists(ctx, func() error { return fetchHeaders(ctx, apt, cache, dir, release, version) })
}

// versionOf is the version of the packages that a kernel was unpacked from.
func versionOf(dir string) (string, error) {
	b, err := os.ReadFile(filepath.Join(dir, "packages"))
	if err != nil {
		return "", err
	}
	f := strings.Fields(string(b))
	if len(f) < 2 {
		return "", fmt.Errorf("%s: no package and its version in file packages: remove the folder", dir)
	}
	return f[1], nil
}

func fetchHeaders(ctx context.Context, apt *Apt, cache, dir, release, version string) error {
	pkg := "linux-headers-" + release
	shown, err := run(ctx, "", "apt-cache", append(apt.options(), "show", pkg+"="+version)...)
	if err != nil {
		return fmt.Errorf("%s %s: %w", pkg, version, ErrNotFound)
	}
	pkgs, compiler := buildDepends(shown)
	if _, err := exec.LookPath(compiler); err != nil {
		return fmt.Errorf("%s needs %s: %w", pkg, compiler, ErrNoCompiler)
	}
	tmp, err := os.MkdirTemp(cache, "headers-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(tmp)
	for _, p := range append(pkgs, pkg) {
		if err := apt.Extract(ctx, p, version, tmp); err != nil {
			return err
		}
	}
	// All else in them is relative.
	makefile := filepath.Join(tmp, "usr/src", pkg, "Makefile")
	b, err := os.ReadFile(makefile)
	if err != nil {
		return err
	}
	b = bytes.Replace(b, []byte("include /usr/src/"), []byte("include "+filepath.Join(dir, "usr/src")+"/"), 1)
	if err := os.WriteFile(makefile, b, 0o644); err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(dir), 0o755); err != nil {
		return err
	}
	// Another process may have been quicker; its copy is as good.
	if err := os.Rename(tmp, dir); err != nil && !isFile(filepath.Join(dir, "usr/src", pkg, "Makefile")) {
		return err
	}
	return nil
}

// ofBuild are the dependencies of a headers package that a build needs.
var ofBuild = regexp.MustCompile(`\b(linux-(?:headers|kbuild)-[^ ,]+|gcc-[0-9]+)\b`)

// buildDepends finds them in what apt-cache shows of the package.
func buildDepends(shown string) (pkgs []string, compiler string) {
	for line := range strings.Lines(shown) {
		depends, ok := strings.CutPrefix(line, "Depends: ")
		if !ok {
			continue
		}
		for _, name := range ofBuild.FindAllString(depends, -1) {
			if strings.HasPrefix(name, "gcc-") {
				compiler = name
			} else {
				pkgs = append(pkgs, name)
			}
		}
	}
	return pkgs, compiler
}
