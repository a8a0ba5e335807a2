// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/txtrace/txtrace/internal/capture"
	"github.com/txtrace/txtrace/internal/event"
)

func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){
		"txtrace": fakeMain,
	})
}

// fakeMain is main with a recorder that FAKE chooses.
func fakeMain() {
	t := &tool{
		stdin: os.Stdin, stdout: os.Stdout, stderr: os.Stderr,
		getenv: os.Getenv, recorder: fakes(os.Getenv("FAKE")),
	}
	os.Exit(t.main(untilSignal(context.Background()), os.Args[1:]))
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
	for i, a := range args {
		if strings.TrimSpace(a) == "" {
			args[i] = strconv.Quote(a)
		}
	}
	_, err = fmt.Fprintf(f, "$ %s\n%s(%s)\n\n", strings.Join(args, " "), ts.ReadFile("stderr"), code)
	ts.Check(err)
}

// writeCapture writes a traffic, whole or damaged: capture FILE NAME [DAMAGE]
func writeCapture(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: capture FILE NAME [cut|corrupt|newer|header|tables|members]")
	}
	t := traffics(args[1])
	damage := ""
	if len(args) > 2 {
		damage = args[2]
	}
	foot := t.footer()
	if damage == "cut" {
		foot = nil
	}
	var b bytes.Buffer
	ts.Check(capture.Write(&b, &t.header, t.records, foot))
	whole := b.Bytes()
	switch damage {
	case "corrupt":
		corrupt(ts, whole)
	case "newer":
		whole[8]++
	case "header":
		whole[30] ^= 0xff
	case "tables":
		t.header.Tables = event.Tables()
		t.header.Tables[0].Fields[0].Name = "another"
		whole = headOf(ts, &t.header)
	case "members":
		whole = headOf(ts, struct{}{})
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

// corrupt changes one byte of a capture, so that a block of many records is
// lost and nothing else.
func corrupt(ts *testscript.TestScript, whole []byte) {
	for i := len(whole) - 1; i > 0; i-- {
		whole[i] ^= 0xff
		if r, err := capture.Open(bytes.NewReader(whole)); err == nil {
			for err == nil {
				_, err = r.Next()
			}
			if r.Stats().Corrupt == 1 && r.Cut() == nil && r.Stats().Gaps > 10 {
				return
			}
		}
		whole[i] ^= 0xff
	}
	ts.Fatalf("no byte corrupts a block")
}

// headOf is a capture up to its first block, with a header that this build
// would not write.
func headOf(ts *testscript.TestScript, h any) []byte {
	stored, err := json.Marshal(h)
	ts.Check(err)
	castagnoli := crc32.MakeTable(crc32.Castagnoli)
	file := []byte("\x89TXTRC\r\n\x01\x00\x00\x00")
	for _, n := range []uint32{uint32(len(stored)), uint32(len(stored)), crc32.Checksum(stored, castagnoli)} {
		file = binary.LittleEndian.AppendUint32(file, n)
	}
	file = binary.LittleEndian.AppendUint32(file, crc32.Checksum(file, castagnoli))
	return append(file, stored...)
}
