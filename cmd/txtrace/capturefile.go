// SPDX-License-Identifier: Apache-2.0

package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
)

// captureFile is the file that record writes while it grows. Nothing on disk
// changes before the first byte: a recording that cannot begin leaves an
// older capture where it was.
type captureFile struct {
	tool  *tool
	path  string // "-" is stdout
	force bool
	out   io.Writer
	file  *os.File // out, when it is ours to close
	bad   error    // the first error of writing to out
}

// name is how messages call it.
func (c *captureFile) name() string {
	if c.path == "-" {
		return stdoutName
	}
	return c.path
}

// old is where an older capture goes.
func (c *captureFile) old() string { return c.path + ".old" }

// openCapture refuses what cannot be written, as far as that can be seen
// without writing.
func openCapture(t *tool, path string, force bool) (*captureFile, error) {
	path = followed(path)
	c := &captureFile{tool: t, path: path, force: force}
	if path == "-" {
		c.out = t.stdout
		return c, nil
	}
	info, err := os.Stat(path)
	switch {
	case err == nil && info.Mode().IsRegular() && !force && !isCapture(path):
		return nil, usage(path, "not written", "the file exists and is no capture", "add --force to overwrite it, or name another with -o")
	case err == nil && info.IsDir():
		return nil, usage(path, "not written", "it is a folder", "name a file with -o")
	case err == nil && info.Mode().IsRegular() && isCapture(path) && !mayReplace(c.old()):
		return nil, usage(c.old(), "not replaced", "it is no capture, and the one that is there would be kept under its name", "move it away, or name another file with -o")
	}
	if _, err := os.Stat(filepath.Dir(path)); err != nil {
		return nil, notWritten(path, err)
	}
	return c, nil
}

func (c *captureFile) Write(p []byte) (int, error) {
	if c.out == nil {
		if err := c.create(); err != nil {
			return 0, notWritten(c.path, err)
		}
	}
	n, err := c.out.Write(p)
	if err != nil && c.bad == nil {
		c.bad = err
	}
	return n, err
}

// mayReplace says that an older capture is at path, or nothing.
func mayReplace(path string) bool {
	info, err := os.Stat(path)
	return err != nil || info.Mode().IsRegular() && isCapture(path)
}

// ended words what ended the recording: an error of writing.
func (c *captureFile) ended() *failure {
	f := notWritten(c.name(), c.bad)
	f.what = "recording ended early"
	if info, err := os.Stat(c.path); err == nil && info.Mode().IsRegular() {
		f.next = "txtrace verify " + c.path + " reads what is there; " + f.next
	}
	return f
}

// create makes the file. An older capture is kept under another name.
func (c *captureFile) create() error {
	flags := os.O_WRONLY | os.O_CREATE | os.O_EXCL
	info, err := os.Stat(c.path)
	switch {
	case err == nil && !info.Mode().IsRegular():
		flags = os.O_WRONLY // a pipe, /dev/null
	case err == nil && isCapture(c.path):
		if err := os.Rename(c.path, c.old()); err != nil {
			return err
		}
	case err == nil && c.force:
		if err := os.Remove(c.path); err != nil {
			return err
		}
	}
	f, err := os.OpenFile(c.path, flags, fileMode)
	if err != nil {
		return err
	}
	c.file, c.out = f, f
	if flags&os.O_CREATE == 0 {
		return nil
	}
	return c.tool.giveBack(f)
}

// Close says so when the path names another file by now, or none: what is read
// there would not be what was recorded.
func (c *captureFile) Close() error {
	if c.file == nil {
		return nil
	}
	mine, err := c.file.Stat()
	if at, _ := os.Stat(c.path); err == nil && mine.Mode().IsRegular() && !os.SameFile(mine, at) {
		c.file.Close()
		return usage(c.path, "not the recording that ended", "it was replaced, moved or removed meanwhile",
			"look for "+c.old()+", and name a file of its own for each recording with -o")
	}
	if err := c.file.Close(); err != nil && !errors.Is(err, os.ErrClosed) {
		return fmt.Errorf("close %s: %w", c.path, err)
	}
	return nil
}
