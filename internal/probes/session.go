// SPDX-License-Identifier: Apache-2.0

package probes

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/cilium/ebpf"
	"github.com/cilium/ebpf/btf"
	"github.com/cilium/ebpf/link"
	"github.com/cilium/ebpf/ringbuf"
	"golang.org/x/sys/unix"

	"github.com/txtrace/txtrace/internal/capture"
)

// session is the loaded programs, their links and the ring.
type session struct {
	coll     *ebpf.Collection
	links    []link.Link // kept: a dropped link detaches when it is collected
	ring     *ringbuf.Reader
	programs []program // by id, as enum tx_program has them
}

// program is one row of enum tx_program.
type program struct {
	name string
	prog *ebpf.Program // nil: not loaded, or a row of shared records
}

// shared are the rows for records that several programs write, and for what
// several do not see: that of queues beyond those that can be followed.
var shared = []string{"snapshot", "quiet", "sojourn", "unplaced"}

// counted says whether the ledger has a row for it.
func (p program) counted() bool { return p.prog != nil || slices.Contains(shared, p.name) }

// open loads and attaches what the plan names. Nothing is recorded before arm.
func open(p *Plan, f *Facts, c *Config, b *bpfConfig) (_ *session, err error) {
	spec, err := loadTxtrace()
	if err != nil {
		return nil, &Error{Object: "BPF object", What: "not readable", Cause: "this build is damaged", Next: "build it again", Kind: Broken, Err: err}
	}
	names, err := programNames(spec)
	if err != nil {
		return nil, err
	}
	for name := range spec.Programs {
		if !slices.Contains(p.Programs, name) {
			delete(spec.Programs, name)
		}
	}
	spec.Maps[txtraceMapEvents].MaxEntries = uint32(c.RingBytes)
	if spec.Programs[txtraceProgReleased] == nil {
		spec.Maps[txtraceMapLives].MaxEntries = 1 // no skb is followed
	}
	if err := spec.Variables[txtraceVarConfig].Set(b); err != nil {
		return nil, fmt.Errorf("BPF configuration: %w", err)
	}
	if err := spec.Variables[txtraceVarPossibleCpus].Set(f.Kernel.PossibleCPUs); err != nil {
		return nil, fmt.Errorf("BPF configuration: %w", err)
	}
	if err := setStacks(spec, c.Stacks); err != nil {
		return nil, err
	}
	if c.SojournOneIn > 0 {
		if err := spec.Variables[txtraceVarSojournEvery].Set(c.SojournOneIn); err != nil {
			return nil, fmt.Errorf("BPF configuration: %w", err)
		}
	}
	if !f.Fields[atomicFetch] {
		withoutFetch(spec)
	}
	var opts ebpf.CollectionOptions
	if c.KernelBTF != "" {
		if opts.Programs.KernelTypes, err = btf.LoadSpec(c.KernelBTF); err != nil {
			return nil, fmt.Errorf("%s: %w", c.KernelBTF, err)
		}
	} else if kernel, err := btf.LoadKernelSpec(); err != nil {
		return nil, fmt.Errorf("kernel BTF: %w", err)
	} else if err := typePerCPU(spec, kernel); err != nil {
		return nil, err
	}
	s := &session{}
	defer func() {
		if err != nil {
			err = errors.Join(err, s.close())
		}
	}()
	if s.coll, err = ebpf.NewCollectionWithOptions(spec, opts); err != nil {
		return nil, f.explain("load", err)
	}
	for _, name := range names {
		s.programs = append(s.programs, program{name, s.coll.Programs[name]})
	}
	// The ends first: a begin whose end is not attached would leave a frame open.
	for i := len(s.programs) - 1; i >= 0; i-- {
		prog := s.programs[i]
		if prog.prog == nil {
			continue
		}
		if prog.prog.Type() == ebpf.RawTracepoint {
			continue // run by the recorder
		}
		l, err := link.AttachTracing(link.TracingOptions{Program: prog.prog})
		if err != nil {
			return nil, f.explain("attach "+prog.name, err)
		}
		s.links = append(s.links, l)
	}
	if s.ring, err = ringbuf.NewReader(s.coll.Maps[txtraceMapEvents]); err != nil {
		return nil, f.explain("ring buffer", err)
	}
	return s, nil
}

// loaded says whether a program is.
func (s *session) loaded(name string) bool { return s.coll.Programs[name] != nil }

// programNames reads enum tx_program: the order is the ledger's.
func programNames(spec *ebpf.CollectionSpec) ([]string, error) {
	var e *btf.Enum
	if err := spec.Types.TypeByName("tx_program", &e); err != nil {
		return nil, fmt.Errorf("BPF object: enum tx_program: %w", err)
	}
	var names []string
	for i, v := range e.Values {
		name := strings.TrimPrefix(v.Name, "TX_PROG_")
		if v.Value != uint64(i) {
			return nil, fmt.Errorf("BPF object: %s is %d, want %d", v.Name, v.Value, i)
		}
		if name != "MAX" {
			names = append(names, name)
		}
	}
	return names, nil
}

// describe lists the programs for the header; ids stay, unloaded ones have no hook.
func (s *session) describe(p *Plan, spec map[string]string) []capture.Program {
	var out []capture.Program
	for _, pr := range s.programs {
		d := capture.Program{Name: pr.name}
		if pr.prog != nil {
			d.Hook = spec[pr.name]
			if base, ok := strings.CutSuffix(pr.name, "_begin"); ok {
				d.Pair = base + "_end"
			}
		}
		out = append(out, d)
	}
	return out
}

// hooks of the programs, by name, as the object spells them.
func hooks() (map[string]string, error) {
	spec, err := loadTxtrace()
	if err != nil {
		return nil, err
	}
	m := map[string]string{}
	for name, p := range spec.Programs {
		m[name] = strings.Replace(p.SectionName, "/", ":", 1)
	}
	return m, nil
}

func (s *session) arm(on bool) error {
	gate := uint32(1)
	if on {
		gate = 0
	}
	if err := s.coll.Variables[txtraceVarGate].Set(gate); err != nil {
		return fmt.Errorf("arm: %w", err)
	}
	return nil
}

// membarrierGlobal is MEMBARRIER_CMD_GLOBAL of linux/membarrier.h.
const membarrierGlobal = 1

// disarm stops the programs, and waits until none is under way: what one of them
// is about to write would be in no ledger. They run in RCU's read sections, and
// this membarrier waits for those. Where it may not be had (nohz_full, seccomp),
// the ledger is asked until it adds up, for a second at most.
func (s *session) disarm(adds func() bool) error {
	err := s.arm(false)
	if _, _, no := unix.Syscall(unix.SYS_MEMBARRIER, membarrierGlobal, 0, 0); no != 0 {
		for range 1000 {
			if adds() {
				break
			}
			time.Sleep(time.Millisecond)
		}
	}
	return err
}

// relearn makes the programs look at every queue's identity again.
func (s *session) relearn() error {
	v := s.coll.Variables[txtraceVarGeneration]
	var n uint32
	if err := v.Get(&n); err != nil {
		return fmt.Errorf("generation: %w", err)
	}
	return v.Set(n + 1)
}

// detach closes the links, begins before ends.
func (s *session) detach() error {
	var err error
	for _, l := range slices.Backward(s.links) {
		err = errors.Join(err, l.Close())
	}
	s.links = nil
	return err
}

// close frees everything; it may be called at any stage.
func (s *session) close() error {
	err := s.detach()
	if s.ring != nil {
		err = errors.Join(err, s.ring.Close())
	}
	if s.coll != nil {
		s.coll.Close()
	}
	return err
}

// explain turns what the kernel answered into a sentence.
func (f *Facts) explain(object string, err error) error {
	e := &Error{Object: object, What: err.Error(), Cause: "this kernel differs from those txtrace was tried on",
		Next: "please report it with txtrace doctor --format json", Kind: CannotRun, Err: err}
	var ve *ebpf.VerifierError
	switch {
	case errors.As(err, &ve):
		// A fault of the program or of the kernel: no reason for CI to skip.
		e.What, e.Kind = fmt.Sprintf("the verifier refused a program: %v", ve), Broken
	case strings.Contains(err.Error(), "kptr_restrict"):
		e.What, e.Cause, e.Next = "kernel symbols are hidden", "CAP_SYSLOG is missing, or kernel.kptr_restrict is 2", grantLine
	case errors.Is(err, unix.EPERM) || errors.Is(err, unix.EACCES):
		e.What = "not permitted"
		e.Cause, e.Next = f.missingCapability()
	case errors.Is(err, unix.ENOMEM):
		e.What, e.Cause, e.Next = "out of memory", "the ring buffer is too large for this machine", "give a smaller --ringbuf-size"
	}
	return e
}

const grantLine = "run as root, or: setcap cap_bpf,cap_perfmon,cap_syslog,cap_net_admin=ep $(command -v txtrace)"

// missingCapability names what this process lacks and the line that grants it.
func (f *Facts) missingCapability() (cause, next string) {
	if !f.Caps["CAP_SYS_ADMIN"] {
		for _, name := range []string{"CAP_BPF", "CAP_PERFMON"} {
			if !f.Caps[name] {
				return name + " is missing", grantLine
			}
		}
	}
	if f.Lockdown == "confidentiality" {
		return "the kernel is locked down (confidentiality)", "boot with lockdown=none or integrity"
	}
	return "the kernel refused although the capabilities are there", "look for a security module's message in dmesg"
}

// Permitted says whether this process may record at all.
func (f *Facts) Permitted() error {
	if f.Caps["CAP_SYS_ADMIN"] || f.Caps["CAP_BPF"] && f.Caps["CAP_PERFMON"] {
		if f.Lockdown != "confidentiality" {
			return nil
		}
	}
	cause, next := f.missingCapability()
	return &Error{Object: "recording", What: "not permitted", Cause: cause, Next: next, Kind: CannotRun, Err: unix.EPERM}
}
