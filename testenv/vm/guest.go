// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/txtrace/txtrace/testenv"
	"github.com/txtrace/txtrace/testenv/internal/outcome"
)

// bootModules is what the first stage needs to see the host's folders.
var bootModules = []string{"virtio_pci", "9pnet_virtio", "9p"}

// nicDrivers maps a NIC to the module that drives it.
var nicDrivers = map[string]string{
	"e1000e":  "e1000e",
	"igb":     "igb",
	"virtio":  "virtio_net",
	"vmxnet3": "vmxnet3",
	"rtl8139": "8139cp",
}

// guest is one boot.
type guest struct {
	machine
	modules string            // lib/modules/<version>, or empty
	job     string            // what the guest runs, in sh
	env     map[string]string // variables of the job
	files   map[string][]byte // more of the control folder
	out     string            // the guest's /out
	console string            // the console log's path
	limit   time.Duration
	output  io.Writer // receives what the job prints
	verbose io.Writer // receives the console, or nil
}

// result is how a boot went.
type result struct {
	Exit     int            // the job's exit code
	Release  string         // the kernel's own name
	Command  []string       // QEMU's command line
	Steps    []outcome.Step // in order; boot is the first
	Warnings []string       // what the kernel complained of
}

// failure is a guest that did not end as it should: the job's own exit
// code is not one.
type failure struct {
	kind   string // panic, timeout or boot
	detail string
}

func (f *failure) Error() string { return "guest: " + f.kind + ": " + f.detail }

// boot runs the guest to its end.
func (g *guest) boot(ctx context.Context) (*result, error) {
	tmp, err := os.MkdirTemp("", "txtrace-vm-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(tmp)
	control := filepath.Join(tmp, "control")
	if err := g.prepare(tmp, control); err != nil {
		return nil, err
	}
	res := &result{Command: g.args()}
	up, runErr := g.run(ctx, res.Command, control)
	if res.Warnings, err = complaints(g.console); err != nil {
		return res, err
	}
	res.Steps = []outcome.Step{{Name: "boot", Seconds: seconds(up)}}
	steps, stepsErr := readSteps(filepath.Join(control, "steps"))
	res.Steps = append(res.Steps, steps...)
	if b, err := os.ReadFile(filepath.Join(control, "release")); err == nil {
		res.Release = strings.TrimSpace(string(b))
	}
	if err := cmp.Or(runErr, stepsErr); err != nil {
		return res, err
	}
	text, err := os.ReadFile(filepath.Join(control, "exit"))
	if errors.Is(err, fs.ErrNotExist) {
		return res, &failure{"boot", "it ended before its job did: " + lastWords(g.console)}
	}
	if err != nil {
		return res, err
	}
	res.Exit, err = strconv.Atoi(strings.TrimSpace(string(text)))
	return res, err
}

// prepare writes the initramfs and the control folder.
func (g *guest) prepare(tmp, control string) error {
	if err := os.Mkdir(control, 0o755); err != nil {
		return err
	}
	err := fs.WalkDir(testenv.Files, ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		data, err := testenv.Files.ReadFile(name)
		if err != nil {
			return err
		}
		to := filepath.Join(control, strings.TrimPrefix(name, "guest/"))
		if err := os.MkdirAll(filepath.Dir(to), 0o755); err != nil {
			return err
		}
		return os.WriteFile(to, data, 0o644)
	})
	if err != nil {
		return err
	}
	var env strings.Builder
	for name, value := range g.env {
		fmt.Fprintf(&env, "export %s=%s\n", name, shellQuote([]string{value}))
	}
	for name, text := range map[string]string{"env": env.String(), "job": g.job, "output": "", "steps": ""} {
		if err := os.WriteFile(filepath.Join(control, name), []byte(text), 0o644); err != nil {
			return err
		}
	}
	for name, data := range g.files {
		if err := os.WriteFile(filepath.Join(control, name), data, 0o644); err != nil {
			return err
		}
	}
	g.initramfs = filepath.Join(tmp, "initramfs")
	g.shares = []share{{"root", "/", true}, {"control", control, false}, {"out", g.out, false}}
	return g.writeInitramfs(g.initramfs)
}

func (g *guest) writeInitramfs(path string) error {
	busybox, err := os.ReadFile("/bin/busybox")
	if err != nil {
		return fmt.Errorf("%w: go run ./testenv/setup demo", err)
	}
	init, err := testenv.Files.ReadFile("guest/init")
	if err != nil {
		return err
	}
	files := []cpioFile{
		{"bin", cpioDir | 0o755, nil},
		{"dev", cpioDir | 0o755, nil},
		{"modules", cpioDir | 0o755, nil},
		{"bin/busybox", cpioRegular | 0o755, busybox},
		{"init", cpioRegular | 0o755, init},
	}
	var order strings.Builder
	if g.modules != "" {
		tree, err := openModules(g.modules)
		if err != nil {
			return err
		}
		for _, file := range tree.order(bootModules...) {
			data, err := tree.read(file)
			if err != nil {
				return err
			}
			name := moduleName(file) + ".ko"
			files = append(files, cpioFile{"modules/" + name, cpioRegular | 0o644, data})
			fmt.Fprintln(&order, name)
		}
	}
	files = append(files, cpioFile{"modules.order", cpioRegular | 0o644, []byte(order.String())})
	var b bytes.Buffer
	if err := writeCPIO(&b, files); err != nil {
		return err
	}
	return os.WriteFile(path, b.Bytes(), 0o644)
}

// run starts QEMU and waits for its end, which a panic and the time limit
// bring about too. It ends no process but its own. up is the time until
// the guest's second stage, or until the end if there was none.
func (g *guest) run(ctx context.Context, command []string, control string) (up time.Duration, err error) {
	console, err := os.Create(g.console)
	if err != nil {
		return 0, err
	}
	defer console.Close()
	ctx, cancel := context.WithTimeout(ctx, g.limit)
	defer cancel()
	cmd := exec.CommandContext(ctx, command[0], command[1:]...)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		return 0, err
	}
	// QEMU dies with the thread that started it, so it does not outlive
	// a runner that is killed.
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	start := time.Now()
	if err := cmd.Start(); err != nil {
		return 0, fmt.Errorf("%w: go run ./testenv/setup demo", err)
	}

	var mu sync.Mutex // two write to the log
	write := func(p []byte) error {
		mu.Lock()
		defer mu.Unlock()
		_, err := console.Write(p)
		return err
	}
	done := make(chan struct{})
	var output sync.WaitGroup
	output.Go(func() {
		follow(filepath.Join(control, "output"), done, func(p []byte) {
			g.output.Write(p)
			write(p)
		})
	})
	var panicked string
	var readErr, logErr error
	for r := bufio.NewReader(stdout); readErr == nil; {
		var line []byte
		line, readErr = r.ReadBytes('\n')
		if err := write(line); logErr == nil {
			logErr = err
		}
		if g.verbose != nil {
			g.verbose.Write(line)
		}
		if panicked == "" && bytes.Contains(line, []byte("Kernel panic - not syncing")) {
			panicked = cleanLine(line)
		}
		if up == 0 && bytes.Contains(line, []byte("txtrace-stage2:")) {
			up = time.Since(start)
		}
	}
	waitErr := cmd.Wait()
	if up == 0 {
		up = time.Since(start)
	}
	close(done)
	output.Wait()

	switch {
	case panicked != "":
		return up, &failure{"panic", panicked}
	case errors.Is(ctx.Err(), context.DeadlineExceeded):
		return up, &failure{"timeout", fmt.Sprintf("not done after %v: %s", g.limit, lastWords(g.console))}
	case ctx.Err() != nil:
		return up, ctx.Err()
	case waitErr != nil:
		return up, &failure{"boot", fmt.Sprintf("%v: %s", waitErr, strings.TrimSpace(stderr.String()))}
	}
	return up, logErr
}

// follow hands on what a growing file holds until done, and the rest.
func follow(path string, done <-chan struct{}, write func([]byte)) {
	f, err := os.Open(path)
	if err != nil {
		return
	}
	defer f.Close()
	buf := make([]byte, 64<<10)
	for last := false; ; {
		n, _ := f.Read(buf)
		if n > 0 {
			write(buf[:n])
			continue
		}
		if last {
			return
		}
		select {
		case <-done:
			last = true
		case <-time.After(50 * time.Millisecond):
		}
	}
}

// readSteps reads the lines that the guest's step function writes: exit
// code, seconds, name.
func readSteps(path string) ([]outcome.Step, error) {
	b, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	var steps []outcome.Step
	for line := range strings.Lines(string(b)) {
		var s outcome.Step
		if _, err := fmt.Sscan(line, &s.Exit, &s.Seconds, &s.Name); err != nil {
			return steps, fmt.Errorf("steps: %q: %w", line, err)
		}
		steps = append(steps, s)
	}
	return steps, nil
}

// splats begin the kernel's complaints about itself.
var splats = []string{"WARNING: ", "BUG: ", "INFO: task ", "rcu: INFO: ", "NETDEV WATCHDOG: ", "Oops: ", "Out of memory: "}

// complaints picks the kernel's own from a console log.
func complaints(path string) ([]string, error) {
	b, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	var found []string
	for line := range bytes.Lines(b) {
		text := cleanLine(line)
		// Kernel lines begin with their time: "[   12.345678] ".
		_, message, ok := strings.Cut(text, "] ")
		if ok && strings.HasPrefix(text, "[") && slices.ContainsFunc(splats, func(s string) bool { return strings.Contains(message, s) }) {
			found = append(found, message)
		}
	}
	return found, nil
}

// lastWords is what the first stage said, or the last line of a console.
func lastWords(path string) string {
	b, err := os.ReadFile(path)
	if err != nil {
		return err.Error()
	}
	for line := range bytes.Lines(b) {
		if said, ok := strings.CutPrefix(cleanLine(line), "txtrace-init: "); ok {
			return said
		}
	}
	b = bytes.TrimSpace(b)
	return "the console ends with: " + cleanLine(b[bytes.LastIndexByte(b, '\n')+1:])
}

// cleanLine drops what must not reach a terminal from a line of console.
func cleanLine(line []byte) string {
	return strings.Map(func(r rune) rune {
		if r < ' ' || r == 0x7f {
			return -1
		}
		return r
	}, string(bytes.TrimSpace(line)))
}
