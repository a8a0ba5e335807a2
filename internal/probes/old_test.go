// SPDX-License-Identifier: Apache-2.0

package probes

import (
	"encoding/binary"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/cilium/ebpf/asm"

	"github.com/txtrace/txtrace/internal/event"
)

// rawRecord is a record as it comes out of the ring: its CPU, and in the place
// of its number how many were lost before it.
func rawRecord(cpu uint16, gone uint32) []byte {
	b := make([]byte, 64)
	binary.NativeEndian.PutUint16(b[cpuAt:], cpu)
	binary.NativeEndian.PutUint32(b[seqAt:], gone)
	return b
}

func numberOf(b []byte) uint32 { return binary.NativeEndian.Uint32(b[seqAt:]) }

// The numbers of each CPU rise, and leave a gap of as many as were lost.
func TestNumbering(t *testing.T) {
	n := newNumbering(&Facts{})
	for i, c := range []struct {
		cpu        uint16
		gone, want uint32
	}{
		{0, 0, 0}, {0, 0, 1}, {1, 0, 0}, {0, 3, 5}, {1, 1, 2},
		{0, 2, 6}, // begun before an interrupt lost one
		{0, 4, 8}, {event.UserCPU, 0, 0},
	} {
		b := rawRecord(c.cpu, c.gone)
		n.record(b)
		if got := numberOf(b); got != c.want {
			t.Errorf("record %d: number %d, want %d", i, got, c.want)
		}
	}
	b := rawRecord(0, 7)
	(*numbering)(nil).record(b)
	newNumbering(&Facts{Fields: map[string]bool{atomicFetch: true}}).record(b)
	if numberOf(b) != 7 {
		t.Error("a kernel's own number was changed")
	}
	n.record(b[:4])
}

// Whatever is lost when, the last number is that of all that were begun: the
// footer's count of them finds what was lost at the end.
func TestNumberingCounts(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 10))
	for range 1000 {
		n := newNumbering(&Facts{})
		var begun, gone uint32
		last := -1
		for range r.IntN(50) {
			begun++
			if r.IntN(3) == 0 {
				gone++
				continue
			}
			b := rawRecord(2, gone)
			n.record(b)
			if got := numberOf(b); got != begun-1 || int(got) <= last {
				t.Fatalf("number %d after %d, want %d", got, last, begun-1)
			}
			last = int(numberOf(b))
		}
	}
}

// No program has an instruction that 5.10 does not know, but for programs that
// need it: those of points with the field.
func TestWithoutFetch(t *testing.T) {
	spec, err := loadTxtrace()
	if err != nil {
		t.Fatal(err)
	}
	var fetches []string
	for name, p := range spec.Programs {
		for _, ins := range p.Instructions {
			switch op := ins.OpCode.AtomicOp(); op {
			case asm.InvalidAtomic, asm.AddAtomic:
			case asm.FetchAdd:
				if !slices.Contains(fetches, name) {
					fetches = append(fetches, name)
				}
			default:
				t.Errorf("%s: %v", name, ins)
			}
		}
	}
	if len(fetches) == 0 {
		t.Error("no program fetches: old.go is for nothing")
	}
	withoutFetch(spec)
	for name, p := range spec.Programs {
		for _, ins := range p.Instructions {
			if ins.OpCode.AtomicOp() == asm.FetchAdd || ins.OpCode.AtomicOp() == asm.AddAtomic && ins.Constant != 0 {
				t.Errorf("%s: %v", name, ins)
			}
		}
	}
}
