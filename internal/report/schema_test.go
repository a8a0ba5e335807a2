// SPDX-License-Identifier: Apache-2.0

package report

import (
	"bytes"
	"encoding/json"
	"errors"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/santhosh-tekuri/jsonschema/v6/kind"

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
		{"sample", "compare", sampleComparison(false)},
		{"hostile", "compare", sampleComparison(true)},
		{"ready", "doctor", sampleDoctor(true)},
		{"not ready", "doctor", sampleDoctor(false)},
	} {
		if err := valid(t, c.schema, c.doc); err != nil {
			t.Errorf("%s, %s: %v", c.schema, c.what, err)
		}
	}
}

// A document has no field that its schema does not know, whether the sample
// has it or not.
func TestSchemaKnowsEveryField(t *testing.T) {
	for name, doc := range map[string]any{
		"report": New(sample(), ByQueue),
		"run":    NewRun(sample(), ByQueue),
		"verify": NewVerify(sample()),
		"rules":  sampleRules(2),
		"model":  sampleModel(),
		"doctor": sampleDoctor(false),

		"compare": sampleComparison(false),
	} {
		fill(reflect.ValueOf(doc))
		for _, more := range unlisted(valid(t, name, doc)) {
			t.Errorf("%s: %s", name, more)
		}
	}
	k := sampleDoctor(true)
	fill(reflect.ValueOf(k))
	if k.Kernel.PossibleCPUs == 0 || !k.Kernel.Emulated || len(k.Facts[0].Disables) == 0 {
		t.Errorf("fields are not filled: %+v", k)
	}
}

// fill sets each field that is zero to something. What a word may be is not
// looked at: only unknown fields of these documents count.
func fill(v reflect.Value) {
	switch v.Kind() {
	case reflect.Pointer:
		if v.IsNil() {
			v.Set(reflect.New(v.Type().Elem()))
		}
		fill(v.Elem())
	case reflect.Struct:
		for i := range v.NumField() {
			if v.Type().Field(i).IsExported() {
				fill(v.Field(i))
			}
		}
	case reflect.Slice:
		if v.Len() == 0 {
			v.Set(reflect.MakeSlice(v.Type(), 1, 1))
		}
		for i := range v.Len() {
			fill(v.Index(i))
		}
	case reflect.Map:
		if v.Len() == 0 {
			v.Set(reflect.MakeMap(v.Type()))
			key, value := reflect.New(v.Type().Key()).Elem(), reflect.New(v.Type().Elem()).Elem()
			fill(key)
			fill(value)
			v.SetMapIndex(key, value)
		}
	case reflect.String:
		if v.Len() == 0 {
			v.SetString("x")
		}
	case reflect.Bool:
		v.SetBool(true)
	default:
		if v.IsZero() && v.CanInt() {
			v.SetInt(1)
		} else if v.IsZero() && v.CanUint() {
			v.SetUint(1)
		} else if v.IsZero() && v.CanFloat() {
			v.SetFloat(1)
		}
	}
}

// unlisted is what a schema's refusal says of fields that it does not know.
func unlisted(err error) []string {
	var refused *jsonschema.ValidationError
	if !errors.As(err, &refused) {
		return nil
	}
	var said []string
	if more, ok := refused.ErrorKind.(*kind.AdditionalProperties); ok {
		said = append(said, strings.Join(refused.InstanceLocation, ".")+": not in the schema: "+strings.Join(more.Properties, ", "))
	}
	for _, cause := range refused.Causes {
		said = append(said, unlisted(cause)...)
	}
	return said
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
