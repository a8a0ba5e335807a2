// SPDX-License-Identifier: Apache-2.0

// Package probes is txtrace's hand in the kernel: it finds out what a kernel
// offers (Facts), chooses how each fact is observed (Plan, a pure function of
// the facts), loads and attaches the BPF programs (Session) and drains their
// records into a capture (Record). Nothing else imports cilium/ebpf.
//
// Decision: one ring buffer for all CPUs. Records of one CPU keep their order
// through the sequence number each carries, and the reader is woken by fill
// level or after a tick, never per record.
//
// Decision: completions in hard interrupt are seen at the exit of the driver's
// own function where all devices have drivers of a short table, else at that
// of __handle_irq_event_percpu, which knows no driver but runs, and looks at
// every queue, at each interrupt. A device that comes while recording, with a
// driver of another kind, has its completions noticed by its next hand-over.
//
// Decision: what most recordings do not need and not all can afford is an
// extra: a point with a name in With is observed only if that is asked for.
// The flag is --with NAMES, additive like perf's -e, and names what is seen,
// not rules: run --rules asks for what its rules need by itself.
//
// Decision: the programs are built once, with -mcpu=v3, for all kernels. What a
// kernel before 5.12 does not know is taken out when they are loaded (old.go);
// what cannot do without it is not recorded there: TSQ, queue picks, the order
// of enqueues.
package probes

//go:generate go tool bpf2go -go-package probes -target bpfel -no-global-types -cc clang-14 -strip llvm-strip-14 -cflags "-O2 -g -Wall -Werror -mcpu=v3 -idirafter /usr/include/x86_64-linux-gnu" txtrace ../../bpf/txtrace.bpf.c
