// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/txtrace/txtrace/internal/capture"
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
		Dir:           filepath.Join("testdata", "script"),
		UpdateScripts: os.Getenv("UPDATE") != "",
		Setup: func(env *testscript.Env) error {
			dir, err := filepath.Abs(filepath.Join("..", "..", "internal", "report", "schema"))
			env.Setenv("SCHEMAS", dir)
			return err
		},
		Cmds: map[string]func(ts *testscript.TestScript, neg bool, args []string){
			"try":     try,
			"capture": writeCapture,
			"schema":  schema,
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

// writeCapture writes a traffic, whole or damaged: capture FILE NAME [DAMAGE]
func writeCapture(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: capture FILE NAME [cut|corrupt|newer|header|tables]")
	}
	t := traffics(args[1])
	damage := ""
	if len(args) > 2 {
		damage = args[2]
	}
	var b bytes.Buffer
	ts.Check(capture.Write(&b, &t.header, t.records, t.footer()))
	whole := b.Bytes()
	switch damage {
	case "cut":
		whole = whole[:bytes.LastIndex(whole, []byte("TxF\n"))]
	case "corrupt":
		whole[largestBlock(whole)+100] ^= 0xff
	case "newer":
		whole[8]++
	case "header":
		whole[30] ^= 0xff
	case "tables":
		// Another build's header, whole in itself: the sums are right.
		json := whole[24 : 24+binary.LittleEndian.Uint32(whole[12:])]
		copy(json[bytes.Index(json, []byte(`"name":"run"`)):], `"name":"ran"`)
		castagnoli := crc32.MakeTable(crc32.Castagnoli)
		binary.LittleEndian.PutUint32(whole[16:], crc32.Checksum(json, castagnoli))
		binary.LittleEndian.PutUint32(whole[20:], crc32.Checksum(whole[:20], castagnoli))
	}
	ts.Check(os.WriteFile(ts.MkAbs(args[0]), whole, 0o644))
}

// schema holds each line of a file against the schema of its type.
func schema(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: schema FILE")
	}
	for line := range strings.Lines(ts.ReadFile(args[0])) {
		doc, err := jsonschema.UnmarshalJSON(strings.NewReader(line))
		ts.Check(err)
		head, _ := doc.(map[string]any)
		s, err := jsonschema.NewCompiler().Compile(filepath.Join(schemas(ts), fmt.Sprintf("%v.json", head["type"])))
		ts.Check(err)
		ts.Check(s.Validate(doc))
	}
}

// schemas is the folder of the schemas. Scripts run in folders of their own.
func schemas(ts *testscript.TestScript) string { return ts.Getenv("SCHEMAS") }

// largestBlock is where the largest block of a capture begins.
func largestBlock(file []byte) int {
	mark := []byte("TxB\n")
	at, size := 0, 0
	for from := bytes.Index(file, mark); from >= 0; {
		length := bytes.Index(file[from+1:], mark)
		next := from + 1 + length
		if length < 0 {
			length, next = len(file)-from, -1
		}
		if length > size {
			at, size = from, length
		}
		from = next
	}
	return at
}
