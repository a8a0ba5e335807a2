// SPDX-License-Identifier: Apache-2.0

package probes

import (
	"encoding/binary"
	"unsafe"

	"github.com/cilium/ebpf"
	"github.com/cilium/ebpf/asm"

	"github.com/txtrace/txtrace/internal/event"
)

// atomicFetch is the field that kernels from 5.12 on have (5ca419f2864a): a
// program adds to memory and sees what was there in one step.
const atomicFetch = "bpf.atomic_fetch"

// numbering gives the records of a kernel before 5.12 their numbers. There a
// record says in the place of its number how many were lost on its CPU before
// it, and records of a CPU come out of the ring in the order of their numbers.
//
// Decision: what was lost while a record was being made counts as lost before
// the next one of the CPU; such records are of one moment.
type numbering struct {
	records, gone map[uint16]uint32 // so far, by CPU
}

const (
	seqAt = int(unsafe.Offsetof(event.Header{}.Seq))
	cpuAt = int(unsafe.Offsetof(event.Header{}.CPU))
)

// record puts its number into a record. It does nothing for a nil numbering, of
// a kernel that numbers by itself.
func (n *numbering) record(b []byte) {
	if n == nil || len(b) < seqAt+4 || len(b) < cpuAt+2 {
		return
	}
	cpu := binary.NativeEndian.Uint16(b[cpuAt:])
	n.gone[cpu] = max(n.gone[cpu], binary.NativeEndian.Uint32(b[seqAt:]))
	binary.NativeEndian.PutUint32(b[seqAt:], n.records[cpu]+n.gone[cpu])
	n.records[cpu]++
}

func newNumbering(f *Facts) *numbering {
	if f.Fields[atomicFetch] {
		return nil
	}
	return &numbering{map[uint16]uint32{}, map[uint16]uint32{}}
}

// withoutFetch makes plain additions of those that give back what was there: the
// kernels refuse the instruction even where it is never reached.
func withoutFetch(spec *ebpf.CollectionSpec) {
	for _, p := range spec.Programs {
		for i := range p.Instructions {
			ins := &p.Instructions[i]
			if ins.OpCode.AtomicOp() == asm.FetchAdd {
				ins.OpCode, ins.Constant = asm.StoreXAddOp(ins.OpCode.Size()), 0
			}
		}
	}
}
