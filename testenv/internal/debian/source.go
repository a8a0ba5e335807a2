// SPDX-License-Identifier: Apache-2.0

package debian

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
)

// Sources are the kernels whose own BQL code the tests of internal/model
// compare the model with. The oldest one, where dql_reset still forgets
// limit_min, is there for that variant. A star is as in a kernels table.
var Sources = []Row{
	{Name: "5.10", Suite: "bullseye", Packages: []string{"linux-source-5.10"}},
	{Name: "6.1", Suite: "bookworm", Packages: []string{"linux-source-6.1"}},
	{Name: "6.12", Suite: "trixie", Packages: []string{"linux-source-6.12"}},
	{Name: "sid", Suite: "sid", Packages: []string{"linux-source-*"}},
}

// SourceFiles are the files that are kept of each.
var SourceFiles = []string{"lib/dynamic_queue_limits.c", "include/linux/dynamic_queue_limits.h"}

// FetchSource sees that SourceFiles of a row's kernel are in the cache, below
// sources/NAME. The package, of which they are a ten-thousandth, is not kept.
// What is in the cache is used as it is, without the network.
func FetchSource(ctx context.Context, cache string, row Row, log func(string, ...any)) error {
	dir := filepath.Join(cache, "sources", row.Name)
	if haveSource(dir) {
		return nil
	}
	apt, err := Suite(ctx, cache, row.Suite, log)
	if err != nil {
		return err
	}
	return apt.withFreshLists(ctx, func() error { return fetchSource(ctx, apt, cache, dir, row) })
}

func haveSource(dir string) bool {
	for _, name := range SourceFiles {
		if !isFile(filepath.Join(dir, name)) {
			return false
		}
	}
	return true
}

func fetchSource(ctx context.Context, apt *Apt, cache, dir string, row Row) error {
	names, err := apt.Names(ctx)
	if err != nil {
		return err
	}
	pkg, version, err := newest(ctx, apt, match(row.Packages[0], names))
	if err != nil {
		return err
	}
	if pkg == "" {
		return fmt.Errorf("%s: %w %s", row.Packages[0], ErrNotFound, row.Suite)
	}
	tmp, err := os.MkdirTemp(cache, "source-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(tmp)
	if err := apt.Extract(ctx, pkg, version, tmp); err != nil {
		return err
	}
	archive, err := one(tmp, "usr/src/linux-source-*.tar.xz")
	if err != nil {
		return err
	}
	tree := filepath.Join(tmp, "tree")
	if err := os.Mkdir(tree, 0o755); err != nil {
		return err
	}
	args := []string{"-xJf", archive, "-C", tree, "--strip-components=1", "--wildcards"}
	for _, name := range SourceFiles {
		args = append(args, "*/"+name)
	}
	if _, err := run(ctx, "", "tar", args...); err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(tree, "packages"), []byte(pkg+" "+version+"\n"), 0o644); err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(dir), 0o755); err != nil {
		return err
	}
	// Another process may have been quicker; its copy is as good.
	if err := os.Rename(tree, dir); err != nil && !haveSource(dir) {
		return err
	}
	return nil
}
