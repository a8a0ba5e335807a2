// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"syscall"
)

// fileMode of everything txtrace writes: captures tell much of a machine.
const fileMode = 0o640

// stdoutName is how messages call it.
const stdoutName = "stdout"

// emit prints a document to stdout or to the file that -o names. Nothing is
// written of one that cannot be printed to its end.
func (t *tool) emit(o *outputFlags, print func(io.Writer) error) error {
	var doc bytes.Buffer
	if err := print(&doc); err != nil {
		return err
	}
	return t.stream(o, func(w io.Writer) error {
		_, err := w.Write(doc.Bytes())
		return err
	})
}

// stream is emit for what is too much to hold: it is written as it comes. A file
// is written whole or not at all.
func (t *tool) stream(o *outputFlags, print func(io.Writer) error) error {
	if o.output == "" || o.output == "-" {
		return notPrinted(stdoutName, print(t.stdout))
	}
	if err := mayWrite(o.output, o.force); err != nil {
		return err
	}
	return notPrinted(o.output, t.replace(o.output, print))
}

// notPrinted is notWritten, unless err is a failure of its own: of what was to be
// printed.
func notPrinted(path string, err error) error {
	var f *failure
	if err == nil || errors.As(err, &f) {
		return err
	}
	return notWritten(path, err)
}

// folder has a new folder written, or an empty one: beside it and then renamed.
func (t *tool) folder(o *outputFlags, write func(dir string) error) error {
	next := "name a new folder with -o"
	if o.output == "" || o.output == "-" {
		return usage("--format "+o.format, "no folder", "it writes several files", next)
	}
	path := filepath.Clean(o.output)
	if entries, err := os.ReadDir(path); err == nil && len(entries) > 0 {
		return usage(o.output, "not written", "the folder is not empty", next)
	} else if info, bad := os.Stat(path); bad == nil && !info.IsDir() {
		return usage(o.output, "not written", "it is no folder", next)
	}
	dir, err := os.MkdirTemp(filepath.Dir(path), "."+filepath.Base(path)+".*")
	if err != nil {
		return notWritten(o.output, err)
	}
	defer os.RemoveAll(dir) // in vain once it has its name
	err = write(dir)
	if err == nil {
		err = errors.Join(os.Chmod(dir, 0o750), t.giveBackFolder(dir))
	}
	if err == nil {
		err = os.Rename(dir, path)
	}
	return notPrinted(o.output, err)
}

// show prints text to stdout.
func (t *tool) show(print func(io.Writer) error) error { return t.emit(&outputFlags{}, print) }

// notOnto refuses an output that is also what a verb reads, or writes for
// another purpose: one of the two would be lost.
func (o *outputFlags) notOnto(path, what string) error {
	if path == "-" {
		path = "/proc/self/fd/0"
	}
	if o.output != "" && o.output != "-" && path != "" && samePlace(o.output, path) {
		return usage(o.output, "not written", "it is "+what, "name another file with -o")
	}
	return nil
}

// samePlace says that two paths name one ordinary file, or would.
func samePlace(a, b string) bool {
	x, err1 := os.Stat(a)
	y, err2 := os.Stat(b)
	if err1 == nil && err2 == nil {
		return os.SameFile(x, y) && x.Mode().IsRegular()
	}
	if err1 == nil || err2 == nil {
		return false
	}
	a, err1 = filepath.Abs(a)
	b, err2 = filepath.Abs(b)
	return err1 == nil && err2 == nil && a == b
}

// mayWrite refuses to overwrite a file.
func mayWrite(path string, force bool) error {
	info, err := os.Stat(path)
	switch {
	case err == nil && info.IsDir():
		return usage(path, "not written", "it is a folder", "name a file with -o")
	case err == nil && info.Mode().IsRegular() && !force:
		return usage(path, "not written", "the file exists", "add --force to overwrite it, or name another with -o")
	}
	return nil
}

// writeWhole writes a file whole or not at all.
func (t *tool) writeWhole(path string, doc []byte) error {
	return t.replace(path, func(w io.Writer) error {
		_, err := w.Write(doc)
		return err
	})
}

// replace prints beside the file and renames. What is no ordinary file (a pipe,
// /dev/null) is written as it is, since a rename would replace it.
func (t *tool) replace(path string, print func(io.Writer) error) error {
	path = followed(path)
	if info, err := os.Stat(path); err == nil && !info.Mode().IsRegular() {
		f, err := os.OpenFile(path, os.O_WRONLY|os.O_TRUNC, 0)
		if err != nil {
			return err
		}
		return errors.Join(print(f), f.Close())
	}
	f, err := createBeside(path)
	if err != nil {
		return err
	}
	defer os.Remove(f.Name()) // in vain once it has its name
	if err := print(f); err != nil {
		f.Close()
		return err
	}
	if err := t.finish(f); err != nil {
		return err
	}
	return os.Rename(f.Name(), path)
}

// createBeside makes the file that is to replace the one at path.
func createBeside(path string) (*os.File, error) {
	return os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+".*")
}

// finish closes such a file, ready to be renamed.
func (t *tool) finish(f *os.File) error {
	return errors.Join(f.Chmod(fileMode), t.giveBack(f), f.Close())
}

// followed is the file at the end of the symbolic links that path may be, for
// that one, not a link, to be replaced: /dev/stdout is a link.
func followed(path string) string {
	if end, err := filepath.EvalSymlinks(path); err == nil {
		return end
	}
	return path
}

// giveBack makes a file made under sudo belong to who called sudo.
func (t *tool) giveBack(f *os.File) error {
	if os.Geteuid() != 0 {
		return nil
	}
	uid, err1 := strconv.Atoi(t.getenv("SUDO_UID"))
	gid, err2 := strconv.Atoi(t.getenv("SUDO_GID"))
	if err1 != nil || err2 != nil {
		return nil
	}
	return f.Chown(uid, gid)
}

// notWritten words an error of writing.
func notWritten(path string, err error) *failure {
	f := usage(path, "not written", reasonOf(err), "name another file with -o")
	if path == stdoutName {
		f.next = "name a file with -o"
	}
	switch {
	case errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT):
		f.code, f.cause, f.next = exitSkip, "the disk is full", "free space, or name a file on another disk with -o"
	case errors.Is(err, syscall.EFBIG):
		f.code, f.cause, f.next = exitSkip, "a file may not grow that large", "raise the limit (ulimit -f)"
	case errors.Is(err, syscall.EPIPE):
		f.code, f.cause = exitSkip, "who read it is gone"
	case errors.Is(err, fs.ErrNotExist):
		f.cause = "its folder does not exist"
		if _, err := os.Stat(filepath.Dir(path)); err == nil {
			f.cause = "its folder takes no files"
		}
	}
	return f
}

// notRead words an error of opening or reading.
func notRead(path string, err error) *failure {
	f := usage(path, "not read", reasonOf(err), "check the name and its permissions")
	switch {
	case errors.Is(err, context.Canceled):
		f.code, f.what, f.cause, f.next = exitSkip, "not read to its end", "interrupted", "run it again"
	case errors.Is(err, syscall.EIO):
		f.code, f.next = exitSkip, "copy it again from where it came"
	case errors.Is(err, fs.ErrNotExist):
		f.cause, f.next = "no such file", "check the name (record makes "+captureDefault+" by default)"
	}
	return f
}

// reasonOf is the system's own word for an error, without the call and path.
func reasonOf(err error) string {
	var path *fs.PathError
	var link *os.LinkError
	switch {
	case errors.As(err, &path):
		return path.Err.Error()
	case errors.As(err, &link):
		return link.Err.Error()
	}
	return err.Error()
}
