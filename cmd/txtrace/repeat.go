// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"

	"github.com/spf13/pflag"

	"github.com/txtrace/txtrace/internal/comparison"
	"github.com/txtrace/txtrace/internal/report"
)

// repeatFlags make run compare two ways to set a machine up.
type repeatFlags struct {
	runs   count
	setups []string
}

func (f *repeatFlags) add(fs *pflag.FlagSet) {
	fs.Var(&f.runs, "repeat", "`NUMBER` of runs of A and B, into folder -o")
	fs.StringArrayVar(&f.setups, "setup", nil, "for sh, before runs of A or B: `A=COMMAND`")
}

// count is how often something is done, above 0 when it is given.
type count int

func (c *count) String() string { return strconv.Itoa(int(*c)) }

func (c *count) Type() string { return "NUMBER" }

func (c *count) Set(text string) error {
	n, err := strconv.ParseInt(text, 10, 32)
	if err != nil || n < 1 || n > 1000 {
		return errors.New("a number of runs is from 1 to 1000")
	}
	*c = count(n)
	return nil
}

// sets are the names of the two, in the order of the first runs.
var sets = [2]string{"A", "B"}

// commands are the setups by set.
func (f *repeatFlags) commands() (map[string]string, error) {
	setups := map[string]string{}
	for _, text := range f.setups {
		name, command, _ := strings.Cut(text, "=")
		if name != sets[0] && name != sets[1] || strings.TrimSpace(command) == "" || setups[name] != "" {
			return nil, usage("--setup", fmt.Sprintf("%q is refused", text), "there is one for set A and one for set B", "write them as --setup 'A=COMMAND' --setup 'B=COMMAND'")
		}
		setups[name] = command
	}
	if len(setups) != len(sets) {
		return nil, usage("--setup", "missing", "it is what A and B differ in, and each undoes the other", "give --setup 'A=COMMAND' --setup 'B=COMMAND'")
	}
	return setups, nil
}

// turn is one run.
type turn struct {
	set string
	n   int
}

// turns are A1 B1 B2 A2 A3 B3 and so on: what drifts meanwhile is in both.
func turns(runs int) (all []turn) {
	for n := 1; n <= runs; n++ {
		first := (n - 1) % 2
		all = append(all, turn{sets[first], n}, turn{sets[1-first], n})
	}
	return all
}

// path of a turn's capture.
func (u turn) path(dir string) string {
	return filepath.Join(dir, fmt.Sprintf("%s%d.txtrace", u.set, u.n))
}

// repeat records a command in turns, each after the setup of its set, and
// compares.
//
// Decision: the load's own output goes to stderr, of all runs: stdout is the
// comparison. A setup or a run that fails ends all, since a set with a hole is
// no set; what was recorded stays.
func (t *tool) repeat(ctx context.Context, r *recording, f *repeatFlags, text textFlags, command []string) error {
	setups, err := f.commands()
	if err != nil {
		return err
	}
	if r.readyFile != "" {
		return usage("--ready-file", "refused", "of several recordings none is the one that is waited for", "leave it out with --repeat")
	}
	dir := r.output
	all := turns(int(f.runs))
	if err := t.makeFolder(dir, r.force); err != nil {
		return err
	}
	for i, u := range all {
		one := *r
		one.output, one.setup = u.path(dir), setups[u.set]
		err := t.setUp(ctx, u.set, one.setup)
		var rec *result
		if err == nil && ctx.Err() == nil {
			rec, err = one.record(ctx, t, command, t.stderr)
		}
		switch {
		case ctx.Err() != nil:
			return &failure{exitInconclusive, dir, fmt.Sprintf("%d of %d runs recorded", i, len(all)), "interrupted",
				"start again with --force, or compare what is there", nil}
		case err != nil:
			return err
		case rec.childFailed():
			return childStatus(rec)
		}
		if !r.quiet {
			t.say("%s: %d records lost; run %d of %d", one.output, lost(rec.footer), i+1, len(all))
		}
	}
	var paths [2][]string
	for n := 1; n <= int(f.runs); n++ {
		for i, set := range sets {
			paths[i] = append(paths[i], turn{set, n}.path(dir))
		}
	}
	doc, err := t.compare(ctx, paths[0], paths[1], comparison.Options{Ifnames: r.ifnames})
	if err != nil {
		return err
	}
	stdout := outputFlags{color: r.color, format: r.format, verbose: r.verbose}
	return t.emit(&stdout, stdout.document(doc, func(w io.Writer) error { return report.Compare(w, stdout.text(t, text), doc) }))
}

// makeFolder makes the folder of the captures, and refuses one that has some.
func (t *tool) makeFolder(dir string, force bool) error {
	info, err := os.Stat(dir)
	if err == nil && !info.IsDir() {
		return usage(dir, "not a folder", "--repeat writes several captures", "name a folder with -o")
	}
	if err == nil {
		for _, set := range sets {
			old, _ := filepath.Glob(filepath.Join(dir, set+"[0-9]*.txtrace"))
			if len(old) > 0 && !force {
				return usage(old[0], "not written", "the folder holds runs", "add --force to replace them, or name another folder with -o")
			}
		}
		return nil
	}
	if err := os.Mkdir(dir, 0o750); err != nil {
		return notWritten(dir, err)
	}
	f, err := os.Open(dir)
	if err != nil {
		return notWritten(dir, err)
	}
	return errors.Join(t.giveBack(f), f.Close())
}

// setUp runs the setup of a set.
func (t *tool) setUp(ctx context.Context, set, command string) error {
	cmd := exec.CommandContext(ctx, "sh", "-c", command)
	cmd.Stdout, cmd.Stderr = t.stderr, t.stderr
	cmd.Cancel = func() error { return cmd.Process.Signal(syscall.SIGTERM) }
	cmd.WaitDelay = childGrace
	if err := cmd.Run(); err != nil {
		return &failure{exitChild, "--setup " + set, reasonOf(err), "the setup failed, and nothing was recorded after it", "run it alone to see why", err}
	}
	return nil
}
