// SPDX-License-Identifier: Apache-2.0

package capture

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/txtrace/txtrace/internal/event"
)

// The sentence for each file that is not read, and the error it is.
func TestOpenRefuses(t *testing.T) {
	var file bytes.Buffer
	if err := Write(&file, &Header{}, nil, &Footer{}); err != nil {
		t.Fatal(err)
	}
	good := file.Bytes()
	with := func(f func(b []byte)) []byte {
		b := bytes.Clone(good)
		f(b)
		return b
	}
	headered := func(v any) []byte {
		b, err := appendSheet(append([]byte(fileMagic), 1, 0, 0, 0), "test", v)
		if err != nil {
			t.Fatal(err)
		}
		return b
	}
	type members = map[string]any
	// changed is the header with a member set, or taken out.
	changed := func(value any, path ...string) []byte {
		js, err := json.Marshal(&Header{Tables: event.Tables(), Packing: packings})
		if err != nil {
			t.Fatal(err)
		}
		var doc members
		if err := json.Unmarshal(js, &doc); err != nil {
			t.Fatal(err)
		}
		of := doc
		for _, name := range path[:len(path)-1] {
			of = of[name].(members)
		}
		of[path[len(path)-1]] = value
		if value == nil {
			delete(of, path[len(path)-1])
		}
		return headered(doc)
	}
	ts := event.Tables()
	ts[1].Fields[3].Name = "lane"
	for _, c := range []struct {
		name string
		file []byte
		err  error
		text string
	}{
		{"empty", nil, ErrForeign, "not a txtrace capture: it is empty; name a file that txtrace record or txtrace run wrote"},
		{"foreign", []byte("hello"), ErrForeign, "not a txtrace capture: it begins with other bytes than a capture; name a file that txtrace record or txtrace run wrote"},
		{"perf", []byte("PERFILE2xxxxxxxxxxxxxxxxxxxxxxxxxxx"), ErrForeign, "not a txtrace capture: it begins like a perf.data file; name a file that txtrace record or txtrace run wrote"},
		{"trace.dat", []byte("\x17\x08\x44tracing6\x00"), ErrForeign, "not a txtrace capture: it begins like a trace-cmd trace.dat file; name a file that txtrace record or txtrace run wrote"},
		{"gzip", []byte("\x1f\x8b\x08"), ErrForeign, "not a txtrace capture: it is compressed by gzip; name a file that txtrace record or txtrace run wrote"},
		{"newer", with(func(b []byte) { b[8] = 2 }), ErrNewer, "made by a newer txtrace: its file version is 2, the newest known here is 1; use a txtrace as new as the one that wrote it"},
		{"version 0", with(func(b []byte) { b[8] = 0 }), ErrHeader, "capture header is unusable: there is no file version 0, so it is damaged; record again"},
		{"short prefix", good[:20], ErrHeader, "capture header is unusable: it ends before its header does; record again"},
		{"short header", good[:500], ErrHeader, "capture header is unusable: it ends before its header does; record again"},
		{"bad length", with(func(b []byte) { b[15] = 0x7f }), ErrHeader, "capture header is unusable: its checksum is wrong, so it is damaged; record again"},
		{"bad header", with(func(b []byte) { b[100]++ }), ErrHeader, "capture header is unusable: its checksum is wrong, so it is damaged; record again"},
		{"no JSON", headered("xx"), ErrHeader, "capture header is unusable: it has a string where none can be (all), so it is damaged; record again"},
		{"nothing in it", headered(members{}), ErrHeader, "capture header is unusable: it does not tell tool; use the txtrace that wrote it"},
		{"null", headered(nil), ErrHeader, "capture header is unusable: it does not tell all; use the txtrace that wrote it"},
		{"no clock", changed(nil, "clock"), ErrHeader, "capture header is unusable: it does not tell clock; use the txtrace that wrote it"},
		{"no quota", changed(nil, "settings", "dev_weight"), ErrHeader, "capture header is unusable: it does not tell settings.dev_weight; use the txtrace that wrote it"},
		{"part of a device", changed([]members{{"netns": 1, "ifindex": 2}}, "devices"), ErrHeader, "capture header is unusable: it does not tell devices[].ifname; use the txtrace that wrote it"},
		{"many of nothing", changed(slices.Repeat([]members{{}}, 1<<20), "devices"), ErrHeader, "capture header is unusable: it does not tell devices[].netns; use the txtrace that wrote it"},
		{"null for a number", changed(json.RawMessage("null"), "kernel", "cpus"), ErrHeader, "capture header is unusable: it does not tell kernel.cpus; use the txtrace that wrote it"},
		{"part of a qdisc", changed([]members{{"netns": 1, "ifindex": 2, "tx_packets": 0, "tx_bytes": 0, "tx_dropped": 0, "tx_errors": 0, "qdiscs": []members{{"kind": "fq"}}}}, "counters"), ErrHeader,
			"capture header is unusable: it does not tell counters[].qdiscs[].handle; use the txtrace that wrote it"},
		{"fewer than no CPUs", changed(-1, "kernel", "cpus"), ErrHeader, "capture header is unusable: it has a number -1 where none can be (kernel.cpus), so it is damaged; record again"},
		{"no packing", changed(nil, "packing"), ErrHeader, "capture header is unusable: it does not tell packing; use the txtrace that wrote it"},
		{"other packing", changed(1, "packing", "run"), ErrTables, "capture has another record layout: its run records are packed otherwise than this build's; use the txtrace that wrote it"},
		{"packing of nothing", changed(nil, "packing", "run"), ErrTables, "capture has another record layout: its run records are packed otherwise than this build's; use the txtrace that wrote it"},
		{"layout", headered(&Header{Tables: ts}), ErrTables, "capture has another record layout: its dequeue records are not laid out like this build's; use the txtrace that wrote it"},
	} {
		_, err := Open(bytes.NewReader(c.file))
		if !errors.Is(err, c.err) || err.Error() != c.text {
			t.Errorf("%s: %v\nwant %s", c.name, err, c.text)
		}
	}
}

// A later txtrace may tell more: what is not known is no fault.
func TestMoreMembers(t *testing.T) {
	js, err := json.Marshal(&Header{Tool: "later", Tables: event.Tables(), Packing: packings, Kernel: Kernel{CPUs: 3}})
	if err != nil {
		t.Fatal(err)
	}
	more := `"more":[{"a":{"b":[[],[1,"]"]]}},null],"cpus":3`
	js = bytes.Replace(js, []byte(`"cpus":3`), []byte(more), 1)
	file, err := appendSheet(append([]byte(fileMagic), Version, 0, 0, 0), "test", json.RawMessage(js))
	if err != nil {
		t.Fatal(err)
	}
	if d := readAll(t, file); d.r.Header().Tool != "later" || d.r.Header().Kernel.CPUs != 3 {
		t.Errorf("%+v", d.r.Header())
	}
}

// The input's own error comes out as it is, before and after the header.
func TestInputFails(t *testing.T) {
	broken := errors.New("input/output error")
	good := write(t, seqRecords(50), map[int]bool{25: true}, &Footer{})
	head := len(write(t, nil, nil, nil))
	for n := 0; n < len(good); n += 97 {
		r, err := Open(io.MultiReader(bytes.NewReader(good[:n]), iotestErr{broken}))
		if n < head {
			if !errors.Is(err, broken) {
				t.Fatalf("after %d bytes: %v", n, err)
			}
			continue
		}
		if err != nil {
			t.Fatal(err)
		}
		if _, err := drain(t, r); !errors.Is(err, broken) || r.Cut() == nil {
			t.Fatalf("after %d bytes: %v", n, err)
		}
	}
}

type iotestErr struct{ err error }

func (e iotestErr) Read([]byte) (int, error) { return 0, e.err }

// The metadata comes back as it was given.
func TestMetadata(t *testing.T) {
	h := &Header{
		Tool: "txtrace test", Kernel: Kernel{Release: "6.1.0", CPUs: 2}, Clock: Clock{1, 2, 3},
		Programs: []Program{{Name: "dequeue", Hook: "tp_btf:qdisc_dequeue"}},
		Settings: Settings{DevWeight: 64, DevWeightTxBias: 1, Sysctls: map[string]string{"net.ipv4.tcp_limit_output_bytes": "1048576"}},
		Devices:  []Device{{Netns: 1, Ifindex: 2, Ifname: "eth\x1b[2J", BQL: []QueueBQL{{Limit: 3}}}},
	}
	f := &Footer{Ended: "child", Ledger: []LedgerRow{{Seen: 1, Submitted: 1}}, Child: &Child{Command: []string{"a", "b"}, Output: strings.Repeat("\x00é", 1000)}}
	var file bytes.Buffer
	if err := Write(&file, h, nil, f); err != nil {
		t.Fatal(err)
	}
	d := readAll(t, file.Bytes())
	want := *h
	want.Tables, want.Packing = event.Tables(), packings
	if diff := cmp.Diff(&want, d.r.Header()); diff != "" {
		t.Error(diff)
	}
	wantF := *f
	wantF.Records = map[string]int64{}
	if diff := cmp.Diff(&wantF, d.r.Footer()); diff != "" {
		t.Error(diff)
	}
}
