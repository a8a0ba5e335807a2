// SPDX-License-Identifier: Apache-2.0

package probes

import (
	"fmt"

	"github.com/cilium/ebpf"
	"github.com/cilium/ebpf/asm"
	"github.com/cilium/ebpf/btf"
)

// typed are per-CPU variables of the kernel that the programs reach by their
// BTF where it has them, else by probe reads (bpf/compat.h). flag tells the
// programs so; when two share one, the first that the kernel has counts.
var typed = []struct{ variable, flag string }{
	{"softnet_data", txtraceVarSoftnetTyped},
	{"pcpu_hot", txtraceVarCountTyped},
	{"__preempt_count", txtraceVarCountTyped},
}

// typePerCPU puts the ids of the kernel's per-CPU variables where the programs
// name them. The library takes such names for plain addresses only.
func typePerCPU(spec *ebpf.CollectionSpec, kernel *btf.Spec) error {
	for _, t := range typed {
		var v *btf.Var
		if kernel.TypeByName(t.variable, &v) != nil {
			continue
		}
		id, err := kernel.TypeID(v)
		if err != nil {
			return fmt.Errorf("BTF of %s: %w", t.variable, err)
		}
		for _, p := range spec.Programs {
			for i, ins := range p.Instructions {
				if ins.Reference() != t.variable+"___btf" {
					continue
				}
				load := asm.LoadImm(ins.Dst, int64(id), asm.DWord)
				load.Src = asm.R3 // BPF_PSEUDO_BTF_ID, for which v0.22 has no name
				p.Instructions[i] = load.WithSymbol(ins.Symbol()).WithSource(ins.Source())
			}
		}
		if err := spec.Variables[t.flag].Set(true); err != nil {
			return fmt.Errorf("BPF configuration: %w", err)
		}
	}
	return nil
}
