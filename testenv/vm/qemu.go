// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"
)

// nicModels maps the NIC names of the command line to QEMU's device
// models; an empty model is a device that the guest makes by itself.
var nicModels = map[string]string{
	"none":    "",
	"e1000e":  "e1000e",
	"igb":     "igb",
	"virtio":  "virtio-net-pci",
	"vmxnet3": "vmxnet3",
	"rtl8139": "rtl8139",
	"veth":    "",
	"dummy":   "",
	faultnic:  "",
}

// share is a host folder that the guest mounts by 9p.
type share struct {
	tag      string
	path     string
	readonly bool
}

// machine is one guest, as QEMU is to build it.
type machine struct {
	kernel    string
	initramfs string
	append    string
	shares    []share
	nic       string // a key of nicModels
	smp       int
	memory    string
	kvm       bool
	icount    bool
	trace     string // QEMU trace event pattern, or empty
	traceFile string
	extra     []string
}

// hasKVM says whether QEMU may use the processor's virtualisation. A
// /dev/kvm on a processor without it belongs to a software KVM (PVM), which
// does not run a stock kernel.
func hasKVM() bool {
	f, err := os.OpenFile("/dev/kvm", os.O_RDWR, 0)
	if err != nil {
		return false
	}
	f.Close()
	cpuinfo, err := os.ReadFile("/proc/cpuinfo")
	return err == nil && virtualises(string(cpuinfo))
}

func virtualises(cpuinfo string) bool {
	for line := range strings.Lines(cpuinfo) {
		if name, flags, ok := strings.Cut(line, ":"); ok && strings.TrimSpace(name) == "flags" {
			f := strings.Fields(flags)
			return slices.Contains(f, "vmx") || slices.Contains(f, "svm")
		}
	}
	return false
}

// args is QEMU's command line.
func (m machine) args() []string {
	a := []string{
		"qemu-system-x86_64",
		"-M", "q35",
		"-m", m.memory,
		"-nodefaults", "-no-user-config", "-no-reboot",
		"-display", "none",
		"-chardev", "stdio,id=console,signal=off",
		"-serial", "chardev:console",
	}
	switch {
	case m.icount:
		// One thread, and guest time is a count of instructions.
		a = append(a, "-accel", "tcg,thread=single", "-icount", "shift=1,sleep=off", "-cpu", "max", "-smp", "1")
	case m.kvm:
		a = append(a, "-accel", "kvm", "-cpu", "host", "-smp", fmt.Sprint(m.smp))
	default:
		a = append(a, "-accel", "tcg,thread=multi", "-cpu", "max", "-smp", fmt.Sprint(m.smp))
	}
	a = append(a, "-kernel", m.kernel, "-initrd", m.initramfs, "-append", m.append)
	for _, s := range m.shares {
		ro := ""
		if s.readonly {
			ro = ",readonly=on"
		}
		a = append(a,
			"-fsdev", fmt.Sprintf("local,id=%s,path=%s,security_model=none,multidevs=remap%s", s.tag, escape(s.path), ro),
			"-device", fmt.Sprintf("virtio-9p-pci,fsdev=%s,mount_tag=%s", s.tag, s.tag))
	}
	if model := nicModels[m.nic]; model != "" {
		for i := range 2 {
			// A hub carries the link. Each NIC has a root port to itself,
			// since igb's virtual functions need the slots behind it, and an
			// empty ROM keeps the firmware from trying to boot from it.
			a = append(a,
				"-netdev", fmt.Sprintf("hubport,id=n%d,hubid=0", i),
				"-device", fmt.Sprintf("pcie-root-port,id=rp%d,chassis=%d", i, i+1),
				"-device", fmt.Sprintf("%s,netdev=n%d,bus=rp%d,mac=%s,romfile=", model, i, i, nicMAC(i)))
		}
	}
	if m.trace != "" {
		a = append(a, "-trace", "enable="+m.trace, "-D", m.traceFile)
	}
	return append(a, m.extra...)
}

// errNoModel says that this QEMU is too old for a NIC.
var errNoModel = errors.New("this QEMU does not have it: go run ./testenv/setup demo installs a newer one where QEMU is missing")

// checkModel asks QEMU for a NIC's model: igb came with 8.0.
func checkModel(ctx context.Context, nic string) error {
	model := nicModels[nic]
	if model == "" {
		return nil
	}
	// Of one that it does not have it says so, on stderr, with exit code 0.
	help, err := exec.CommandContext(ctx, "qemu-system-x86_64", "-device", model+",help").Output()
	if err == nil && len(help) == 0 {
		return errNoModel
	}
	return nil // without a QEMU the boot says so
}

// nicMAC is the hardware address of a NIC: the guest knows the NICs by it.
func nicMAC(i int) string { return fmt.Sprintf("52:54:00:00:00:%02x", i+1) }

// escape doubles the commas of an option's value, as QEMU wants it.
func escape(s string) string { return strings.ReplaceAll(s, ",", ",,") }

// shellQuote makes words into one line of sh.
func shellQuote(words []string) string {
	quoted := slices.Clone(words)
	for i, w := range quoted {
		if w == "" || strings.ContainsAny(w, " \t\n'\"\\$`!*?[]{}()<>|&;#~") {
			quoted[i] = "'" + strings.ReplaceAll(w, "'", `'\''`) + "'"
		}
	}
	return strings.Join(quoted, " ")
}
