// SPDX-License-Identifier: Apache-2.0

package debian

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

func TestParseTable(t *testing.T) {
	rows, err := ParseTable("# comment\n\n6.1 bookworm linux-image-6.1.0-*-amd64 # trailing\n7.2 sid a-* b-* bulk=budget\n")
	if err != nil {
		t.Fatal(err)
	}
	if len(rows) != 2 || rows[0].Name != "6.1" || rows[0].Suite != "bookworm" ||
		!slices.Equal(rows[1].Packages, []string{"a-*", "b-*"}) || rows[1].Variants["bulk"] != "budget" {
		t.Errorf("rows = %+v", rows)
	}
	for _, bad := range []string{"6.1 bookworm\n", "6.1 bookworm bulk=budget\n", "a s p\na s p\n"} {
		if _, err := ParseTable(bad); err == nil {
			t.Errorf("ParseTable(%q): no error", bad)
		}
	}
}

func TestTree(t *testing.T) {
	rows, err := Rows()
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"6.1", "6.12.43"} {
		if _, err := Find(rows, name); err != nil {
			t.Error(err)
		}
	}
	if _, err := Find(rows, "2.4"); err == nil || !strings.Contains(err.Error(), "6.12.43") {
		t.Errorf("unknown kernel: %v: want an error that lists the rows", err)
	}
}

func TestMatch(t *testing.T) {
	names := []string{
		"linux-image-6.1.0-47-amd64", "linux-image-6.1.0-50-amd64", "linux-image-6.1.0-50-cloud-amd64",
		"linux-image-6.1.0-50-rt-amd64", "linux-image-6.1.0-50-amd64-dbg", "linux-image-6.12.43+deb12-amd64",
		"linux-image-6.12.43+deb12-amd64-unsigned", "linux-image-6112.43+deb12-amd64",
	}
	for pattern, want := range map[string][]string{
		"linux-image-6.1.0-*-amd64":       names[:2],
		"linux-image-6.12.43+deb12-amd64": {names[5]},
		"linux-image-6.12.44+deb12-amd64": nil,
	} {
		if got := match(pattern, names); !slices.Equal(got, want) {
			t.Errorf("match(%q) = %q, want %q", pattern, got, want)
		}
	}
}

func TestSources(t *testing.T) {
	targets := parseTargets("http://a.example/debian/ bookworm\n" +
		"http://a.example/debian/ bookworm\n" +
		"http://a.example/debian/ bookworm-updates\n" +
		"http://s.example/security/ bookworm-security\n" +
		"http://other.example/ nodistro\n")
	if len(targets) != 4 {
		t.Fatalf("targets = %v", targets)
	}
	got, err := toolSources(targets, "bookworm")
	if err != nil {
		t.Fatal(err)
	}
	by := "deb [signed-by=" + Keyring + "] "
	want := by + "http://a.example/debian/ bookworm main contrib non-free\n" +
		by + "http://a.example/debian/ bookworm-updates main contrib non-free\n" +
		by + "http://s.example/security/ bookworm-security main contrib non-free\n" +
		by + "http://a.example/debian/ bookworm-backports main\n"
	if got != want {
		t.Errorf("got\n%swant\n%s", got, want)
	}
	if _, err := mirror(targets, "trixie"); err == nil {
		t.Error("mirror of a release that is not configured: no error")
	}
	if uri, _ := mirror([]Target{{"http://b.example/", "stable"}}, "bookworm"); uri != "http://b.example/" {
		t.Errorf("mirror by the name stable = %q", uri)
	}
}

func TestBuildDepends(t *testing.T) {
	for depends, want := range map[string][]string{
		"linux-headers-6.1.0-50-common (= 6.1.176-1), linux-kbuild-6.1 (>= 6.1.176-1), linux-compiler-gcc-12-x86": {
			"gcc-12", "linux-headers-6.1.0-50-common", "linux-kbuild-6.1",
		},
		"linux-base (>= 4.12~), linux-headers-6.12.95+deb12-common (= 6.12.95-1~bpo12+1), " +
			"linux-image-6.12.95+deb12-amd64 (= 6.12.95-1~bpo12+1) | linux-image-6.12.95+deb12-amd64-unsigned (= 6.12.95-1~bpo12+1), " +
			"linux-kbuild-6.12.95+deb12, gcc-12": {
			"gcc-12", "linux-headers-6.12.95+deb12-common", "linux-kbuild-6.12.95+deb12",
		},
	} {
		pkgs, compiler := buildDepends("Package: p\nDepends: " + depends + "\nSize: 1\n")
		if got := append([]string{compiler}, pkgs...); !slices.Equal(got, want) {
			t.Errorf("%s: got %q, want %q", depends, got, want)
		}
	}
}

func TestOpen(t *testing.T) {
	for name, files := range map[string][]string{
		"one package": {"boot/vmlinuz-6.1.0-1-amd64", "lib/modules/6.1.0-1-amd64/modules.dep"},
		"split":       {"usr/lib/modules/7.2/vmlinuz", "lib/modules/7.2/modules.dep"},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			for _, f := range files {
				p := filepath.Join(dir, f)
				if err := os.MkdirAll(filepath.Dir(p), 0o755); err != nil {
					t.Fatal(err)
				}
				if err := os.WriteFile(p, nil, 0o644); err != nil {
					t.Fatal(err)
				}
			}
			k, err := Open(dir)
			if err != nil {
				t.Fatal(err)
			}
			if k.Image != filepath.Join(dir, files[0]) || k.Modules != filepath.Dir(filepath.Join(dir, files[1])) {
				t.Errorf("kernel = %+v", k)
			}
		})
	}
	if _, err := Open(t.TempDir()); err == nil {
		t.Error("an empty folder: no error")
	}
}
