// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
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

// emit prints a document to stdout or to the file that -o names. A file is
// written whole or not at all.
func (t *tool) emit(o *outputFlags, print func(io.Writer) error) error {
	var doc bytes.Buffer
	if err := print(&doc); err != nil {
		return err
	}
	if o.output == "" || o.output == "-" {
		if _, err := t.stdout.Write(doc.Bytes()); err != nil {
			return notWritten("stdout", err)
		}
		return nil
	}
	if err := mayWrite(o.output, o.force); err != nil {
		return err
	}
	if err := t.writeWhole(o.output, doc.Bytes()); err != nil {
		return notWritten(o.output, err)
	}
	return nil
}

// notOnto refuses an output that is the input: --force would destroy it.
func (o *outputFlags) notOnto(input string) error {
	in, err := os.Stat(input)
	if err != nil {
		return nil // reading it says what is wrong
	}
	if out, err := os.Stat(o.output); o.output != "" && err == nil && os.SameFile(in, out) && out.Mode().IsRegular() {
		return usage(o.output, "not written", "it is the capture that is read", "name another file with -o")
	}
	return nil
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

// writeWhole writes beside the file and renames. What is no ordinary file (a
// pipe, /dev/null) is written as it is, since a rename would replace it.
func (t *tool) writeWhole(path string, doc []byte) (err error) {
	if info, err := os.Stat(path); err == nil && !info.Mode().IsRegular() {
		return os.WriteFile(path, doc, fileMode)
	}
	f, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+".*")
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			os.Remove(f.Name())
		}
	}()
	_, err = f.Write(doc)
	err = errors.Join(err, f.Chmod(fileMode), t.giveBack(f), f.Close())
	if err != nil {
		return err
	}
	return os.Rename(f.Name(), path)
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
func notWritten(path string, err error) error {
	f := usage(path, "not written", reasonOf(err), "name another file with -o")
	switch {
	case errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT):
		f.code, f.cause, f.next = exitSkip, "the disk is full", "free space, or name a file on another disk with -o"
	case errors.Is(err, fs.ErrNotExist):
		f.cause = "its folder does not exist"
	}
	return f
}

// notRead words an error of opening or reading.
func notRead(path string, err error) error {
	f := usage(path, "not read", reasonOf(err), "check the name and its permissions")
	if errors.Is(err, fs.ErrNotExist) {
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
