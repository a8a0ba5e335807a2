// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/txtrace/txtrace/internal/analysis"
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
	limit       time.Duration // of a guest
	grace       time.Duration // and of what vm does beside
	patience    time.Duration // with a vm that is told to end
	fetchLimit  time.Duration

	resume  resume
	fetch   func(ctx context.Context, kernel string) (*source, error)
	sources sources
	boots   boots
}

// ready readies a player whose fields are set.
func (p *player) ready() *player {
	p.sources.found, p.sources.errs = make(map[string]*source), make(map[string]error)
	p.boots.made = make(map[string]*boot)
	return p
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
	c.Expect = src.expect
	c.Key = p.key(t, src)
	if old := p.takeOver(dir, c.Key); old != nil {
		c.tookOver, c.Exit, c.Says, c.Seconds = true, old.Exit, old.Says, old.Seconds
		c.end(c.judge(dir, t.scenarios))
		p.took(p.with(t, src), &boot{dir: dir, code: old.Exit, says: old.Says, done: make(chan struct{})})
		return c
	}
	b, mine := p.boot(ctx, dir, p.with(t, src), t)
	if !mine {
		c.As = filepath.Base(b.dir)
		if err := errors.Join(os.RemoveAll(dir), os.MkdirAll(dir, 0o755)); err != nil {
			c.fail("%v", err)
		}
	}
	if b.err != nil {
		c.fail("vm: %v", b.err)
	}
	c.Exit, c.Says = b.code, b.says
	c.end(c.judge(b.dir, t.scenarios))
	c.Seconds = time.Since(start).Round(time.Second).Seconds()
	if ctx.Err() != nil {
		return c // it did not end
	}
	if err := c.write(dir); err != nil {
		c.fail("%v", err)
	}
	return c
}

// end says how the cell ended. What judge found decides, but a vm that knows of
// another reason, or left nothing of some scenarios, is no success.
func (c *cell) end(missing []string) {
	switch c.Exit {
	case outcome.ExitSkip:
		if c.State == "" && len(c.Played) == 0 {
			c.State, c.Reasons = skipped, []string{c.Says}
			return
		}
	case outcome.ExitInternal, outcome.ExitUsage:
		c.fail("%s", c.Says)
	}
	if len(missing) > 0 {
		c.fail("no %s: %s", outcome.File, strings.Join(missing, " "))
	}
	switch {
	case c.State != "":
	case c.Exit == analysis.ExitOK, c.Exit == analysis.ExitInconclusive:
		c.State = ok
	default:
		c.fail("vm: exit code %d: %s", c.Exit, c.Says)
	}
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

func (p *player) source(ctx context.Context, kernel string) (*source, error) {
	s := &p.sources
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
