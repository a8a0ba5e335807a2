// SPDX-License-Identifier: Apache-2.0

// Matrix boots every kernel of testenv/kernels with every NIC, plays scenarios
// in each, and holds all captures to their rules and to the variants that the
// table of kernels names. It is `make matrix`.
//
//	go run ./testenv/matrix -out out/matrix
//
// A cell is one boot of bin/vm with one NIC. Its folder OUT/KERNEL-NIC gets
// what vm leaves, vm.log, and cell.json. Cells are printed as they end, then a
// summary. A cell fails when a rule fails in one of its captures, a capture
// cannot be read or is cut, a load did not run, the guest did not end as it
// should, or a variant is found that is not the expected one; what a kernel
// complains of and what is suspect are listed. A kernel or package that cannot
// be had is skipped. The exit code is 1 when a cell failed, 4 when all were
// skipped, else 0.
//
// Decision: a variant that is undecided in a capture is left open there; what
// all captures of a cell leave must hold the expected one, and must be it alone
// where a load that proves it was played and met what it needs: bulk on drivers
// with BQL, requeue where a veth refused, and tsq-limit by flows that fq paces.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/txtrace/txtrace/testenv/internal/debian"
	"github.com/txtrace/txtrace/testenv/internal/outcome"
)

const exitFail = 1

type options struct {
	kernels, nics, scenarios []string
	jobs                     int
	format                   string
	player                   *player
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	code, err := run(ctx, os.Args[1:], os.Stdout)
	stop()
	if err != nil {
		fmt.Fprintf(os.Stderr, "matrix: %v\n", err)
	}
	os.Exit(code)
}

func parse(args []string) (*options, error) {
	p := new(player)
	o := options{player: p}
	fs := flag.NewFlagSet("matrix", flag.ContinueOnError)
	list := func(to *[]string, name, usage string) {
		fs.Func(name, usage+", with commas or spaces", func(s string) error {
			*to = words(s)
			return nil
		})
	}
	list(&o.kernels, "kernels", "rows of testenv/kernels, or paths of bzImages (default all rows)")
	list(&o.nics, "nics", "NICs of vm (default those of the plan)")
	list(&o.scenarios, "scenarios", "of every cell (default those of the plan, by NIC)")
	list(&p.wrapper, "wrapper", "words to put before each call of vm")
	fs.StringVar(&p.modules, "modules", "", "lib/modules/<version> of a kernel that is a path")
	fs.StringVar(&p.out, "out", "out/matrix", "folder for the cells")
	fs.StringVar(&p.vm, "vm", "bin/vm", "what boots a guest")
	fs.StringVar(&p.txtrace, "txtrace", "bin/txtrace", "the txtrace that records and verifies")
	fs.StringVar(&o.format, "format", "text", "of the summary: text, tap or junit; then cells are printed to stderr as they end")
	fs.IntVar(&p.seconds, "seconds", 2, "how long each load lasts")
	fs.IntVar(&p.seed, "seed", 1, "of the loads")
	fs.IntVar(&o.jobs, "jobs", 2, "guests at once")
	fs.DurationVar(&p.limit, "limit", 12*time.Minute, "of one guest")
	fs.DurationVar(&p.grace, "grace", 4*time.Minute, "of what is done for a cell besides")
	fs.DurationVar(&p.fetchLimit, "fetch-limit", 5*time.Minute, "of fetching one kernel")
	fs.StringVar(&p.resume.what, "resume", "", "take over cells of an earlier run of the same programs: 1 for those that ended well, all for all that ended")
	fs.SetOutput(io.Discard)
	if err := fs.Parse(args); errors.Is(err, flag.ErrHelp) {
		fs.SetOutput(os.Stdout)
		fs.PrintDefaults()
		return nil, err
	} else if err != nil {
		return nil, err
	}
	switch {
	case fs.NArg() > 0:
		return nil, fmt.Errorf("%s: not a flag", fs.Arg(0))
	case !slices.Contains([]string{"text", "tap", "junit"}, o.format):
		return nil, fmt.Errorf("-format %s: it is text, tap or junit", o.format)
	case !slices.Contains([]string{"", "1", "all"}, p.resume.what):
		return nil, fmt.Errorf("-resume %s: it is 1 or all", p.resume.what)
	case o.jobs < 1:
		return nil, errors.New("-jobs: at least 1")
	}
	for _, path := range []*string{&p.out, &p.vm, &p.txtrace} {
		abs, err := filepath.Abs(*path)
		if err != nil {
			return nil, err
		}
		*path = abs
	}
	rows, err := debian.Rows()
	if err != nil {
		return nil, err
	}
	if len(o.kernels) == 0 {
		for _, r := range rows {
			o.kernels = append(o.kernels, r.Name)
		}
	}
	for _, k := range o.kernels {
		if _, err := debian.Find(rows, k); err != nil && !strings.Contains(k, "/") {
			return nil, err
		}
	}
	p.patience, p.fetch = 15*time.Second, fetch
	p.ready()
	return &o, nil
}

func run(ctx context.Context, args []string, stdout io.Writer) (int, error) {
	o, err := parse(args)
	if errors.Is(err, flag.ErrHelp) {
		return 0, nil
	}
	if err != nil {
		return outcome.ExitUsage, err
	}
	if err := o.player.resume.know(o.player.vm, o.player.txtrace); err != nil {
		return outcome.ExitUsage, err
	}
	start := time.Now()
	ends := stdout
	if o.format != "text" {
		ends = os.Stderr
	}
	cells := o.play(ctx, ends)
	rows := rowsOf(cells)
	switch o.format {
	case "tap":
		err = suite(cells, rows).TAP(stdout, "cell")
	case "junit":
		err = suite(cells, rows).JUnit(stdout, "cell")
	default:
		printSummary(stdout, cells, rows, time.Since(start))
	}
	if ctx.Err() != nil {
		return outcome.ExitSignal, errors.New("interrupted; -resume 1 goes on")
	}
	return exitCode(cells, rows), err
}

// play plays the cells of the plan, prints each as it ends, and returns those
// that ended, in the order of the plan.
func (o *options) play(ctx context.Context, stdout io.Writer) []*cell {
	todo := plan(o.kernels, o.nics, o.scenarios)
	next, ended := make(chan planned), make(chan *cell)
	var workers sync.WaitGroup
	for range o.jobs {
		workers.Go(func() {
			for t := range next {
				ended <- o.player.play(ctx, t)
			}
		})
	}
	go func() {
		for _, t := range todo {
			select {
			case next <- t:
			case <-ctx.Done():
			}
		}
		close(next)
		workers.Wait()
		close(ended)
	}()
	var cells []*cell
	for c := range ended {
		if ctx.Err() == nil {
			printCell(stdout, c)
			cells = append(cells, c)
		}
	}
	place := func(c *cell) int {
		return slices.IndexFunc(todo, func(t planned) bool { return t.kernel == c.Kernel && t.nic == c.NIC })
	}
	slices.SortFunc(cells, func(a, b *cell) int { return place(a) - place(b) })
	return cells
}

func exitCode(cells []*cell, rows []*row) int {
	if slices.ContainsFunc(rows, func(r *row) bool { return len(r.contradictions) > 0 }) {
		return exitFail
	}
	code := outcome.ExitSkip
	for _, c := range cells {
		switch c.State {
		case failed:
			return exitFail
		case ok:
			code = 0
		}
	}
	return code
}

// fetch finds a kernel, in the cache or by apt.
func fetch(ctx context.Context, kernel string) (*source, error) {
	if strings.Contains(kernel, "/") {
		sum, err := digest(kernel)
		return &source{digest: sum}, err
	}
	row, cache, err := debian.FindRow(kernel)
	if err != nil {
		return nil, err
	}
	k, err := debian.Fetch(ctx, cache, row, logf)
	if err != nil {
		return nil, err
	}
	sum, err := digest(k.Image)
	return &source{row.Variants, sum}, err
}

func logf(format string, args ...any) { fmt.Fprintf(os.Stderr, "matrix: "+format+"\n", args...) }
