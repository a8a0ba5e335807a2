// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
)

func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){
		"txtrace": fakeMain,
	})
}

// fakeMain is main with a recorder that FAKE chooses.
func fakeMain() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop)
	t := &tool{
		stdin: os.Stdin, stdout: os.Stdout, stderr: os.Stderr,
		getenv: os.Getenv, recorder: fakes(os.Getenv("FAKE")),
	}
	os.Exit(t.main(ctx, os.Args[1:]))
}

// The scripts in testdata/script are the command line as users meet it. They
// need neither root nor a guest.
func TestScripts(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir:                 filepath.Join("testdata", "script"),
		UpdateScripts:       os.Getenv("UPDATE") != "",
		RequireExplicitExec: false,
		Cmds: map[string]func(ts *testscript.TestScript, neg bool, args []string){
			"try": try,
		},
	})
}

// try runs a command and adds it, what it said on stderr, and its exit code to
// the file "transcript", which a script compares with what it expects.
func try(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) == 0 {
		ts.Fatalf("usage: try COMMAND [ARGUMENT...]")
	}
	code := "0"
	var exit *exec.ExitError
	if err := ts.Exec(args[0], args[1:]...); errors.As(err, &exit) {
		code = strconv.Itoa(exit.ExitCode())
	} else if err != nil {
		ts.Fatalf("%v", err)
	}
	path := ts.MkAbs("transcript")
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o644)
	ts.Check(err)
	defer f.Close()
	_, err = fmt.Fprintf(f, "$ %s\n%s(%s)\n\n", strings.Join(args, " "), ts.ReadFile("stderr"), code)
	ts.Check(err)
}
