// SPDX-License-Identifier: Apache-2.0

// Setup installs what txtrace's guests and tests need from Debian. Run as
// root it installs what is missing; run as anybody else it prints the one
// line that does, and exits with 4.
//
//	go run ./testenv/setup build|demo|test|oracle
//
// Nothing is missing for build. oracle, which anybody can run, fetches the two
// files of Debian's kernel sources that the tests of internal/model compile
// and compare the model with. demo needs QEMU, the guest's tools and the
// load generator; test adds clang, libbpf and the tools that txtrace is
// compared with. The packages come through a private sources list, made
// from the machine's own mirror, so that netperf (non-free) and a QEMU that
// knows igb (backports) are there; the machine's own sources stay as they
// are. When everything is there, nothing is asked of the network.
package main

import (
	"context"
	"debug/elf"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"github.com/txtrace/txtrace/testenv/internal/debian"
)

// need is a package and the test that it is there.
type need struct {
	pkg   string
	there func() bool
}

var demo = []need{
	{"qemu-system-x86", command("qemu-system-x86_64")},
	{"busybox-static", staticBusybox},
	{"iproute2", command("ip")},
	{"ethtool", command("ethtool")},
	{"netperf", command("netperf")},
	{"kmod", command("depmod")},
	{"xz-utils", command("xz")},
	{"zstd", command("zstd")},
}

var test = append(slices.Clip(demo), []need{
	{"clang-14", command("clang-14")},
	{"llvm-14", command("llvm-strip-14")},
	{"clang-format-14", command("clang-format-14")},
	{"libbpf-dev", file("/usr/include/bpf/bpf_helpers.h")},
	{"linux-perf", command("perf")},
	{"trace-cmd", command("trace-cmd")},
	{"iperf3", command("iperf3")},
	{"python3", command("python3")},
	{"gcc", command("cc")},
	{"gcc-12", command("gcc-12")}, // of the kernels that faultnic is built for
	{"make", command("make")},
	{"libc6-dev", file("/usr/include/setjmp.h")},
}...)

func command(name string) func() bool {
	return func() bool {
		if _, err := exec.LookPath(name); err == nil {
			return true
		}
		return file("/usr/sbin/"+name)() || file("/sbin/"+name)()
	}
}

func file(path string) func() bool {
	return func() bool {
		_, err := os.Stat(path)
		return err == nil
	}
}

// staticBusybox tells busybox-static from Debian's ordinary busybox.
func staticBusybox() bool {
	f, err := elf.Open("/bin/busybox")
	if err != nil {
		return false
	}
	defer f.Close()
	return !slices.ContainsFunc(f.Progs, func(p *elf.Prog) bool { return p.Type == elf.PT_INTERP })
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	os.Exit(setup(ctx, os.Args[1:]))
}

func setup(ctx context.Context, args []string) int {
	if slices.Equal(args, []string{"oracle"}) {
		return oracle(ctx)
	}
	levels := map[string][]need{"build": nil, "demo": demo, "test": test}
	if len(args) != 1 {
		fmt.Fprintln(os.Stderr, "usage: setup build|demo|test|oracle")
		return 2
	}
	needs, ok := levels[args[0]]
	if !ok {
		fmt.Fprintf(os.Stderr, "setup: %s: no such level: it is build, demo, test or oracle\n", args[0])
		return 2
	}
	var missing []string
	for _, n := range needs {
		if !n.there() {
			missing = append(missing, n.pkg)
		}
	}
	if len(missing) == 0 {
		return 0
	}
	if os.Geteuid() != 0 {
		fmt.Fprintf(os.Stderr, "setup: missing: %s: run this once:\n", strings.Join(missing, " "))
		fmt.Printf("sudo env \"PATH=$PATH\" go run ./testenv/setup %s\n", args[0])
		return 4
	}
	if err := install(ctx, missing); err != nil {
		fmt.Fprintf(os.Stderr, "setup: %v\n", err)
		return 5
	}
	for _, n := range needs {
		if !n.there() {
			fmt.Fprintf(os.Stderr, "setup: %s: installed, but what it should bring is not there\n", n.pkg)
			return 5
		}
	}
	return 0
}

// oracle fetches what it can. A kernel that cannot be had is no reason not to
// test with the others: it is named, and its comparison is skipped.
func oracle(ctx context.Context) int {
	cache, err := debian.CacheDir()
	if err == nil {
		err = os.MkdirAll(cache, 0o755)
	}
	if err != nil {
		fmt.Fprintf(os.Stderr, "setup: %v\n", err)
		return 5
	}
	code := 0
	for _, row := range debian.Sources {
		if err := debian.FetchSource(ctx, cache, row, log); err != nil {
			fmt.Fprintf(os.Stderr, "setup: kernel source %s: %v\n", row.Name, err)
			code = 4
		}
	}
	return code
}

func log(format string, args ...any) {
	fmt.Fprintf(os.Stderr, filepath.Base(os.Args[0])+": "+format+"\n", args...)
}

func install(ctx context.Context, missing []string) error {
	cache, err := debian.CacheDir()
	if err != nil {
		return err
	}
	if err := os.MkdirAll(cache, 0o755); err != nil {
		return err
	}
	apt, err := debian.Tools(ctx, cache, log)
	if err != nil {
		return err
	}
	if err := apt.Update(ctx); err != nil {
		return err
	}
	return apt.Install(ctx, missing...)
}
