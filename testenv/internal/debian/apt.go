// SPDX-License-Identifier: Apache-2.0

// Package debian gets packages from Debian's archive without touching the
// machine's own apt configuration.
//
// Every suite has a private sources list, list directory and cache below
// one cache folder. The archive's address is read from the machine's own
// sources, so whatever mirror the machine uses is used here too.
package debian

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
)

// Keyring is what the private sources lists are verified with.
const Keyring = "/usr/share/keyrings/debian-archive-keyring.gpg"

// ErrNotFound says that a suite does not offer a package.
var ErrNotFound = errors.New("not in the suite")

// CacheDir is the folder for package lists, kernels and built files:
// $TXTRACE_CACHE, or txtrace in the user's cache folder.
func CacheDir() (string, error) {
	if dir := os.Getenv("TXTRACE_CACHE"); dir != "" {
		return filepath.Abs(dir)
	}
	dir, err := os.UserCacheDir()
	if err != nil {
		return "", fmt.Errorf("cache folder: %w: set TXTRACE_CACHE", err)
	}
	return filepath.Join(dir, "txtrace"), nil
}

// Target is one suite at one address.
type Target struct{ URI, Suite string }

// Machine lists the suites that the machine's own apt is configured for.
func Machine(ctx context.Context) ([]Target, error) {
	out, err := run(ctx, "", "apt-get", "indextargets",
		"-o", "APT::Get::IndexTargets::OnlyPresent=false",
		"--format", "$(REPO_URI) $(RELEASE)", "Created-By: Packages")
	if err != nil {
		return nil, err
	}
	return parseTargets(out), nil
}

func parseTargets(out string) []Target {
	var targets []Target
	seen := make(map[Target]bool)
	for line := range strings.Lines(out) {
		f := strings.Fields(line)
		if len(f) != 2 {
			continue
		}
		t := Target{f[0], f[1]}
		if !seen[t] {
			seen[t] = true
			targets = append(targets, t)
		}
	}
	return targets
}

// Codename is the machine's own Debian release.
func Codename() (string, error) {
	b, err := os.ReadFile("/etc/os-release")
	if err != nil {
		return "", err
	}
	for line := range strings.Lines(string(b)) {
		if name, ok := strings.CutPrefix(line, "VERSION_CODENAME="); ok {
			return strings.Trim(strings.TrimSpace(name), `"`), nil
		}
	}
	return "", errors.New("/etc/os-release: no VERSION_CODENAME: Debian 12 is expected")
}

// mirror picks the archive's address: the one that carries the machine's
// own release. Security and update suites live elsewhere.
func mirror(targets []Target, codename string) (string, error) {
	for _, want := range []string{codename, "stable"} {
		for _, t := range targets {
			if t.Suite == want {
				return t.URI, nil
			}
		}
	}
	return "", fmt.Errorf("apt: no source for %s: the machine's own apt must be able to install packages", codename)
}

// Apt is a private apt configuration.
type Apt struct {
	dir string
	log func(format string, args ...any)
}

// Suite prepares a private configuration for one suite of the archive.
func Suite(ctx context.Context, cache, suite string, log func(string, ...any)) (*Apt, error) {
	targets, err := Machine(ctx)
	if err != nil {
		return nil, err
	}
	codename, err := Codename()
	if err != nil {
		return nil, err
	}
	uri, err := mirror(targets, codename)
	if err != nil {
		return nil, err
	}
	return open(cache, suite, sourceLine(Target{uri, suite}, "main"), log)
}

// Tools prepares a private configuration for the machine's own release
// with every component, and QEMU from its backports.
func Tools(ctx context.Context, cache string, log func(string, ...any)) (*Apt, error) {
	targets, err := Machine(ctx)
	if err != nil {
		return nil, err
	}
	codename, err := Codename()
	if err != nil {
		return nil, err
	}
	lines, err := toolSources(targets, codename)
	if err != nil {
		return nil, err
	}
	a, err := open(cache, "tools", lines, log)
	if err != nil {
		return nil, err
	}
	// Only QEMU comes from backports: its libraries there would shut out
	// the development files of the release's own.
	pin := fmt.Sprintf("Package: qemu-* seabios\nPin: release n=%s-backports\nPin-Priority: 900\n", codename)
	return a, os.WriteFile(filepath.Join(a.dir, "preferences"), []byte(pin), 0o644)
}

func toolSources(targets []Target, codename string) (string, error) {
	uri, err := mirror(targets, codename)
	if err != nil {
		return "", err
	}
	var b strings.Builder
	backports := Target{uri, codename + "-backports"}
	for _, t := range targets {
		if (t.Suite == codename || strings.HasPrefix(t.Suite, codename+"-")) && t != backports {
			b.WriteString(sourceLine(t, "main contrib non-free"))
		}
	}
	b.WriteString(sourceLine(backports, "main"))
	return b.String(), nil
}

func sourceLine(t Target, components string) string {
	return fmt.Sprintf("deb [signed-by=%s] %s %s %s\n", Keyring, t.URI, t.Suite, components)
}

func open(cache, name, lines string, log func(string, ...any)) (*Apt, error) {
	a := &Apt{dir: filepath.Join(cache, "apt", name), log: log}
	for _, d := range []string{"lists/partial", "cache/archives/partial"} {
		if err := os.MkdirAll(filepath.Join(a.dir, d), 0o755); err != nil {
			return nil, err
		}
	}
	list := filepath.Join(a.dir, "sources.list")
	if old, err := os.ReadFile(list); err == nil && string(old) == lines {
		return a, nil
	}
	return a, os.WriteFile(list, []byte(lines), 0o644)
}

func (a *Apt) options() []string {
	return []string{
		"-o", "Dir::Etc::SourceList=" + filepath.Join(a.dir, "sources.list"),
		"-o", "Dir::Etc::SourceParts=/dev/null",
		"-o", "Dir::Etc::Preferences=" + filepath.Join(a.dir, "preferences"),
		"-o", "Dir::Etc::PreferencesParts=/dev/null",
		"-o", "Dir::State::Lists=" + filepath.Join(a.dir, "lists"),
		"-o", "Dir::Cache=" + filepath.Join(a.dir, "cache"),
		"-o", "APT::Sandbox::User=root",
		"-o", "Acquire::Retries=5",
		"-o", "Acquire::http::Timeout=60",
		"-o", "Acquire::Languages=none",
		"-o", "Acquire::IndexTargets::deb::DEP-11::DefaultEnabled=false",
		"-o", "Dpkg::Use-Pty=0",
		"-o", "DPkg::Lock::Timeout=600",
		"-q",
	}
}

// Update fetches the package lists, trying again when the network fails.
func (a *Apt) Update(ctx context.Context) error {
	a.log("apt: updating the lists of %s", filepath.Base(a.dir))
	return retry(ctx, a.log, func() error {
		_, err := run(ctx, "", "apt-get", append(a.options(), "--error-on=any", "update")...)
		return err
	})
}

// withFreshLists calls get, which finds and fetches by the lists at hand. They
// may be older than the suite: if it fails, it gets one more try with new ones.
func (a *Apt) withFreshLists(ctx context.Context, get func() error) error {
	if get() == nil {
		return nil
	}
	if err := a.Update(ctx); err != nil {
		return err
	}
	return get()
}

// Names lists the packages that a pattern of a kernels table matches.
func (a *Apt) Names(ctx context.Context) ([]string, error) {
	out, err := run(ctx, "", "apt-cache", append(a.options(), "pkgnames", "linux-")...)
	return strings.Fields(out), err
}

// Version is the newest version of a package in the suite.
func (a *Apt) Version(ctx context.Context, pkg string) (string, error) {
	out, err := run(ctx, "", "apt-cache", append(a.options(), "--no-all-versions", "show", pkg)...)
	if err != nil {
		return "", fmt.Errorf("%s: %w", pkg, ErrNotFound)
	}
	for line := range strings.Lines(out) {
		if v, ok := strings.CutPrefix(line, "Version: "); ok {
			return strings.TrimSpace(v), nil
		}
	}
	return "", fmt.Errorf("%s: %w", pkg, ErrNotFound)
}

// Extract downloads a package, which apt verifies, and unpacks it into
// dir. Nothing is installed.
func (a *Apt) Extract(ctx context.Context, pkg, version, dir string) error {
	tmp, err := os.MkdirTemp(a.dir, "download-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(tmp)
	a.log("apt: downloading %s %s", pkg, version)
	err = retry(ctx, a.log, func() error {
		_, err := run(ctx, tmp, "apt-get", append(a.options(), "download", pkg+"="+version)...)
		return err
	})
	if err != nil {
		return err
	}
	debs, err := filepath.Glob(filepath.Join(tmp, "*.deb"))
	if err != nil || len(debs) != 1 {
		return fmt.Errorf("%s: apt-get download left %d packages", pkg, len(debs))
	}
	_, err = run(ctx, "", "dpkg-deb", "-x", debs[0], dir)
	return err
}

// Install installs packages on the machine.
func (a *Apt) Install(ctx context.Context, pkgs ...string) error {
	args := append(a.options(), "-y", "--no-install-recommends", "install")
	a.log("apt: installing %s", strings.Join(pkgs, " "))
	return retry(ctx, a.log, func() error {
		_, err := run(ctx, "", "apt-get", append(args, pkgs...)...)
		return err
	})
}

// retry runs f up to three times.
func retry(ctx context.Context, log func(string, ...any), f func() error) error {
	const attempts = 3
	for i := 1; ; i++ {
		err := f()
		if err == nil || i == attempts || ctx.Err() != nil {
			return err
		}
		log("apt: attempt %d of %d failed: %v", i, attempts, err)
		select {
		case <-ctx.Done():
		case <-time.After(time.Duration(i) * 5 * time.Second):
		}
	}
}

func run(ctx context.Context, dir, name string, args ...string) (string, error) {
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "DEBIAN_FRONTEND=noninteractive", "LC_ALL=C")
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	if err := cmd.Run(); err != nil {
		return stdout.String(), fmt.Errorf("%s: %w: %s", name, err, lastLine(stderr.String()))
	}
	return stdout.String(), nil
}

func lastLine(s string) string {
	s = strings.TrimSpace(s)
	return s[strings.LastIndexByte(s, '\n')+1:]
}
