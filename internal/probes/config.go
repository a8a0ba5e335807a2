// SPDX-License-Identifier: Apache-2.0

package probes

import (
	"fmt"
	"math/rand/v2"
	"strings"
)

// DeviceID names a device: the namespace's inode number and the index in it.
type DeviceID struct {
	Netns   uint32
	Ifindex uint32
}

// Filter chooses whole queues, and for what belongs to a socket (throttles,
// their ends, picks) whole sockets; an empty list filters nothing. Loopback is
// never recorded.
//
// Decision: a socket is of a cgroup when it was made in it or below it, as the
// kernel keeps it (sk_cgrp_data), and of a process when that has sent on it from
// one of its threads while recording: what a socket's owner is the kernel does
// not say. A packet without a socket is then nobody's, and its pick is left out.
type Filter struct {
	Ifnames []string // devices of these names, in any namespace that is not filtered out
	Netns   []uint32 // namespaces, by inode number
	Queues  []uint32 // queue indexes
	Qdiscs  []string // qdisc kinds
	Cgroup  string   // folder of a cgroup of version 2, empty: all
	PID     uint32   // of a process in this one's PID namespace, 0: all
}

// Config of a recording.
type Config struct {
	Tool         string // version, for the header
	Filter       Filter
	FilterText   []string // the filters as they were asked for, for the header
	With         []string // extras: names of Extras(), and PerPacket
	Stacks       []string // moments of capture.Moments at which stacks are taken
	SojournOneIn uint32   // enqueues to a stamp, 0: the default
	Backend      string   // auto, btf or kprobe
	KernelBTF    string   // BTF file, empty: the kernel's own
	RingBytes    uint64   // a power of two, at least a page
	RawAddresses bool
}

// Bounds of the filter lists, as bpf/config.h has them.
const (
	maxDevices = 16
	maxNetns   = 8
	maxQdiscs  = 4
	maxQueues  = 1024
)

// bpfConfig is struct tx_config of bpf/config.h.
type bpfConfig struct {
	AddressXor  uint64
	AddressMul  uint64
	WakeBytes   uint64
	Cgroup      uint64
	PidnsDev    uint64
	PidnsIno    uint64
	SkbTruesize uint32
	Ndevices    uint32
	Nnetns      uint32
	Nqdiscs     uint32
	Nqueues     uint32
	Weighs      uint32
	RT          uint32
	Pid         uint32
	Before512   uint32
	Pad         uint32
	Devices     [maxDevices]DeviceID
	Netns       [maxNetns]uint32
	Qdiscs      [maxQdiscs][16]byte
	Queues      [maxQueues / 64]uint64
}

// kernelSide is the configuration as the programs read it. devices are the
// ones that Filter.Ifnames named.
func (c *Config) kernelSide(f *Facts, p *Plan, devices []DeviceID) (*bpfConfig, error) {
	b := &bpfConfig{
		WakeBytes:   c.RingBytes / 4,
		SkbTruesize: f.Kernel.SkbTruesize,
		Ndevices:    uint32(len(devices)),
		Nnetns:      uint32(len(c.Filter.Netns)),
		Nqdiscs:     uint32(len(c.Filter.Qdiscs)),
		Nqueues:     uint32(len(c.Filter.Queues)),
	}
	if p.observes("run.weight") {
		b.Weighs = 1
	}
	if strings.Contains(f.Kernel.Version, "PREEMPT_RT") {
		b.RT = 1
	}
	if !f.Fields[atomicFetch] {
		b.Before512 = 1
	}
	if !c.RawAddresses {
		b.AddressXor, b.AddressMul = rand.Uint64(), rand.Uint64()|1
	}
	for _, l := range []struct {
		flag     string
		have, at int
	}{
		{"--filter-ifname", len(devices), maxDevices},
		{"--filter-netns", len(c.Filter.Netns), maxNetns},
		{"--filter-qdisc", len(c.Filter.Qdiscs), maxQdiscs},
	} {
		if l.have > l.at {
			return nil, &Error{Object: l.flag, What: fmt.Sprintf("%d names, %d at most", l.have, l.at), Kind: Usage,
				Cause: "the filter is a short list in the kernel", Next: "name fewer, or leave the filter out"}
		}
	}
	if err := c.Filter.sockets(b, f); err != nil {
		return nil, err
	}
	copy(b.Devices[:], devices)
	copy(b.Netns[:], c.Filter.Netns)
	for i, kind := range c.Filter.Qdiscs {
		if len(kind) > 15 {
			return nil, &Error{Object: "--filter-qdisc " + kind, What: "no such kind of qdisc", Kind: Usage,
				Cause: "kinds have 15 letters at most", Next: "tc qdisc show names the kinds in use"}
		}
		copy(b.Qdiscs[i][:], kind)
	}
	for _, q := range c.Filter.Queues {
		if q >= maxQueues {
			return nil, &Error{Object: fmt.Sprintf("--filter-queue %d", q), What: "out of range", Kind: Usage,
				Cause: fmt.Sprintf("queues are filtered up to %d", maxQueues-1), Next: "leave the filter out"}
		}
		b.Queues[q/64] |= 1 << (q % 64)
	}
	return b, nil
}
