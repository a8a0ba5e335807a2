// SPDX-License-Identifier: Apache-2.0

package report

import (
	"bytes"
	"encoding/json"
	"path/filepath"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/txtrace/txtrace/internal/analysis"
	"github.com/txtrace/txtrace/internal/capture"
)

// valid holds a document against the schema of its type.
func valid(t *testing.T, name string, doc any) error {
	t.Helper()
	var b bytes.Buffer
	if err := JSON(&b, doc); err != nil {
		t.Fatal(err)
	}
	if n := strings.Count(b.String(), "\n"); n != 1 || !strings.HasSuffix(b.String(), "\n") {
		t.Errorf("%s: %d lines, want one", name, n)
	}
	v, err := jsonschema.UnmarshalJSON(&b)
	if err != nil {
		t.Fatal(err)
	}
	s, err := jsonschema.NewCompiler().Compile(filepath.Join("schema", name+".json"))
	if err != nil {
		t.Fatal(err)
	}
	return s.Validate(v)
}

func TestSchema(t *testing.T) {
	emulated := sample()
	emulated.Header.Kernel.Emulated = true
	cut := sample()
	cut.Footer = nil
	large := sample()
	large.Queues[0].Batches.Bytes = 1<<53 + 1
	empty := &analysis.Result{Header: &capture.Header{}}
	for _, c := range []struct {
		what, schema string
		doc          any
	}{
		{"sample", "report", New(sample(), ByQueue)},
		{"by device", "report", New(sample(), ByDevice)},
		{"emulated", "report", New(emulated, ByQueue)},
		{"cut", "report", New(cut, ByQueue)},
		{"large", "report", New(large, ByQueue)},
		{"empty", "report", New(empty, ByQueue)},
		{"sample", "run", NewRun(sample(), ByQueue)},
		{"empty", "run", NewRun(empty, ByQueue)},
		{"sample", "verify", NewVerify(sample())},
		{"empty", "verify", NewVerify(empty)},
		{"sample", "rules", sampleRules(2)},
		{"none", "rules", NewRules(Registry{})},
		{"sample", "model", sampleModel()},
		{"ready", "doctor", sampleDoctor(true)},
		{"not ready", "doctor", sampleDoctor(false)},
	} {
		if err := valid(t, c.schema, c.doc); err != nil {
			t.Errorf("%s, %s: %v", c.schema, c.what, err)
		}
	}
}

// A schema that takes anything would hold nothing.
func TestSchemaRefuses(t *testing.T) {
	for _, c := range []struct{ schema, from, to string }{
		{"verify", `"type":"verify"`, `"type":"report"`},
		{"verify", `"verdict":"fail"`, `"verdict":"FAIL"`},
		{"verify", `"exit":1`, `"exit":2`},
		{"verify", `"exit":1`, `"exit":1,"more":1`},
		{"verify", `"says":`, `"say":`},
		{"verify", `"seq":4711`, `"seq":-1`},
	} {
		var b bytes.Buffer
		if err := JSON(&b, NewVerify(sample())); err != nil {
			t.Fatal(err)
		}
		bad := strings.ReplaceAll(b.String(), c.from, c.to)
		if bad == b.String() {
			t.Errorf("%s is not there", c.from)
			continue
		}
		if valid(t, c.schema, json.RawMessage(bad)) == nil {
			t.Errorf("%s: %s instead of %s is taken", c.schema, c.to, c.from)
		}
	}
}
