// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/txtrace/txtrace/internal/analysis"
	"github.com/txtrace/txtrace/internal/evidence"
)

// evidenceFolder makes the folder of --evidence, which must be new or empty: a
// capture that was there would be taken for one of this verdict.
func (t *tool) evidenceFolder(dir, file string) error {
	if file == "-" {
		return usage("--evidence", "impossible", "the capture is read twice, and stdin can be once", "name its file")
	}
	err := os.Mkdir(dir, 0o750)
	switch {
	case err == nil:
		return t.giveBackFolder(dir)
	case !errors.Is(err, fs.ErrExist):
		return noFolder(dir, err)
	}
	entries, err := os.ReadDir(dir)
	switch info, bad := os.Stat(dir); {
	case bad == nil && !info.IsDir():
		return usage(dir, "not written", "it is no folder", "name a new folder with --evidence")
	case err != nil:
		return noFolder(dir, err)
	case len(entries) > 0:
		return usage(dir, "not written", "the folder is not empty", "name a new folder with --evidence")
	}
	return nil
}

// noFolder is notWritten for a folder, which -o does not name.
func noFolder(dir string, err error) error {
	f := notWritten(dir, err)
	f.next = "name a new folder with --evidence"
	return f
}

func (t *tool) giveBackFolder(dir string) error {
	f, err := os.Open(dir)
	if err != nil {
		return noFolder(dir, err)
	}
	defer f.Close()
	return t.giveBack(f)
}

// writeEvidence writes a small capture for each rule that fails.
func (t *tool) writeEvidence(ctx context.Context, path, dir string, quiet bool, res *analysis.Result, opt analysis.Options) error {
	open := func() (analysis.Source, func() error, error) {
		r, file, err := openReader(ctx, t, path)
		if err != nil {
			return nil, nil, err
		}
		return r, file.Close, nil
	}
	found, missing, err := evidence.Find(open, &res.Verify, opt)
	if err != nil {
		return notRead(path, err)
	}
	for _, s := range found {
		var b bytes.Buffer
		if err := s.Write(&b); err != nil {
			return err
		}
		name := filepath.Join(dir, s.Rule+".txtrace")
		if err := t.writeWhole(name, b.Bytes()); err != nil {
			return notWritten(name, err)
		}
		if !quiet {
			t.say("%s: %d records show the fail of %s", name, s.Records, s.Rule)
		}
	}
	if len(found)+len(missing) == 0 && !quiet {
		t.say("%s: empty, for no rule failed", dir)
	}
	for _, id := range missing {
		if !quiet {
			t.say("%s: no small capture shows the fail of %s, which rests on more than single records", path, id)
		}
	}
	return nil
}
