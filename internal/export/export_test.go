// SPDX-License-Identifier: Apache-2.0

package export

import (
	"bytes"
	"encoding/json"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/parquet-go/parquet-go"
	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/txtrace/txtrace/internal/capture"
	"github.com/txtrace/txtrace/internal/event"
)

const schemaFile = "schema/export.json"

// lines exports records, and returns each line as it is read elsewhere.
func lines(t *testing.T, records []event.Any, foot *capture.Footer, schema *jsonschema.Schema) []map[string]any {
	t.Helper()
	var file, out bytes.Buffer
	h := &capture.Header{Tool: "test", Kernel: capture.Kernel{Release: "6.1 </script>"}, Clock: capture.Clock{Monotonic: 1}}
	if err := capture.Write(&file, h, records, foot); err != nil {
		t.Fatal(err)
	}
	in, err := capture.Open(&file)
	if err != nil {
		t.Fatal(err)
	}
	if err := Lines(&out, in); err != nil {
		t.Fatal(err)
	}
	var all []map[string]any
	for line := range strings.Lines(out.String()) {
		doc, err := jsonschema.UnmarshalJSON(strings.NewReader(line))
		if err != nil {
			t.Fatalf("%v: %s", err, line)
		}
		if err := schema.Validate(doc); err != nil {
			t.Fatalf("%v: %s", err, line)
		}
		all = append(all, doc.(map[string]any))
	}
	return all
}

func compiled(t *testing.T) *jsonschema.Schema {
	t.Helper()
	s, err := jsonschema.NewCompiler().Compile(schemaFile)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// The published schema is that of this build's records.
func TestSchema(t *testing.T) {
	var b bytes.Buffer
	if err := Schema(&b); err != nil {
		t.Fatal(err)
	}
	if os.Getenv("UPDATE") != "" {
		if err := os.WriteFile(schemaFile, b.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(schemaFile)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(want, b.Bytes()) {
		t.Error(schemaFile + " is of another build: UPDATE=1 writes it anew; a field may be added to it, not taken away")
	}
	s := compiled(t)
	for _, bad := range []string{
		`{"v":1,"type":"lunch"}`, `{"v":2,"type":"meta","tool":"","kernel":{},"clock":{},"devices":[]}`,
		`{"v":1,"type":"summary","records":-1,"gaps":0,"lost":0}`, `{"v":1,"type":"dequeue"}`,
	} {
		doc, err := jsonschema.UnmarshalJSON(strings.NewReader(bad))
		if err != nil || s.Validate(doc) == nil {
			t.Errorf("taken, %v: %s", err, bad)
		}
	}
}

// Whatever a record of any kind holds is a line of the schema.
func TestEveryKind(t *testing.T) {
	r := rand.New(rand.NewPCG(6, 4))
	var records []event.Any
	for k := event.KindRun; k.Valid(); k++ {
		b := make([]byte, k.Size())
		for i := range b {
			b[i] = byte(r.Uint32())
		}
		b[0] = byte(k)
		rec, err := event.Decode(b)
		if err != nil {
			t.Fatal(err)
		}
		h := rec.Head()
		h.CPU, h.Seq, h.Time = 3, uint32(len(records)), 1000+uint64(len(records))
		records = append(records, rec)
	}
	all := lines(t, records, &capture.Footer{Clock: capture.Clock{Monotonic: 5000}}, compiled(t))
	if len(all) != len(records)+2 || all[0]["type"] != "meta" || all[len(all)-1]["type"] != "summary" {
		t.Fatalf("%d lines of %d records", len(all), len(records))
	}
	for i, rec := range records {
		if got := all[i+1]; got["type"] != rec.Head().Kind.String() || got["seq"] != json.Number(string(rune('0'+i%10))) && i < 10 {
			t.Errorf("line %d is %v", i, got)
		}
	}
	if _, ok := all[0]["tables"]; ok {
		t.Error("the header's tables are in the meta line")
	}
}

// Values are what the record holds: unsigned, signed, text, an address.
func TestValues(t *testing.T) {
	run := &event.Run{Packets: 4_000_000_000, Qdisc: 0xffff_8881_0203_0405}
	copy(run.QdiscKind[:], "fq\"\n")
	hand := &event.Handover{}
	hand.RC = -12
	records := []event.Any{run, hand}
	for i, rec := range records {
		h := rec.Head()
		h.Kind = []event.Kind{event.KindRun, event.KindHandover}[i]
		h.Seq, h.Time = uint32(2*i), uint64(100+i) // one is missing between them
	}
	all := lines(t, records, nil, compiled(t))
	got := all[1]
	if got["packets"] != json.Number("4000000000") || got["qdisc"] != "0xffff888102030405" || got["qdisc_kind"] != "fq\"\n" || got["time"] != json.Number("100") {
		t.Errorf("%v", got)
	}
	if all[2]["type"] != "gap" || all[2]["lost"] != json.Number("1") || all[3]["rc"] != json.Number("-12") {
		t.Errorf("%v, %v", all[2], all[3])
	}
	if sum := all[4]; sum["lost"] != json.Number("1") || sum["records"] != json.Number("2") || sum["cut"] == nil {
		t.Errorf("%v", sum)
	}
}

// The tables hold what the records do: three questions that the README asks of
// them, and types that keep every value.
func TestTables(t *testing.T) {
	var records []event.Any
	var seq uint32
	put := func(rec event.Any, kind event.Kind) {
		h := rec.Head()
		h.Kind, h.Seq, h.Time, h.Txq = kind, seq, 1000+uint64(seq), 1
		seq++
		records = append(records, rec)
	}
	for n := range uint32(5000) { // more than are written at once
		put(&event.Dequeue{Packets: n % 7, Qdisc: 1<<63 + uint64(n)}, event.KindDequeue)
	}
	put(&event.Direct{RequeuesBegin: 1<<32 - 3, RequeuesEnd: 4}, event.KindDirect)
	seq++ // one is missing
	hand := &event.Handover{}
	hand.RC = -12
	put(hand, event.KindHandover)
	run := &event.Run{}
	copy(run.QdiscKind[:], "fq")
	put(run, event.KindRun)

	var file bytes.Buffer
	if err := capture.Write(&file, &capture.Header{Tool: "test", Clock: capture.Clock{Monotonic: 1}}, records, nil); err != nil {
		t.Fatal(err)
	}
	in, err := capture.Open(&file)
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	if err := Tables(dir, in); err != nil {
		t.Fatal(err)
	}
	batches := map[uint32]int{}
	for i, r := range rowsIn[struct {
		Packets uint32 `parquet:"packets"`
		Qdisc   uint64 `parquet:"qdisc"`
		Time    uint64 `parquet:"time"`
	}](t, dir, "dequeue") {
		batches[r.Packets]++
		if r.Qdisc != 1<<63+uint64(i) || r.Time != 1000+uint64(i) {
			t.Fatalf("row %d: %+v", i, r)
		}
	}
	if batches[0] != 715 || batches[6] != 714 || len(batches) != 7 {
		t.Errorf("batches %v", batches)
	}
	d := rowsIn[struct {
		Begin uint32 `parquet:"requeues_begin"`
		End   uint32 `parquet:"requeues_end"`
		Txq   uint32 `parquet:"txq"`
	}](t, dir, "direct")
	if len(d) != 1 || d[0].End-d[0].Begin != 7 || d[0].Txq != 1 {
		t.Errorf("directs %+v", d)
	}
	h := rowsIn[struct {
		RC int32 `parquet:"rc"`
	}](t, dir, "handover")
	if len(h) != 1 || h[0].RC != -12 {
		t.Errorf("hand-overs %+v", h)
	}
	kinds := rowsIn[struct {
		Kind string `parquet:"qdisc_kind"`
	}](t, dir, "run")
	if len(kinds) != 1 || kinds[0].Kind != "fq" {
		t.Errorf("runs %+v", kinds)
	}
	gaps := rowsIn[struct {
		Lost uint32 `parquet:"lost"`
	}](t, dir, "gap")
	if len(gaps) != 1 || gaps[0].Lost != 1 {
		t.Errorf("gaps %+v", gaps)
	}
	if _, err := os.Stat(filepath.Join(dir, "pick.parquet")); err == nil {
		t.Error("a table of a kind that no record has")
	}
}

func rowsIn[T any](t *testing.T, dir, name string) []T {
	t.Helper()
	rows, err := parquet.ReadFile[T](filepath.Join(dir, name+".parquet"))
	if err != nil {
		t.Fatal(err)
	}
	return rows
}

// Only text has several elements: what is written knows no other array.
func TestNoArrays(t *testing.T) {
	for kind, columns := range columnsOf() {
		for _, c := range columns {
			if c.Count > 1 && !c.text {
				t.Errorf("%s: %s has %d elements", kind, c.Name, c.Count)
			}
		}
	}
}
