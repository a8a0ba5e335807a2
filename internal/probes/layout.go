// SPDX-License-Identifier: Apache-2.0

package probes

import (
	"encoding/binary"
	"fmt"

	"github.com/cilium/ebpf"
	"github.com/cilium/ebpf/btf"
)

// cpuLayout is where the ledger's fields lie in struct tx_cpu, from the
// object's own BTF.
type cpuLayout struct {
	seq, top, orphans, overflow, counts, countSize     int
	begun, send, action, quiets, quietSize, quietCount int
}

func layoutOf(spec *ebpf.CollectionSpec) (cpuLayout, error) {
	var cpu, count *btf.Struct
	var l cpuLayout
	if err := spec.Types.TypeByName("tx_cpu", &cpu); err != nil {
		return l, fmt.Errorf("BPF object: struct tx_cpu: %w", err)
	}
	if err := spec.Types.TypeByName("tx_count", &count); err != nil {
		return l, fmt.Errorf("BPF object: struct tx_count: %w", err)
	}
	l.countSize = int(count.Size)
	for name, to := range map[string]*int{"seq": &l.seq, "top": &l.top, "orphans": &l.orphans, "overflow": &l.overflow, "begun": &l.begun, "send": &l.send, "action": &l.action, "count": &l.counts} {
		if *to = memberOffset(cpu.Members, name); *to < 0 {
			return l, fmt.Errorf("BPF object: struct tx_cpu has no %s", name)
		}
	}
	for _, m := range cpu.Members {
		if m.Name != "quiets" {
			continue
		}
		a, ok := m.Type.(*btf.Array)
		if !ok {
			return l, fmt.Errorf("BPF object: tx_cpu.quiets is no array")
		}
		size, err := btf.Sizeof(a.Type)
		if err != nil {
			return l, fmt.Errorf("BPF object: tx_cpu.quiets: %w", err)
		}
		l.quiets, l.quietSize, l.quietCount = int(m.Offset.Bytes()), size, int(a.Nelems)
	}
	return l, nil
}

func (l cpuLayout) u32(b []byte, off int) uint32 { return binary.LittleEndian.Uint32(b[off:]) }
func (l cpuLayout) u64(b []byte, off int) uint64 { return binary.LittleEndian.Uint64(b[off:]) }

func (l cpuLayout) count(b []byte, program int) bpfCount {
	at := l.counts + program*l.countSize
	return bpfCount{l.u64(b, at), l.u64(b, at+8), l.u64(b, at+16), l.u64(b, at+24), l.u64(b, at+32)}
}
