// SPDX-License-Identifier: Apache-2.0

package probes

import (
	"encoding/binary"
	"slices"
	"testing"

	"github.com/cilium/ebpf/btf"

	"github.com/txtrace/txtrace/internal/event"
)

// The BPF object's structs are internal/event's, field by field.
func TestRecordLayout(t *testing.T) {
	spec, err := loadTxtrace()
	if err != nil {
		t.Fatal(err)
	}
	for _, tab := range event.Tables() {
		if tab.Kind == event.KindLedger {
			continue // written by the recorder only
		}
		var s *btf.Struct
		if err := spec.Types.TypeByName("tx_"+tab.Name, &s); err != nil {
			t.Errorf("struct tx_%s: %v", tab.Name, err)
			continue
		}
		if int(s.Size) != tab.Size {
			t.Errorf("struct tx_%s is %d bytes, want %d", tab.Name, s.Size, tab.Size)
		}
		got := fields(t, s, 0, "")
		if len(got) != len(tab.Fields) {
			t.Errorf("struct tx_%s has %d fields, want %d", tab.Name, len(got), len(tab.Fields))
			continue
		}
		for i, f := range tab.Fields {
			f.Unit = ""
			if got[i] != f {
				t.Errorf("struct tx_%s: %+v, want %+v", tab.Name, got[i], f)
			}
		}
	}
}

// fields flattens a struct. A struct inside is spelled out, under its name
// where it is only a part of the record.
func fields(t *testing.T, s *btf.Struct, base int, prefix string) (out []event.Field) {
	for _, m := range s.Members {
		off := base + int(m.Offset.Bytes())
		if inner, ok := btf.UnderlyingType(m.Type).(*btf.Struct); ok {
			p := prefix
			if m.Name == "hand" && s.Name == "tx_direct" {
				p += "hand_"
			}
			out = append(out, fields(t, inner, off, p)...)
			continue
		}
		elem, n := m.Type, 1
		if a, ok := btf.UnderlyingType(m.Type).(*btf.Array); ok {
			elem, n = a.Type, int(a.Nelems)
		}
		size, err := btf.Sizeof(elem)
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, event.Field{Name: prefix + m.Name, Offset: off, Size: size, Count: n})
	}
	return out
}

// The configuration is written as bytes: Go's struct must be C's.
func TestConfigLayout(t *testing.T) {
	spec, err := loadTxtrace()
	if err != nil {
		t.Fatal(err)
	}
	var s *btf.Struct
	if err := spec.Types.TypeByName("tx_config", &s); err != nil {
		t.Fatal(err)
	}
	if got := binary.Size(bpfConfig{}); got != int(s.Size) {
		t.Errorf("bpfConfig is %d bytes, struct tx_config %d", got, s.Size)
	}
	if err := spec.Variables[txtraceVarConfig].Set(&bpfConfig{}); err != nil {
		t.Error(err)
	}
}

// So are the queues read, and the sums of quiet sends at fixed offsets.
func TestQueueLayout(t *testing.T) {
	spec, err := loadTxtrace()
	if err != nil {
		t.Fatal(err)
	}
	var s *btf.Struct
	if err := spec.Types.TypeByName("tx_queue", &s); err != nil {
		t.Fatal(err)
	}
	if got := binary.Size(bpfQueue{}); got != int(s.Size) {
		t.Errorf("bpfQueue is %d bytes, struct tx_queue %d", got, s.Size)
	}
	var queues [maxSlots]bpfQueue
	if err := spec.Variables[txtraceVarQueues].Get(&queues); err != nil {
		t.Error(err)
	}
	var q *btf.Struct
	if err := spec.Types.TypeByName("tx_quiet_sum", &q); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]int{"begin": 0, "slot": 8, "handle": 12, "packets": 16, "bytes": 20} {
		if got := memberOffset(q.Members, name); got != want {
			t.Errorf("tx_quiet_sum.%s at %d, want %d", name, got, want)
		}
	}
}

// Every program has a ledger row and a point that loads it, and the other way
// round: a program that nothing chooses would be dead.
func TestProgramsAreRows(t *testing.T) {
	spec, err := loadTxtrace()
	if err != nil {
		t.Fatal(err)
	}
	names, err := programNames(spec)
	if err != nil {
		t.Fatal(err)
	}
	rows := map[string]int{}
	for _, n := range names {
		rows[n]++
		if spec.Programs[n] == nil && !slices.Contains(shared, n) {
			t.Errorf("enum tx_program has %s, the object has no such program", n)
		}
	}
	chosen := map[string]bool{}
	for _, p := range points {
		for _, s := range p.Sources {
			for _, n := range s.Programs {
				chosen[n] = true
				if rows[n] != 1 {
					t.Errorf("point %s: program %s has %d rows", p.Fact, n, rows[n])
				}
			}
		}
	}
	for n := range spec.Programs {
		if !chosen[n] {
			t.Errorf("program %s belongs to no point", n)
		}
	}
	if _, err := layoutOf(spec); err != nil {
		t.Error(err)
	}
}
