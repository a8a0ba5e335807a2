// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/txtrace/txtrace/testenv/internal/debian"
)

// TestCells holds how a cell ends for each way in which what it needs may end.
func TestCells(t *testing.T) {
	for _, c := range []struct {
		name, kernel, nic, scenarios string
		state                        state
		reasons                      []string // a part of each, in order
	}{
		{"all is well", "k", "e1000e", "a b skips", ok, nil},
		{"a rule fails", "k", "e1000e", "a fails", failed, []string{`fails: D1 broken 2 times: seen\nso`}},
		{"a load does not run", "k", "e1000e", "breaks a", failed, []string{"breaks: load: exit code 1"}},
		{"a capture is cut", "k", "e1000e", "cut", failed, []string{"cut: the capture is cut: no footer"}},
		{"a capture cannot be read", "k", "e1000e", "a unreadable", failed, []string{"unreadable: txtrace verify cannot read the capture: exit code 5"}},
		{"all are skipped", "k", "e1000e", "skips", skipped, []string{"skips: skipped: not here"}},
		{"the guest panics", "k", "panics", "a b c d", failed, []string{"b: after ready: guest: panic: Kernel panic", "not played after that: c d"}},
		{"the disk is full", "k", "full", "a b", failed, []string{"no space left on device", "no result.json: a b"}},
		{"a module is not built", "k", "gone", "a", skipped, []string{"gcc-99: not on this machine"}},
		{"the package is gone", "gone", "e1000e", "a", skipped, []string{"linux-image-gone: not in the suite bookworm"}},
		{"another variant", "k", "e1000e", "open older", failed, []string{"bulk=bytes is found, and the table of kernels says budget"}},
		{"captures contradict each other", "k", "e1000e", "a older", failed, []string{"older: bulk=bytes, and other captures of this kernel left budget"}},
		{"a variant is left open", "k", "e1000e", "open", ok, nil},
		{"a variant is left open by what should decide it", "k", "e1000e", "bulk-udp", failed, []string{"bulk is not decided: bytes|budget are left, budget is expected"}},
		{"and by what cannot decide it there", "k", "veth", "bulk-udp", ok, nil},
		{"another scenario decides it", "k", "e1000e", "bulk-udp a", ok, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			o := fakes(t)
			got := o.player.play(t.Context(), planned{c.kernel, c.nic, words(c.scenarios)})
			if got.State != c.state || len(got.Reasons) != len(c.reasons) {
				t.Fatalf("%s: %q; want %s: %q", got.State, got.Reasons, c.state, c.reasons)
			}
			for i, want := range c.reasons {
				if !strings.Contains(got.Reasons[i], want) {
					t.Errorf("reason %q; want %q", got.Reasons[i], want)
				}
			}
		})
	}
}

// TestHang holds that a vm that never ends and does not heed SIGTERM is ended,
// and what it started with it.
func TestHang(t *testing.T) {
	o := fakes(t)
	o.player.limit, o.player.patience = 300*time.Millisecond, 10*time.Millisecond
	hung := o.player.play(t.Context(), planned{"k", "hang", []string{"a"}})
	if hung.State != failed || !strings.Contains(hung.Reasons[0], "not done after 300ms") {
		t.Errorf("%s: %q", hung.State, hung.Reasons)
	}
	lock, err := os.Open(filepath.Join(o.player.out, "lock"))
	if err == nil {
		defer lock.Close()
		err = syscall.Flock(int(lock.Fd()), syscall.LOCK_EX) // waits for ever if its child lives
	}
	if err != nil && !os.IsNotExist(err) {
		t.Error(err)
	}
}

// TestStall holds that a mirror that stalls costs its time once, and that the
// other kernels are played.
func TestStall(t *testing.T) {
	o := fakes(t)
	o.kernels, o.nics, o.scenarios = []string{"stalls", "k"}, []string{"e1000e", "igb"}, []string{"a"}
	o.player.fetchLimit = 10 * time.Millisecond
	fetched := 0
	fetch := o.player.fetch
	o.player.fetch = func(ctx context.Context, kernel string) (*source, error) {
		fetched++
		return fetch(ctx, kernel)
	}
	cells := o.play(t.Context(), new(bytes.Buffer))
	if len(cells) != 4 || fetched != 2 {
		t.Fatalf("%d cells, %d kernels fetched", len(cells), fetched)
	}
	for _, c := range cells[:2] {
		if c.State != failed || !strings.Contains(c.Reasons[0], "kernel: not fetched within 10ms") {
			t.Errorf("%s: %q", c.State, c.Reasons)
		}
	}
	if cells[2].State != ok || cells[3].State != ok || exitCode(cells, nil) != exitFail {
		t.Errorf("the others: %q %q, exit code %d", cells[2].Reasons, cells[3].Reasons, exitCode(cells, nil))
	}
}

func TestExitCode(t *testing.T) {
	for _, c := range []struct {
		states string
		code   int
	}{{"ok", 0}, {"ok skip", 0}, {"skip", 4}, {"skip fail ok", 1}} {
		var cells []*cell
		for _, s := range words(c.states) {
			cells = append(cells, &cell{State: state(s)})
		}
		if got := exitCode(cells, nil); got != c.code {
			t.Errorf("%s: exit code %d, want %d", c.states, got, c.code)
		}
	}
}

// TestResume holds what an earlier run's cells are good for.
func TestResume(t *testing.T) {
	o := fakes(t)
	runs := func(o *options) string {
		t.Helper()
		os.Remove(filepath.Join(o.player.out, "runs"))
		if err := o.player.resume.know(o.player.vm); err != nil {
			t.Fatal(err)
		}
		var out bytes.Buffer
		o.play(t.Context(), &out)
		b, err := os.ReadFile(filepath.Join(o.player.out, "runs"))
		if err != nil && !os.IsNotExist(err) {
			t.Fatal(err)
		}
		if taken := strings.Count(out.String(), "taken over"); taken+len(words(strings.ReplaceAll(string(b), "\n", " "))) != len(plan(o.kernels, o.nics, o.scenarios)) {
			t.Errorf("%d taken over, not played: %s", taken, &out)
		}
		return strings.ReplaceAll(string(b), "\n", " ")
	}
	again := func(change func(*options)) string {
		next := fakes(t)
		next.nics, next.scenarios, next.player.out = o.nics, o.scenarios, o.player.out
		next.player.resume.what = "1"
		change(next)
		return runs(next)
	}
	o.nics, o.scenarios = []string{"e1000e", "full"}, []string{"a"}
	if got := runs(o); got != "k-e1000e k-full " {
		t.Errorf("at first %q", got)
	}
	for _, c := range []struct {
		what   string
		change func(*options)
		want   string
	}{
		{"resumed", func(*options) {}, "k-full "},
		{"all that ended", func(o *options) { o.player.resume.what = "all" }, ""},
		{"other programs", func(o *options) { o.player.resume.programs = "x" }, "k-e1000e k-full "},
		{"the same again", func(o *options) { o.player.resume.programs = "x" }, "k-full "},
		{"other seconds", func(o *options) { o.player.seconds++ }, "k-e1000e k-full "},
		{"other scenarios", func(o *options) { o.scenarios = []string{"b"} }, "k-e1000e k-full "},
		{"not resumed", func(o *options) { o.player.resume.what = ""; o.scenarios = []string{"b"} }, "k-e1000e k-full "},
	} {
		if got := again(c.change); got != c.want {
			t.Errorf("%s: played %q, want %q", c.what, got, c.want)
		}
	}
}

// TestTwins holds that rows of the same image are booted once, and each held to
// its own variants.
func TestTwins(t *testing.T) {
	o := fakes(t)
	o.jobs, o.kernels, o.nics, o.scenarios = 2, []string{"k", "same-as-k", "older"}, []string{"e1000e"}, []string{"a"}
	fetch := o.player.fetch
	o.player.fetch = func(ctx context.Context, kernel string) (*source, error) {
		src, err := fetch(ctx, kernel)
		if kernel == "same-as-k" {
			src.expect = map[string]string{"bulk": "bytes"}
		}
		return src, err
	}
	cells := o.play(t.Context(), new(bytes.Buffer))
	runs, err := os.ReadFile(filepath.Join(o.player.out, "runs"))
	if err != nil {
		t.Fatal(err)
	}
	if got := len(words(strings.ReplaceAll(string(runs), "\n", " "))); got != 2 {
		t.Errorf("%d boots: %s", got, runs)
	}
	own, other := cells[0], cells[1]
	if other.As == "" {
		own, other = other, own // it came first
	}
	if own.As != "" || other.As == "" || cells[0].State != ok || cells[1].State != failed || cells[2].As != "" {
		t.Errorf("%+v\n%+v\n%+v", cells[0], cells[1], cells[2])
	}
}

// TestKernels holds that a kernel's cells may not contradict each other.
func TestKernels(t *testing.T) {
	with := func(kernel, nic string, left ...string) *cell {
		return &cell{Kernel: kernel, NIC: nic, Played: []string{"a"}, Variants: []variant{{"bulk", left}}}
	}
	rows := rowsOf([]*cell{
		with("a", "x", "one", "bytes", "budget"), with("a", "y", "bytes", "budget"), {Kernel: "a", NIC: "z"}, with("a", "w", "one", "budget"),
		with("b", "x", "bytes"), with("b", "y", "budget"), with("c", "x", "budget"),
	})
	if len(rows) != 3 || !slices.Equal(rows[0].variants[0].Left, []string{"budget"}) || len(rows[0].contradictions) != 0 {
		t.Errorf("%+v", rows)
	}
	if got := rows[1].contradictions; !slices.Equal(got, []string{"bulk=budget with y, bytes with others"}) {
		t.Errorf("%q", got)
	}
}

// opener lets the waiting cell go on once another one is printed.
type opener struct {
	bytes.Buffer
	fifo string
	err  error
}

func (w *opener) Write(p []byte) (int, error) {
	if bytes.Contains(p, []byte("k igb;")) {
		w.err = os.WriteFile(w.fifo, []byte("go"), 0o600)
	}
	return w.Buffer.Write(p)
}

// TestOrder holds that cells are printed as they end, and summed up in the
// order of the plan.
func TestOrder(t *testing.T) {
	o := fakes(t)
	o.jobs, o.nics, o.scenarios = 2, []string{"waits", "igb"}, []string{"a"}
	w := &opener{fifo: filepath.Join(o.player.out, "fifo")}
	if err := syscall.Mkfifo(w.fifo, 0o600); err != nil {
		t.Fatal(err)
	}
	cells := o.play(t.Context(), w)
	if w.err != nil {
		t.Fatal(w.err)
	}
	printSummary(w, cells, rowsOf(cells), 90*time.Second)
	var order []string
	for line := range strings.Lines(w.String()) {
		if f := strings.Fields(strings.ReplaceAll(line, ";", "")); len(f) > 2 && (f[1] == "k" || f[0] == "k") {
			order = append(order, f[slices.Index(f, "k")+1])
		}
	}
	if !slices.Equal(order, []string{"igb", "waits", "waits", "igb"}) {
		t.Errorf("order %q in\n%s", order, w)
	}
	summary := new(bytes.Buffer)
	cells[1].Kernel = "/home/me/linux/arch/x86/boot/bzImage"
	cells[0].Variants = append(cells[0].Variants, variant{"long", []string{strings.Repeat("a", 60)}}, variant{"other", []string{strings.Repeat("b", 50)}})
	printSummary(summary, cells, rowsOf(cells), 0)
	for line := range strings.Lines(summary.String()) {
		if len(line) > width+1 {
			t.Errorf("%d columns: %s", len(line), line)
		}
	}
}

// TestPlan holds that the matrix has every kernel, at least three NICs for each,
// and every scenario but those of faultnic.
func TestPlan(t *testing.T) {
	rows, err := debian.Rows()
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, r := range rows {
		names = append(names, r.Name)
	}
	count, played := make(map[string]int), make(map[string]bool)
	for _, p := range plan(names, nil, nil) {
		count[p.kernel]++
		for _, s := range p.scenarios {
			played[s] = true
		}
	}
	for _, n := range names {
		if count[n] < 3 {
			t.Errorf("%s: %d NICs", n, count[n])
		}
	}
	entries, err := os.ReadDir("../scenarios")
	if err != nil {
		t.Fatal(err)
	}
	// everything plays what is in these.
	within := []string{"tcp-gso", "tcp-small", "tcp-tso"}
	for _, e := range entries {
		name := e.Name()
		if name != "lib.sh" && name != "faults" && !played[name] && !slices.Contains(within, name) {
			t.Errorf("%s is played nowhere", name)
		}
	}
}

// TestSuite holds what a CI system is told: a failed cell is a failed test, and
// one that was skipped makes no skip of the whole.
func TestSuite(t *testing.T) {
	cells := []*cell{
		{Kernel: "a", NIC: "x", State: ok, Played: []string{"s"}, Variants: []variant{{"bulk", []string{"bytes"}}}},
		{Kernel: "a", NIC: "y", State: failed, Reasons: []string{"s: D1 broken"}, Played: []string{"s"}, Variants: []variant{{"bulk", []string{"budget"}}}},
		{Kernel: "b", NIC: "x", State: skipped, Reasons: []string{"gone"}},
	}
	var out bytes.Buffer
	if err := suite(cells, rowsOf(cells)).TAP(&out, "cell"); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"1..3\n", "\nok 1 - a x # ", "# s: D1 broken\nnot ok 2 - a y # ", "\nnot ok 3 - a variants # ",
		"# not exercised: b x\n", "pass:1 fail:2 xfail:0 xpass:0 skip:0 error:0"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("no %q in\n%s", want, &out)
		}
	}
	if strings.Contains(out.String(), "SKIP") {
		t.Errorf("a skip in\n%s", &out)
	}
	out.Reset()
	if err := suite(cells, rowsOf(cells)).JUnit(&out, "cell"); err != nil {
		t.Fatal(err)
	}
	if want := `name="txtrace matrix" tests="4" failures="2" errors="0" skipped="1"`; !strings.Contains(out.String(), want) {
		t.Errorf("no %s in\n%s", want, &out)
	}
}

func TestParse(t *testing.T) {
	o, err := parse(strings.Fields("-kernels 6.1,./bzImage -nics igb"))
	if err != nil || !slices.Equal(o.kernels, []string{"6.1", "./bzImage"}) || !slices.Equal(o.nics, []string{"igb"}) {
		t.Errorf("%+v, %v", o, err)
	}
	if o, err := parse(nil); err != nil || len(o.kernels) < 8 {
		t.Errorf("%+v, %v", o, err)
	}
	for args, want := range map[string]string{
		"-kernels 2.4": "6.12.43", "-format html": "junit", "-resume maybe": "all", "-jobs 0": "at least 1", "6.1": "not a flag",
	} {
		if _, err := parse(strings.Fields(args)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: error %v, want one with %q", args, err, want)
		}
	}
}

// TestUnwritable holds that a cell that cannot write its own folder says so.
func TestUnwritable(t *testing.T) {
	o := fakes(t)
	if err := os.WriteFile(filepath.Join(o.player.out, "k-igb"), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	o.player.out = filepath.Join(o.player.out, "k-igb")
	c := o.player.play(t.Context(), planned{"k", "igb", []string{"a"}})
	if c.State != failed || !strings.Contains(c.Reasons[0], "not a directory") {
		t.Errorf("%s: %q", c.State, c.Reasons)
	}
}
