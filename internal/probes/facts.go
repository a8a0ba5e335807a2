// SPDX-License-Identifier: Apache-2.0

package probes

import (
	"bufio"
	"bytes"
	"errors"
	"io/fs"
	"os"
	"runtime"
	"strconv"
	"strings"

	"github.com/cilium/ebpf"
	"github.com/cilium/ebpf/asm"
	"github.com/cilium/ebpf/btf"
	"github.com/cilium/ebpf/features"
	"github.com/cilium/ebpf/rlimit"
	"golang.org/x/sys/unix"

	"github.com/txtrace/txtrace/internal/capture"
)

// Facts is all that the plan depends on. It marshals to JSON, so that a
// kernel's facts can be saved and planned for elsewhere.
type Facts struct {
	Kernel      capture.Kernel      `json:"kernel"`
	Functions   map[string]Function `json:"functions"`
	Tracepoints map[string]bool     `json:"tracepoints"`
	Fields      map[string]bool     `json:"fields"`
	Ftrace      bool                `json:"ftrace"`   // available_filter_functions could be read
	BTF         string              `json:"btf"`      // where the BTF came from, empty: none
	Drivers     []string            `json:"drivers"`  // of the devices that have hardware, each once; nil: not all were seen
	Lockdown    string              `json:"lockdown"` // none, integrity, confidentiality; empty: no lockdown LSM
	Caps        map[string]bool     `json:"capabilities"`
}

// Function is what the kernel says of one name.
type Function struct {
	Symbols  int    `json:"symbols"`            // symbols of exactly this name
	Suffixed string `json:"suffixed,omitempty"` // one symbol NAME.isra.0 or the like
	BTF      bool   `json:"btf"`
	Ftrace   bool   `json:"ftrace"` // fentry, fexit and kprobes can attach
}

// Gather reads the running kernel's facts. kernelBTF is a file to use instead
// of the kernel's own BTF, or empty. It changes nothing.
func Gather(kernelBTF string) (*Facts, error) {
	f := &Facts{
		Functions:   map[string]Function{},
		Tracepoints: map[string]bool{},
		Fields:      map[string]bool{},
		Caps:        map[string]bool{},
	}
	functions, tracepoints := wanted()
	f.Kernel = kernel()
	f.Lockdown = lockdown()
	f.capabilities()
	f.symbols(functions)
	f.traceable(functions)
	f.Drivers = drivers()
	spec, from, err := kernelTypes(kernelBTF)
	if err != nil {
		return f, err
	}
	f.BTF = from
	f.types(spec, functions, tracepoints)
	if kernelBTF == "" {
		f.moduleTypes()
	}
	return f, nil
}

func kernelTypes(file string) (*btf.Spec, string, error) {
	if file != "" {
		spec, err := btf.LoadSpec(file)
		if err != nil {
			return nil, "", &Error{Object: file, What: "not usable as kernel BTF", Cause: err.Error(),
				Next: "give the BTF of the running kernel", Kind: Usage, Err: err}
		}
		return spec, file, nil
	}
	spec, err := btf.LoadKernelSpec()
	if err != nil {
		return nil, "", &Error{Object: "/sys/kernel/btf/vmlinux", What: "no BTF", Cause: "the kernel was built without CONFIG_DEBUG_INFO_BTF",
			Next: "give a BTF file with --kernel-btf", Kind: CannotRun, Err: err}
	}
	return spec, "/sys/kernel/btf/vmlinux", nil
}

// types fills in what BTF knows.
func (f *Facts) types(spec *btf.Spec, functions, tracepoints []string) {
	for _, name := range functions {
		var fn *btf.Func
		fact := f.Functions[name]
		fact.BTF = spec.TypeByName(name, &fn) == nil
		f.Functions[name] = fact
	}
	for _, name := range tracepoints {
		var td *btf.Typedef
		f.Tracepoints[name] = spec.TypeByName("btf_trace_"+name, &td) == nil
	}
	f.Fields[atomicFetch] = takesFetch()
	// A missing capability is not held against the kernel: it shows by itself.
	f.Fields["bpf.this_cpu_ptr"] = !errors.Is(features.HaveProgramHelper(ebpf.RawTracepoint, asm.FnThisCpuPtr), ebpf.ErrNotSupported)
	f.Fields["netdev_queue.dql"] = offsetOf(spec, "netdev_queue", "dql") >= 0
	f.Fields["pcpu_hot.preempt_count"] = offsetOf(spec, "pcpu_hot", "preempt_count") >= 0
	f.Fields["task_struct.net_xmit"] = offsetOf(spec, "task_struct", "net_xmit") >= 0
	f.Fields["softnet_data.skip_txqueue"] = skipsTxqueue(spec)
	f.Fields["net_hotdata.dev_tx_weight"] = offsetOf(spec, "net_hotdata", "dev_tx_weight") >= 0
	f.Fields["net_hotdata.gro_normal_batch"] = offsetOf(spec, "net_hotdata", "gro_normal_batch") >= 0
	f.Fields["napi_struct.rx_count"] = offsetOf(spec, "napi_struct", "rx_count") >= 0 ||
		offsetOf(spec, "napi_struct", "gro") >= 0 && offsetOf(spec, "gro_node", "rx_count") >= 0
	f.Fields["sock.sk_cgrp_data"] = offsetOf(spec, "sock_cgroup_data", "cgroup") >= 0 && offsetOf(spec, "sock", "sk_cgrp_data") >= 0
	f.Fields["net_hotdata.qdisc_max_burst"] = offsetOf(spec, "net_hotdata", "qdisc_max_burst") >= 0
	f.Fields["Qdisc.defer_count"] = offsetOf(spec, "Qdisc", "defer_count") >= 0
	var reason *btf.Enum
	f.Fields["skb_drop_reason"] = spec.TypeByName("skb_drop_reason", &reason) == nil
	f.Fields["dql.order"] = dqlOrder(spec)
	f.Kernel.SkbTruesize = skbTruesize(spec)
}

// moduleTypes fills in what the BTF of loaded modules knows.
func (f *Facts) moduleTypes() {
	for _, pt := range points {
		for _, s := range pt.Sources {
			if s.Module == "" {
				continue
			}
			spec, err := btf.LoadKernelModuleSpec(s.Module)
			if err != nil {
				continue // not loaded, or without BTF
			}
			for _, name := range s.Functions {
				var fn *btf.Func
				fact := f.Functions[name]
				fact.BTF = spec.TypeByName(name, &fn) == nil
				f.Functions[name] = fact
			}
		}
	}
}

// takesFetch asks the verifier for the instruction that a record's number takes. A missing capability is not held against the kernel: it shows by itself.
func takesFetch() bool {
	_ = rlimit.RemoveMemlock() // this process's own; before 5.11 it is what refuses
	fetch := asm.FetchAdd.Mem(asm.RFP, asm.R1, asm.DWord, -8)
	fetch.Constant = 1 // BPF_FETCH, which v0.22 of the library leaves out
	p, err := ebpf.NewProgram(&ebpf.ProgramSpec{Type: ebpf.SocketFilter, License: "Dual BSD/GPL", Instructions: asm.Instructions{
		asm.Mov.Imm(asm.R1, 1),
		asm.StoreMem(asm.RFP, -8, asm.R1, asm.DWord),
		fetch,
		asm.Mov.Imm(asm.R0, 0),
		asm.Return(),
	}})
	if err == nil {
		p.Close()
	}
	return err == nil || errors.Is(err, unix.EPERM) || errors.Is(err, unix.EACCES)
}

// offsetOf a member in bytes, anonymous members included; -1 when it is not there.
func offsetOf(spec *btf.Spec, typ, member string) int {
	var s *btf.Struct
	if spec.TypeByName(typ, &s) != nil {
		return -1
	}
	return memberOffset(s.Members, member)
}

func memberOffset(members []btf.Member, name string) int {
	for _, m := range members {
		if m.Name == name {
			return int(m.Offset.Bytes())
		}
		if m.Name != "" {
			continue
		}
		var inner []btf.Member
		switch t := btf.UnderlyingType(m.Type).(type) {
		case *btf.Struct:
			inner = t.Members
		case *btf.Union:
			inner = t.Members
		}
		if off := memberOffset(inner, name); off >= 0 {
			return int(m.Offset.Bytes()) + off
		}
	}
	return -1
}

// dqlOrder checks that the completion half of struct dql lies in memory as
// bpf/kernel.h copies it (struct tx_dql_half).
func dqlOrder(spec *btf.Spec) bool {
	base := offsetOf(spec, "dql", "limit")
	if base < 0 {
		return false
	}
	for name, want := range map[string]int{
		"num_completed": 4, "prev_ovlimit": 8, "prev_num_queued": 12, "prev_last_obj_cnt": 16, "lowest_slack": 20,
		"slack_start_time": 24, "max_limit": 32, "min_limit": 36, "slack_hold_time": 40,
	} {
		if offsetOf(spec, "dql", name)-base != want {
			return false
		}
	}
	return true
}

// skipsTxqueue says that a CPU notes that a filter set a packet's queue.
func skipsTxqueue(spec *btf.Spec) bool {
	var s *btf.Struct
	if spec.TypeByName("softnet_data", &s) != nil {
		return false
	}
	for _, m := range s.Members {
		if xmit, ok := btf.UnderlyingType(m.Type).(*btf.Struct); ok && m.Name == "xmit" {
			return memberOffset(xmit.Members, "skip_txqueue") >= 0
		}
	}
	return false
}

// skbTruesize is SKB_TRUESIZE(1): one byte and both descriptors, each rounded
// up to a cache line (64 bytes on every 64-bit machine txtrace runs on).
func skbTruesize(spec *btf.Spec) uint32 {
	size := uint32(1)
	for _, name := range []string{"sk_buff", "skb_shared_info"} {
		var s *btf.Struct
		if spec.TypeByName(name, &s) != nil {
			return 0
		}
		size += (s.Size + 63) &^ 63
	}
	return size
}

func kernel() capture.Kernel {
	var u unix.Utsname
	_ = unix.Uname(&u) // cannot fail with a valid pointer
	k := capture.Kernel{
		Release: unix.ByteSliceToString(u.Release[:]),
		Version: unix.ByteSliceToString(u.Version[:]),
		Machine: unix.ByteSliceToString(u.Machine[:]),
		CPUs:    uint32(runtime.NumCPU()),
	}
	if b, err := os.ReadFile("/proc/cmdline"); err == nil {
		k.Cmdline = strings.TrimSpace(string(b))
		k.Emulated = strings.Contains(" "+k.Cmdline+" ", " txtrace.emulated=1 ")
	}
	if n, err := ebpf.PossibleCPU(); err == nil {
		k.PossibleCPUs = uint32(n)
	}
	k.Preemption = preemption(k.Version)
	k.HZ = tickHZ()
	return k
}

// preemption model: the one in force where it is chosen at boot, else the one
// that uname -v names.
func preemption(version string) string {
	if b, err := os.ReadFile("/sys/kernel/debug/sched/preempt"); err == nil {
		if _, rest, ok := strings.Cut(string(b), "("); ok {
			mode, _, _ := strings.Cut(rest, ")")
			return mode
		}
	}
	for _, m := range []struct{ word, mode string }{
		{"PREEMPT_RT", "rt"}, {"PREEMPT_LAZY", "lazy"}, {"PREEMPT_DYNAMIC", "dynamic"}, {"PREEMPT", "full"},
	} {
		if strings.Contains(version, m.word) {
			return m.mode
		}
	}
	return "none or voluntary"
}

// tickHZ: the coarse clocks advance once per jiffy, and say so.
func tickHZ() uint32 {
	var res unix.Timespec
	if unix.ClockGetres(unix.CLOCK_MONOTONIC_COARSE, &res) != nil || res.Nano() <= 0 {
		return 0
	}
	return uint32((1e9 + res.Nano()/2) / res.Nano())
}

func lockdown() string {
	b, err := os.ReadFile("/sys/kernel/security/lockdown")
	if err != nil {
		return ""
	}
	_, rest, _ := strings.Cut(string(b), "[")
	mode, _, _ := strings.Cut(rest, "]")
	return mode
}

// capabilities that recording takes, and whether this process has them.
var capabilityBits = []struct {
	name string
	bit  uint
}{
	{"CAP_NET_ADMIN", 12}, {"CAP_SYS_ADMIN", 21}, {"CAP_SYSLOG", 34}, {"CAP_PERFMON", 38}, {"CAP_BPF", 39},
}

func (f *Facts) capabilities() {
	b, err := os.ReadFile("/proc/self/status")
	if err != nil {
		return
	}
	_, rest, _ := strings.Cut(string(b), "\nCapEff:\t")
	line, _, _ := strings.Cut(rest, "\n")
	eff, _ := strconv.ParseUint(line, 16, 64)
	for _, c := range capabilityBits {
		f.Caps[c.name] = eff>>c.bit&1 == 1
	}
}

// symbols counts the wanted names in kallsyms.
func (f *Facts) symbols(names []string) {
	want := map[string]bool{}
	for _, n := range names {
		want[n] = true
		f.Functions[n] = Function{}
	}
	file, err := os.Open("/proc/kallsyms")
	if err != nil {
		return
	}
	defer file.Close()
	for s := bufio.NewScanner(file); s.Scan(); {
		fields := bytes.Fields(s.Bytes())
		if len(fields) < 3 {
			continue
		}
		if len(bytes.Trim(fields[0], "0")) > 0 {
			f.Fields["kallsyms.addresses"] = true // not hidden by kernel.kptr_restrict
		}
		base, suffix, _ := bytes.Cut(fields[2], []byte("."))
		if !want[string(base)] {
			continue
		}
		fn := f.Functions[string(base)]
		if suffix == nil && !bytes.HasSuffix(fields[2], []byte(".")) {
			fn.Symbols++
		} else if !bytes.HasPrefix(suffix, []byte("cold")) {
			fn.Suffixed = string(fields[2])
		}
		f.Functions[string(base)] = fn
	}
}

// traceable looks the names up in what ftrace can hook, where that list can
// be read; else attaching is what decides.
func (f *Facts) traceable(names []string) {
	var file *os.File
	err := fs.ErrNotExist
	for _, dir := range []string{"/sys/kernel/tracing", "/sys/kernel/debug/tracing"} {
		if file, err = os.Open(dir + "/available_filter_functions"); !errors.Is(err, fs.ErrNotExist) {
			break
		}
	}
	if err != nil {
		return
	}
	defer file.Close()
	f.Ftrace = true
	for s := bufio.NewScanner(file); s.Scan(); {
		name, _, _ := strings.Cut(s.Text(), " ")
		if fn, ok := f.Functions[name]; ok {
			fn.Ftrace = true
			f.Functions[name] = fn
		}
	}
}
