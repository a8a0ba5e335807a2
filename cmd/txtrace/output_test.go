// SPDX-License-Identifier: Apache-2.0

package main

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

func testTool(env map[string]string) *tool {
	return &tool{stdin: strings.NewReader(""), stdout: io.Discard, stderr: io.Discard,
		getenv: func(k string) string { return env[k] }}
}

// What was there stays when the document cannot be made or written.
func TestWholeOrNotAtAll(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "file")
	if err := os.WriteFile(path, []byte("old"), 0o600); err != nil {
		t.Fatal(err)
	}
	o := &outputFlags{output: path, force: true}
	boom := errors.New("boom")
	err := testTool(nil).emit(o, func(w io.Writer) error {
		io.WriteString(w, "half")
		return boom
	})
	if !errors.Is(err, boom) {
		t.Errorf("error %v", err)
	}
	if b, _ := os.ReadFile(path); string(b) != "old" {
		t.Errorf("the file holds %q", b)
	}
	if err := testTool(nil).emit(o, func(w io.Writer) error { _, err := io.WriteString(w, "new"); return err }); err != nil {
		t.Fatal(err)
	}
	if b, _ := os.ReadFile(path); string(b) != "new" {
		t.Errorf("the file holds %q", b)
	}
	left, err := os.ReadDir(dir)
	if err != nil || len(left) != 1 {
		t.Errorf("%v, %v: want the file alone", left, err)
	}
}

// Under sudo a file belongs to who called it. Only root can try.
func TestGiveBack(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("changing an owner takes root")
	}
	path := filepath.Join(t.TempDir(), "file")
	if err := testTool(map[string]string{"SUDO_UID": "1234", "SUDO_GID": "4321"}).writeWhole(path, []byte("x")); err != nil {
		t.Fatal(err)
	}
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	st := info.Sys().(*syscall.Stat_t)
	if st.Uid != 1234 || st.Gid != 4321 || info.Mode().Perm() != fileMode {
		t.Errorf("owner %d:%d, mode %o", st.Uid, st.Gid, info.Mode().Perm())
	}
}

func TestFullDisk(t *testing.T) {
	err := notWritten("out", &os.PathError{Op: "write", Path: "out", Err: syscall.ENOSPC})
	var f *failure
	if !errors.As(err, &f) || f.code != exitSkip || f.cause != "the disk is full" {
		t.Errorf("%v", err)
	}
}

// Colour is for terminals, and for who asks for it.
func TestColoured(t *testing.T) {
	terminal, err := os.OpenFile("/dev/null", os.O_WRONLY, 0) // a character device, too
	if err != nil {
		t.Fatal(err)
	}
	defer terminal.Close()
	file, err := os.Create(filepath.Join(t.TempDir(), "file"))
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	for _, c := range []struct {
		stdout io.Writer
		flags  outputFlags
		env    map[string]string
		want   bool
	}{
		{terminal, outputFlags{color: "auto"}, nil, true},
		{terminal, outputFlags{color: "auto", output: "-"}, nil, true},
		{terminal, outputFlags{color: "auto", output: "x"}, nil, false},
		{terminal, outputFlags{color: "auto"}, map[string]string{"NO_COLOR": "1"}, false},
		{terminal, outputFlags{color: "auto"}, map[string]string{"NO_COLOR": ""}, true},
		{terminal, outputFlags{color: "auto"}, map[string]string{"TERM": "dumb"}, false},
		{terminal, outputFlags{color: "always"}, map[string]string{"NO_COLOR": "1"}, true},
		{terminal, outputFlags{color: "never"}, nil, false},
		{file, outputFlags{color: "auto"}, nil, false},
		{file, outputFlags{color: "always", output: "x"}, nil, true},
		{io.Discard, outputFlags{color: "auto"}, nil, false},
	} {
		tool := testTool(c.env)
		tool.stdout = c.stdout
		if got := tool.coloured(&c.flags); got != c.want {
			t.Errorf("%+v, %v: %v", c.flags, c.env, got)
		}
	}
}
