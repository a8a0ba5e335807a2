// SPDX-License-Identifier: Apache-2.0

package debian

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/txtrace/txtrace/testenv"
)

// Row is one line of a kernels table.
type Row struct {
	Name     string
	Suite    string
	Packages []string
	Variants map[string]string // by switch: what captures of it must not contradict
}

// ParseTable reads a kernels table.
func ParseTable(text string) ([]Row, error) {
	var rows []Row
	seen := make(map[string]bool)
	n := 0
	for line := range strings.Lines(text) {
		n++
		line, _, _ = strings.Cut(line, "#")
		f := strings.Fields(line)
		switch {
		case len(f) == 0:
			continue
		case len(f) < 3:
			return nil, fmt.Errorf("kernels:%d: want a name, a suite and packages", n)
		case seen[f[0]]:
			return nil, fmt.Errorf("kernels:%d: %s is there twice", n, f[0])
		}
		seen[f[0]] = true
		row := Row{Name: f[0], Suite: f[1], Variants: map[string]string{}}
		for _, word := range f[2:] {
			if sw, variant, ok := strings.Cut(word, "="); ok {
				row.Variants[sw] = variant
			} else {
				row.Packages = append(row.Packages, word)
			}
		}
		if len(row.Packages) == 0 {
			return nil, fmt.Errorf("kernels:%d: %s has no package", n, row.Name)
		}
		rows = append(rows, row)
	}
	return rows, nil
}

// Find returns the row of a name.
func Find(rows []Row, name string) (Row, error) {
	names := make([]string, len(rows))
	for i, r := range rows {
		if r.Name == name {
			return r, nil
		}
		names[i] = r.Name
	}
	return Row{}, fmt.Errorf("kernel %s: not in testenv/kernels; there is %s, or give a path with a slash",
		name, strings.Join(names, ", "))
}

// Rows are the kernels that testenv knows.
func Rows() ([]Row, error) {
	table, err := testenv.Files.ReadFile("kernels")
	if err != nil {
		return nil, err
	}
	return ParseTable(string(table))
}

// FindRow finds a name among Rows, and the cache.
func FindRow(name string) (row Row, cache string, err error) {
	rows, err := Rows()
	if err != nil {
		return row, "", err
	}
	if row, err = Find(rows, name); err != nil {
		return row, "", err
	}
	cache, err = CacheDir()
	return row, cache, err
}

// match returns the names that a pattern matches.
func match(pattern string, names []string) []string {
	re := regexp.MustCompile("^" + strings.ReplaceAll(regexp.QuoteMeta(pattern), `\*`, `[^-]*`) + "$")
	var found []string
	for _, n := range names {
		if re.MatchString(n) {
			found = append(found, n)
		}
	}
	return found
}

// Kernel is an unpacked kernel.
type Kernel struct {
	Image   string // the bzImage
	Modules string // lib/modules/<version>, or empty
}

// Open finds the image and the modules in an unpacked package.
func Open(dir string) (Kernel, error) {
	image, err := one(dir, "boot/vmlinuz-*", "usr/lib/modules/*/vmlinuz", "lib/modules/*/vmlinuz")
	if err != nil {
		return Kernel{}, err
	}
	modules, err := one(dir, "lib/modules/*")
	return Kernel{image, modules}, err
}

func one(dir string, patterns ...string) (string, error) {
	for _, p := range patterns {
		if found, _ := filepath.Glob(filepath.Join(dir, p)); len(found) == 1 {
			return found[0], nil
		}
	}
	return "", fmt.Errorf("%s: nothing like %s", dir, patterns[0])
}

// Fetch returns a row's kernel, downloading it when the cache has none.
// A kernel that is in the cache is used as it is, without the network.
func Fetch(ctx context.Context, cache string, row Row, log func(string, ...any)) (Kernel, error) {
	dir := filepath.Join(cache, "kernels", row.Name)
	if k, err := Open(dir); err == nil {
		return k, nil
	}
	apt, err := Suite(ctx, cache, row.Suite, log)
	if err != nil {
		return Kernel{}, err
	}
	var k Kernel
	err = apt.withFreshLists(ctx, func() error {
		k, err = fetch(ctx, apt, cache, dir, row)
		return err
	})
	return k, err
}

func fetch(ctx context.Context, apt *Apt, cache, dir string, row Row) (Kernel, error) {
	names, err := apt.Names(ctx)
	if err != nil {
		return Kernel{}, err
	}
	tmp, err := os.MkdirTemp(cache, "kernel-")
	if err != nil {
		return Kernel{}, err
	}
	defer os.RemoveAll(tmp)
	var got strings.Builder
	for _, pattern := range row.Packages {
		pkg, version, err := newest(ctx, apt, match(pattern, names))
		if err != nil {
			return Kernel{}, err
		}
		if pkg == "" {
			return Kernel{}, fmt.Errorf("%s: %w %s", pattern, ErrNotFound, row.Suite)
		}
		if err := apt.Extract(ctx, pkg, version, tmp); err != nil {
			return Kernel{}, err
		}
		fmt.Fprintf(&got, "%s %s\n", pkg, version)
	}
	if _, err := os.Stat(filepath.Join(tmp, "lib")); os.IsNotExist(err) {
		if err := os.Symlink("usr/lib", filepath.Join(tmp, "lib")); err != nil {
			return Kernel{}, err
		}
	}
	k, err := Open(tmp)
	if err != nil {
		return Kernel{}, err
	}
	// Debian runs depmod at installation, so the package has no modules.dep.
	if _, err := run(ctx, "", sbin("depmod"), "-b", tmp, filepath.Base(k.Modules)); err != nil {
		return Kernel{}, err
	}
	if err := os.WriteFile(filepath.Join(tmp, "packages"), []byte(got.String()), 0o644); err != nil {
		return Kernel{}, err
	}
	if err := os.Chmod(tmp, 0o755); err != nil {
		return Kernel{}, err
	}
	if err := os.MkdirAll(filepath.Dir(dir), 0o755); err != nil {
		return Kernel{}, err
	}
	// Another process may have been quicker; its copy is as good.
	if err := os.Rename(tmp, dir); err != nil {
		if k, err := Open(dir); err == nil {
			return k, nil
		}
		return Kernel{}, err
	}
	return Open(dir)
}

func newest(ctx context.Context, apt *Apt, pkgs []string) (pkg, version string, err error) {
	for _, p := range pkgs {
		v, err := apt.Version(ctx, p)
		if err != nil {
			return "", "", err
		}
		if pkg == "" {
			pkg, version = p, v
		} else if _, err := run(ctx, "", "dpkg", "--compare-versions", v, "gt", version); err == nil {
			pkg, version = p, v
		}
	}
	return pkg, version, nil
}

// sbin finds a command that may live outside of a user's PATH.
func sbin(name string) string {
	for _, dir := range []string{"/usr/sbin", "/sbin"} {
		if p := filepath.Join(dir, name); isFile(p) {
			return p
		}
	}
	return name
}

func isFile(path string) bool {
	st, err := os.Stat(path)
	return err == nil && st.Mode().IsRegular()
}
