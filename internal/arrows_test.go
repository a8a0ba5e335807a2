// SPDX-License-Identifier: Apache-2.0

// Package internal_test holds the direction in which packages may know each
// other. Data goes one way, from the kernel to the person, and so do imports.
package internal_test

import (
	"fmt"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

const module = "github.com/txtrace/txtrace/"

// mayImport names, for each package of ours, the packages of ours that it
// may import. A package that is not in here may import none and be imported
// by none but cmd/txtrace. Tests are not held to it, except that nobody
// imports testenv.
var mayImport = map[string][]string{
	"internal/event":          {},
	"internal/capture":        {"internal/event"},
	"internal/probes":         {"internal/event", "internal/capture"},
	"internal/model":          {},
	"internal/statistics":     {},
	"internal/analysis":       {"internal/event", "internal/capture", "internal/model"},
	"internal/analysis/rules": {"internal/analysis", "internal/model"},
	"internal/sim":            {"internal/model", "internal/event", "internal/capture"},
	"internal/evidence":       {"internal/event", "internal/capture", "internal/analysis"},
	"internal/flame":          {"internal/capture"},
	"internal/export":         {"internal/event", "internal/capture"},
	"internal/comparison":     {"internal/analysis", "internal/capture", "internal/statistics"},
	"internal/report":         {"internal/analysis", "internal/capture", "internal/comparison"},
}

// onlyFor names modules that one package alone may import.
var onlyFor = map[string]string{
	"github.com/cilium/ebpf": "internal/probes",
}

// wrong says why the package in folder from may not import path, or "".
func wrong(from, path string, test bool) string {
	for mod, owner := range onlyFor {
		if (path == mod || strings.HasPrefix(path, mod+"/")) && from != owner {
			return "only " + owner + " may"
		}
	}
	to, ours := strings.CutPrefix(path, module)
	switch {
	case !ours:
		return ""
	case strings.HasPrefix(from, "testenv"):
		return "" // a consumer of everything
	case strings.HasPrefix(to, "testenv"):
		return "nothing imports testenv"
	case test, strings.HasPrefix(from, "cmd/txtrace"):
		return ""
	case slices.Contains(mayImport[from], to):
		return ""
	}
	return fmt.Sprintf("it may import %q of ours", mayImport[from])
}

func TestArrows(t *testing.T) {
	root := ".."
	files := 0
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() && path != root && (strings.HasPrefix(d.Name(), ".") || d.Name() == "testdata" || d.Name() == "out") {
			return fs.SkipDir
		}
		if d.IsDir() || !strings.HasSuffix(path, ".go") {
			return nil
		}
		files++
		f, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.ImportsOnly)
		if err != nil {
			return err
		}
		from, err := filepath.Rel(root, filepath.Dir(path))
		if err != nil {
			return err
		}
		for _, spec := range f.Imports {
			to, err := strconv.Unquote(spec.Path.Value)
			if err != nil {
				return err
			}
			if why := wrong(filepath.ToSlash(from), to, strings.HasSuffix(path, "_test.go")); why != "" {
				t.Errorf("%s imports %s: %s", path, to, why)
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if files == 0 {
		t.Error("no Go files seen")
	}
}

func TestArrowsAreHeld(t *testing.T) {
	for _, c := range []struct {
		from, to string
		test, ok bool
	}{
		{"internal/capture", module + "internal/event", false, true},
		{"internal/event", module + "internal/capture", false, false},
		{"internal/analysis", module + "internal/probes", false, false},
		{"internal/analysis/rules", module + "internal/event", false, false},
		{"internal/analysis/rules", module + "internal/event", true, true},
		{"internal/report", "github.com/cilium/ebpf/link", false, false},
		{"internal/report", "github.com/cilium/ebpf/link", true, false},
		{"internal/probes", "github.com/cilium/ebpf", false, true},
		{"internal/probes", "github.com/cilium/ebpfother", false, true},
		{"cmd/txtrace", module + "testenv", true, false},
		{"cmd/txtrace", module + "internal/probes", false, true},
		{"testenv/vm", module + "internal/capture", false, true},
		{"internal/new", module + "internal/event", false, false},
	} {
		if why := wrong(c.from, c.to, c.test); (why == "") != c.ok {
			t.Errorf("%s imports %s (test %v): %q, want ok %v", c.from, c.to, c.test, why, c.ok)
		}
	}
}
