// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"

	"github.com/txtrace/txtrace/internal/report"
	"github.com/txtrace/txtrace/testenv/internal/outcome"
)

// boot is a run of vm: its exit code, its last word and, when it did not end by
// itself or could not be started, an error.
type boot struct {
	dir  string
	code int
	says string
	err  error
	done chan struct{}
}

// boots remembers them by what they are made with. Decision: two rows of the
// table that name the same image, as sid and the newest release do at times, are
// booted once, and each is held to its own variants.
type boots struct {
	mu   sync.Mutex
	made map[string]*boot
}

// took notes a boot of an earlier run.
func (p *player) took(with string, b *boot) {
	p.boots.mu.Lock()
	defer p.boots.mu.Unlock()
	if p.boots.made[with] == nil {
		p.boots.made[with] = b
		close(b.done)
	}
}

// boot runs vm in a folder, unless it ran or runs with the same elsewhere: then
// that one's end is waited for.
func (p *player) boot(ctx context.Context, dir, with string, t planned) (b *boot, mine bool) {
	p.boots.mu.Lock()
	b = p.boots.made[with]
	if b != nil {
		p.boots.mu.Unlock()
		<-b.done
		return b, false
	}
	b = &boot{dir: dir, done: make(chan struct{})}
	p.boots.made[with] = b
	p.boots.mu.Unlock()
	defer close(b.done)
	if b.err = errors.Join(os.RemoveAll(dir), os.MkdirAll(dir, 0o755)); b.err == nil {
		b.code, b.says, b.err = p.run(ctx, dir, t)
	}
	return b, true
}

// run runs vm to its end, or to the deadline.
func (p *player) run(ctx context.Context, dir string, t planned) (code int, says string, err error) {
	limit := p.limit + p.grace
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	args := append(p.wrapper[:len(p.wrapper):len(p.wrapper)], p.vm,
		"-q", "-kernel", t.kernel, "-nic", t.nic, "-scenario", strings.Join(t.scenarios, ","),
		"-seconds", fmt.Sprint(p.seconds), "-seed", fmt.Sprint(p.seed), "-timeout", p.limit.String(),
		"-txtrace", p.txtrace, "-out", dir)
	if p.modules != "" && strings.Contains(t.kernel, "/") {
		args = append(args, "-modules", p.modules)
	}
	cmd := exec.CommandContext(ctx, args[0], args[1:]...)
	var said bytes.Buffer
	cmd.Stdout, cmd.Stderr = &said, &said
	// A group of its own, so that nothing that it started is left.
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGTERM) }
	cmd.WaitDelay = p.patience
	if err := cmd.Start(); err != nil {
		return 0, "", err
	}
	err = cmd.Wait()
	syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL)
	text := bytes.TrimSpace(said.Bytes())
	says = report.Clean(string(text[bytes.LastIndexByte(text, '\n')+1:]))
	logErr := os.WriteFile(filepath.Join(dir, "vm.log"), said.Bytes(), 0o644)
	switch ee := (*exec.ExitError)(nil); {
	case errors.Is(ctx.Err(), context.DeadlineExceeded):
		return outcome.ExitSignal, says, fmt.Errorf("not done after %v; its last word: %s", limit, says)
	case ctx.Err() != nil:
		return outcome.ExitSignal, says, errors.New("interrupted")
	case errors.As(err, &ee) && ee.ExitCode() >= 0:
		return ee.ExitCode(), says, logErr
	}
	return cmd.ProcessState.ExitCode(), says, errors.Join(err, logErr)
}
