// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/txtrace/txtrace/testenv/internal/outcome"
)

func TestCPIO(t *testing.T) {
	var b bytes.Buffer
	err := writeCPIO(&b, []cpioFile{
		{"bin", cpioDir | 0o755, nil},
		{"bin/tool", cpioRegular | 0o755, []byte("12345")},
		{"empty", cpioRegular | 0o644, nil},
	})
	if err != nil {
		t.Fatal(err)
	}
	if b.Len()%4 != 0 {
		t.Errorf("length %d: not a multiple of 4", b.Len())
	}
	const header = 110
	if got := b.String()[:6]; got != "070701" {
		t.Errorf("magic %q", got)
	}
	// "bin\0" follows the first header, and the next header is aligned.
	if got := b.String()[header : header+4]; got != "bin\x00" {
		t.Errorf("name %q", got)
	}
	if got := b.String()[(header+4+3)&^3:][:6]; got != "070701" {
		t.Errorf("second magic %q", got)
	}
	if _, err := exec.LookPath("cpio"); err != nil {
		t.Skip("cpio is not installed: the archive is not unpacked")
	}
	dir := t.TempDir()
	cmd := exec.Command("cpio", "-id", "--quiet")
	cmd.Dir, cmd.Stdin = dir, &b
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("cpio: %v: %s", err, out)
	}
	if got, err := os.ReadFile(filepath.Join(dir, "bin/tool")); err != nil || string(got) != "12345" {
		t.Errorf("bin/tool = %q, %v", got, err)
	}
	if st, err := os.Stat(filepath.Join(dir, "bin/tool")); err != nil || st.Mode().Perm() != 0o755 {
		t.Errorf("bin/tool: %v, %v", st, err)
	}
}

func TestModuleOrder(t *testing.T) {
	tree := parseModules(`kernel/fs/9p/9p.ko.xz: kernel/net/9p/9pnet.ko.xz kernel/fs/netfs/netfs.ko.xz
kernel/net/9p/9pnet_virtio.ko.xz: kernel/net/9p/9pnet.ko.xz kernel/drivers/virtio/virtio.ko.xz
kernel/net/9p/9pnet.ko.xz:
kernel/fs/netfs/netfs.ko.xz:
kernel/drivers/virtio/virtio.ko.xz:
kernel/drivers/i2c/i2c-algo-bit.ko:
`, "kernel/drivers/virtio/virtio_pci.ko\n")
	got := tree.order("virtio_pci", "9pnet_virtio", "9p", "i2c_algo_bit", "not-there")
	want := []string{
		"kernel/net/9p/9pnet.ko.xz", "kernel/drivers/virtio/virtio.ko.xz", "kernel/net/9p/9pnet_virtio.ko.xz",
		"kernel/fs/netfs/netfs.ko.xz", "kernel/fs/9p/9p.ko.xz", "kernel/drivers/i2c/i2c-algo-bit.ko",
	}
	if !slices.Equal(got, want) {
		t.Errorf("order = %q\nwant %q", got, want)
	}
}

func TestReadModule(t *testing.T) {
	dir := t.TempDir()
	tree := &moduleTree{dir: dir}
	for ext, tool := range map[string]string{"": "", ".xz": "xz", ".zst": "zstd", ".gz": "gzip"} {
		data := []byte("module")
		if tool != "" {
			if _, err := exec.LookPath(tool); err != nil {
				t.Logf("%s is not installed", tool)
				continue
			}
			cmd := exec.Command(tool, "-c")
			cmd.Stdin = bytes.NewReader(data)
			packed, err := cmd.Output()
			if err != nil {
				t.Fatal(err)
			}
			data = packed
		}
		if err := os.WriteFile(filepath.Join(dir, "m.ko"+ext), data, 0o644); err != nil {
			t.Fatal(err)
		}
		if got, err := tree.read("m.ko" + ext); err != nil || string(got) != "module" {
			t.Errorf("m.ko%s: %q, %v", ext, got, err)
		}
	}
	if err := os.WriteFile(filepath.Join(dir, "bad.ko.xz"), []byte("no"), 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := tree.read("bad.ko.xz"); err == nil || !strings.Contains(err.Error(), "bad.ko.xz") {
		t.Errorf("a broken module: %v: want an error that names it", err)
	}
}

func TestArgs(t *testing.T) {
	base := machine{
		kernel: "/k", initramfs: "/i", append: "panic=-1", smp: 2, memory: "2G",
		shares: []share{{"root", "/", true}, {"out", "/a,b", false}},
		nic:    "igb",
	}
	line := func(change func(*machine)) string {
		m := base
		change(&m)
		return strings.Join(m.args(), " ")
	}
	for _, c := range []struct {
		name      string
		change    func(*machine)
		want, not []string
	}{
		{"tcg", func(*machine) {}, []string{
			"-accel tcg,thread=multi -cpu max -smp 2",
			"id=root,path=/,security_model=none,multidevs=remap,readonly=on",
			"id=out,path=/a,,b,security_model=none,multidevs=remap -device",
			"-device igb,netdev=n0,bus=rp0,mac=52:54:00:00:00:01,romfile=",
			"-device igb,netdev=n1,bus=rp1,mac=52:54:00:00:00:02,romfile=",
			"-no-reboot",
		}, []string{"icount", "-trace"}},
		{"kvm", func(m *machine) { m.kvm = true }, []string{"-accel kvm -cpu host -smp 2"}, []string{"tcg"}},
		{"icount", func(m *machine) { m.icount, m.kvm = true, false },
			[]string{"-accel tcg,thread=single -icount shift=1,sleep=off -cpu max -smp 1"}, []string{"multi "}},
		{"veth", func(m *machine) { m.nic = "veth" }, nil, []string{"hubport"}},
		{"virtio", func(m *machine) { m.nic = "virtio" }, []string{"virtio-net-pci,netdev=n0"}, nil},
		{"trace", func(m *machine) { m.trace, m.traceFile, m.extra = "e1000e_core_write", "/t", []string{"-S"} },
			[]string{"-trace enable=e1000e_core_write -D /t -S"}, nil},
	} {
		got := line(c.change)
		for _, w := range c.want {
			if !strings.Contains(got, w) {
				t.Errorf("%s: %s\nlacks %s", c.name, got, w)
			}
		}
		for _, n := range c.not {
			if strings.Contains(got, n) {
				t.Errorf("%s: %s\nhas %s", c.name, got, n)
			}
		}
	}
}

func TestVirtualises(t *testing.T) {
	for flags, want := range map[string]bool{
		"processor\t: 0\nflags\t\t: fpu vmx lm\n": true,
		"flags\t: svm\n":          true,
		"flags\t: fpu vmmcall\n":  false,
		"vmx flags\t: vnmi ept\n": false,
		"":                        false,
	} {
		if got := virtualises(flags); got != want {
			t.Errorf("virtualises(%q) = %v", flags, got)
		}
	}
}

func TestShellQuote(t *testing.T) {
	words := []string{"sh", "-c", `echo "$1"; a='b c'`, "", "é *"}
	out, err := exec.Command("/bin/sh", "-c", "printf '<%s>' "+shellQuote(words)).Output()
	if err != nil {
		t.Fatal(err)
	}
	want := ""
	for _, w := range words {
		want += "<" + w + ">"
	}
	if string(out) != want {
		t.Errorf("sh read %s, want %s", out, want)
	}
}

func TestParse(t *testing.T) {
	for _, c := range []struct {
		args string
		want string // part of the error, or empty
	}{
		{"-out o -- true", ""},
		{"-out o -scenario bulk-udp", ""},
		{"-out o -scenario all -tools none", ""},
		{"-out o -scenario bulk-udp,nothing", "not known; there is bounds, bulk-udp"},
		{"-out o", "either -scenario or a command"},
		{"-out o -scenario dummy -- true", "either -scenario or a command"},
		{"-- true", "-out"},
		{"-out o -nic faultnic -- true", ""},
		{"-out o -nic faultnic -kernel ./bzImage -- true", "testenv/kernels only"},
		{"-out o -nic e100 -- true", "e1000e"},
		{"-out o -tools strace -scenario dummy", "trace-cmd"},
		{"-out o -env A -- true", "NAME=VALUE"},
		{"-out o -accel xen -- true", "tcg"},
	} {
		_, err := parse(strings.Fields(c.args))
		switch {
		case c.want == "" && err != nil:
			t.Errorf("%s: %v", c.args, err)
		case c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)):
			t.Errorf("%s: error %v, want one with %q", c.args, err, c.want)
		}
	}
}

func TestCheckModel(t *testing.T) {
	t.Setenv("PATH", t.TempDir()+":"+os.Getenv("PATH"))
	old := "#!/bin/sh\n[ \"$2\" = igb,help ] || echo options:\n"
	if err := os.WriteFile(filepath.Join(strings.Split(os.Getenv("PATH"), ":")[0], "qemu-system-x86_64"), []byte(old), 0o755); err != nil {
		t.Fatal(err)
	}
	for nic, want := range map[string]error{"igb": errNoModel, "e1000e": nil, "veth": nil} {
		if err := checkModel(t.Context(), nic); !errors.Is(err, want) {
			t.Errorf("%s: %v, want %v", nic, err, want)
		}
	}
}

func took(name string, exit int, seconds float64) outcome.Step {
	return outcome.Step{Name: name, Exit: exit, Seconds: seconds}
}

func TestJudge(t *testing.T) {
	done := []outcome.Step{took("boot", 0, 5), took("guest/net", 0, 1), took("a/setup", 0, 1), took("a/load", 0, 4), took("a/teardown", 0, 0)}
	broken := errors.New("guest: panic: Kernel panic - not syncing: test")
	for _, c := range []struct {
		name string
		res  result
		err  error
		exit int
		text string
		n    int
	}{
		{"a", result{Steps: done}, nil, 0, "", 5},
		{"b", result{Steps: append(done[:5:5], took("b/setup", outcome.ExitSkip, 1), took("b/teardown", 0, 1))}, nil, outcome.ExitSkip, "skipped", 4},
		{"b", result{Steps: append(done[:5:5], took("b/load", 1, 1), took("b/teardown", 0, 1))}, nil, outcome.ExitGuest, "load: exit code 1", 4},
		{"b", result{Steps: append(done[:5:5], took("b/load", 0, 1))}, broken, outcome.ExitGuest, "panic", 3},
		{"a", result{Steps: done}, broken, 0, "", 5},
		{"b", result{Steps: done}, nil, outcome.ExitGuest, "did not run", 2},
	} {
		steps, exit, text := judge(c.name, &c.res, c.err)
		if exit != c.exit || !strings.Contains(text, c.text) || (c.text == "") != (text == "") || len(steps) != c.n {
			t.Errorf("%s: %d %q, %d steps; want %d %q, %d", c.name, exit, text, len(steps), c.exit, c.text, c.n)
		}
	}
}

func TestWorst(t *testing.T) {
	for _, c := range []struct {
		codes []int
		want  int
	}{
		{[]int{0}, 0}, {[]int{0, 4}, 0}, {[]int{4, 4}, 4}, {[]int{0, 3, 1}, 1}, {[]int{3, 0}, 3},
		{[]int{1, 70, 5}, 70}, {[]int{9}, 9},
	} {
		if got := worst(c.codes); got != c.want {
			t.Errorf("worst(%v) = %d, want %d", c.codes, got, c.want)
		}
	}
}

func TestRemoveMade(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "a[b")
	if err := removeMade(dir); err != nil {
		t.Errorf("a folder that is not there: %v", err)
	}
	if err := os.MkdirAll(filepath.Join(dir, "before/tx"), 0o755); err != nil {
		t.Fatal(err)
	}
	for _, f := range []string{"verify.txt", "netperf-7.txt", "notes.txt"} {
		if err := os.WriteFile(filepath.Join(dir, f), nil, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if err := removeMade(dir); err != nil {
		t.Fatal(err)
	}
	entries, err := os.ReadDir(dir)
	if err != nil || len(entries) != 1 || entries[0].Name() != "notes.txt" {
		t.Errorf("left: %v, %v: want notes.txt alone", entries, err)
	}
}

func TestReadSteps(t *testing.T) {
	file := filepath.Join(t.TempDir(), "steps")
	if err := os.WriteFile(file, []byte("0 1.07 a/setup\n124 30.00 a/load\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	steps, err := readSteps(file)
	if err != nil || !slices.Equal(steps, []outcome.Step{took("a/setup", 0, 1.07), took("a/load", 124, 30)}) {
		t.Errorf("steps = %v, %v", steps, err)
	}
	if err := os.WriteFile(file, []byte("0 1.07 a/setup\n0 2"), 0o644); err != nil {
		t.Fatal(err)
	}
	if steps, err := readSteps(file); err == nil || len(steps) != 1 {
		t.Errorf("a cut file: %v, %v: want one step and an error", steps, err)
	}
}

func TestConsole(t *testing.T) {
	file := filepath.Join(t.TempDir(), "console")
	text := "\x1b[2J[    1.0] fine\r\n[    2.5] WARNING: CPU: 0 PID: 7 at net/core/dev.c:1 f+0x1/0x2\r\nnetperf: WARNING: not the kernel\n[    3.0] last\x07 one\r\n"
	if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	got, err := complaints(file)
	if err != nil || !slices.Equal(got, []string{"WARNING: CPU: 0 PID: 7 at net/core/dev.c:1 f+0x1/0x2"}) {
		t.Errorf("complaints = %q, %v", got, err)
	}
	if got := lastWords(file); got != "the console ends with: [    3.0] last one" {
		t.Errorf("last words %q", got)
	}
	if err := os.WriteFile(file, []byte("a\r\ntxtrace-init: no 9p\r\n[ 3.0] reboot: Power down\r\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	if got := lastWords(file); got != "no 9p" {
		t.Errorf("last words %q", got)
	}
}

func TestFollow(t *testing.T) {
	file := filepath.Join(t.TempDir(), "output")
	if err := os.WriteFile(file, []byte("a"), 0o644); err != nil {
		t.Fatal(err)
	}
	done := make(chan struct{})
	got := make(chan string, 10)
	ended := make(chan struct{})
	go func() {
		follow(file, done, func(p []byte) { got <- string(p) })
		close(ended)
	}()
	first := <-got
	f, err := os.OpenFile(file, os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if _, err := f.WriteString("b"); err != nil {
		t.Fatal(err)
	}
	close(done)
	<-ended
	close(got)
	rest := ""
	for s := range got {
		rest += s
	}
	if first+rest != "ab" {
		t.Errorf("followed %q and %q", first, rest)
	}
}
