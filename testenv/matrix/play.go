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
	"time"

	"github.com/txtrace/txtrace/internal/analysis"
	"github.com/txtrace/txtrace/internal/report"
	"github.com/txtrace/txtrace/testenv/internal/debian"
	"github.com/txtrace/txtrace/testenv/internal/outcome"
)

// player plays cells: each is a run of vm, in a folder of its own.
type player struct {
	vm, txtrace string
	wrapper     []string // words before vm's own
	out         string
	modules     string // of a kernel that is a path
	seconds     int
	seed        int
	boot        time.Duration // limit of a guest
	grace       time.Duration // and of what vm does beside
	patience    time.Duration // with a vm that is told to end
	fetchLimit  time.Duration

	resume  resume
	fetch   func(ctx context.Context, kernel string) (*source, error)
	sources *sources
}

// dir is a cell's folder. A kernel that is a path has its path in it, so that two
// of them do not share one.
func (p *player) dir(t planned) string {
	return filepath.Join(p.out, strings.Trim(strings.ReplaceAll(t.kernel, "/", "_"), "_.")+"-"+t.nic)
}

// play boots one cell and judges it. It comes back in bounded time whatever
// the mirror, the guest or vm do.
func (p *player) play(ctx context.Context, t planned) *cell {
	start := time.Now()
	c := &cell{V: 1, Type: "cell", Kernel: t.kernel, NIC: t.nic, Played: []string{}, Skipped: []string{},
		Verdicts: make(map[analysis.Verdict]int), Variants: []variant{}}
	src, err := p.source(ctx, t.kernel)
	switch {
	case errors.Is(err, debian.ErrNotFound):
		c.State, c.Reasons = skipped, []string{err.Error()}
		return c
	case err != nil:
		c.fail("kernel: %v", err)
		return c
	}
	dir := p.dir(t)
	c.Key = p.key(t, src)
	if old := p.takeOver(dir, c.Key); old != nil {
		return old
	}
	if err := errors.Join(os.RemoveAll(dir), os.MkdirAll(dir, 0o755)); err != nil {
		c.fail("%v", err)
		return c
	}
	code, says, err := p.run(ctx, dir, t)
	if err != nil {
		c.fail("vm: %v", err)
	}
	c.end(code, says, c.judge(dir, t.scenarios, src.expect))
	c.Seconds = time.Since(start).Round(time.Second).Seconds()
	if err := c.write(dir); err != nil {
		c.fail("%v", err)
	}
	return c
}

// end says how the cell ended. What judge found decides, but a vm that knows of
// another reason, or left nothing of some scenarios, is no success.
func (c *cell) end(code int, says string, missing []string) {
	switch code {
	case outcome.ExitSkip:
		if c.State == "" && len(c.Played) == 0 {
			c.State, c.Reasons = skipped, []string{says}
			return
		}
	case outcome.ExitInternal, outcome.ExitUsage:
		c.fail("%s", says)
	}
	if len(missing) > 0 {
		c.fail("no %s: %s", outcome.File, strings.Join(missing, " "))
	}
	switch {
	case c.State != "":
	case code == analysis.ExitOK, code == analysis.ExitInconclusive:
		c.State = ok
	default:
		c.fail("vm: exit code %d: %s", code, says)
	}
}

// run runs vm to its end, or to the deadline, and returns its exit code and its
// last word.
func (p *player) run(ctx context.Context, dir string, t planned) (code int, says string, err error) {
	limit := p.boot + p.grace
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	args := append(p.wrapper[:len(p.wrapper):len(p.wrapper)], p.vm,
		"-q", "-kernel", t.kernel, "-nic", t.nic, "-scenario", strings.Join(t.scenarios, ","),
		"-seconds", fmt.Sprint(p.seconds), "-seed", fmt.Sprint(p.seed), "-timeout", p.boot.String(),
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

// source is what is known of a kernel before it boots.
type source struct {
	expect map[string]string // variants, by switch
	digest string            // of what is booted
}

// sources remembers what came of fetching each kernel, so that a mirror that
// stalls costs its time once.
type sources struct {
	mu    sync.Mutex
	found map[string]*source
	errs  map[string]error
}

func newSources() *sources {
	return &sources{found: make(map[string]*source), errs: make(map[string]error)}
}

func (p *player) source(ctx context.Context, kernel string) (*source, error) {
	s := p.sources
	s.mu.Lock() // apt's private lists are for one at a time
	defer s.mu.Unlock()
	if src, err := s.found[kernel], s.errs[kernel]; src != nil || err != nil {
		return src, err
	}
	fetching, cancel := context.WithTimeout(ctx, p.fetchLimit)
	defer cancel()
	src, err := p.fetch(fetching, kernel)
	if err != nil && fetching.Err() != nil && ctx.Err() == nil {
		err = fmt.Errorf("not fetched within %v: %w", p.fetchLimit, err)
	}
	s.found[kernel], s.errs[kernel] = src, err
	return src, err
}
