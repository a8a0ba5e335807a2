// SPDX-License-Identifier: Apache-2.0

package probes

import (
	"fmt"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/safchain/ethtool"
	"github.com/vishvananda/netlink"

	"github.com/txtrace/txtrace/internal/capture"
)

// world is the devices and counters of every namespace at one moment.
type world struct {
	devices  []capture.Device
	counters []capture.Counters
}

// lookAround reads the devices of the namespaces, loopback left out. With
// brief only the counters are read. What cannot be read is left out: a
// recording does not fail for want of a ring size.
func lookAround(all []namespace, brief bool) world {
	var w world
	for _, ns := range all {
		_ = ns.doWithSys(func(own bool) error {
			links, err := netlink.LinkList()
			if err != nil {
				return err
			}
			qdiscs, err := qdiscCounters()
			if err != nil {
				return err
			}
			var et *ethtool.Ethtool
			if !brief {
				if et, err = ethtool.NewEthtool(); err == nil {
					defer et.Close()
				}
			}
			for _, l := range links {
				if l.Attrs().Flags&net.FlagLoopback != 0 {
					continue
				}
				w.add(ns, l, qdiscs, et, own, brief)
			}
			return nil
		})
	}
	return w
}

// countersNow reads the counters of every namespace that is there.
func countersNow() ([]capture.Counters, error) {
	all, err := namespaces()
	if err != nil {
		return nil, err
	}
	defer closeAll(all)
	return lookAround(all, true).counters, nil
}

func (w *world) add(ns namespace, l netlink.Link, qdiscs map[uint32][]capture.QdiscCounters, et *ethtool.Ethtool, own, brief bool) {
	a := l.Attrs()
	c := capture.Counters{Netns: ns.inode, Ifindex: uint32(a.Index)}
	if s := a.Statistics; s != nil {
		c.TxPackets, c.TxBytes, c.TxDropped, c.TxErrors = s.TxPackets, s.TxBytes, s.TxDropped, s.TxErrors
	}
	c.Qdiscs = qdiscs[c.Ifindex]
	if own {
		c.BQL = queueLimits(a.Name)
	}
	w.counters = append(w.counters, c)
	if brief {
		return
	}
	d := capture.Device{
		Netns: ns.inode, NetnsName: ns.name, Ifindex: uint32(a.Index), Ifname: a.Name,
		MTU: uint32(a.MTU), TxQueues: uint32(a.NumTxQueues),
		GsoMaxSize: a.GSOMaxSize, GsoMaxSegs: a.GSOMaxSegs,
		BQL: c.BQL,
	}
	for _, q := range c.Qdiscs {
		d.Qdiscs = append(d.Qdiscs, q.Qdisc)
	}
	if own {
		if q, _ := filepath.Glob("/sys/class/net/" + a.Name + "/queues/tx-*"); len(q) > 0 {
			d.TxQueues = uint32(len(q)) // real_num_tx_queues: only those have a folder
		}
	}
	if et != nil {
		d.Driver, _ = et.DriverName(a.Name)
		d.Offloads, _ = et.Features(a.Name)
		if ring, err := et.GetRing(a.Name); err == nil {
			d.TxRing = ring.TxPending
		}
		d.Offloads = offloadsOfInterest(d.Offloads)
	}
	w.devices = append(w.devices, d)
}

// offloads a reader of a report wants to know, and those that rules go by
// (analysis.Device), as ethtool -k spells them in the kernel's feature strings.
var offloads = []string{
	"tx-scatter-gather", "tx-checksum-ip-generic", "tx-checksum-ipv4", "tx-tcp-segmentation", "tx-tcp6-segmentation",
	"tx-udp-segmentation", "tx-generic-segmentation", "rx-gro", "tx-nocache-copy",
	"esp-hw-offload", "esp-tx-csum-hw-offload",
}

func offloadsOfInterest(all map[string]bool) map[string]bool {
	m := map[string]bool{}
	for _, name := range offloads {
		if on, ok := all[name]; ok {
			m[name] = on
		}
	}
	if len(m) == 0 {
		return nil
	}
	return m
}

// queueLimits reads /sys/class/net/DEV/queues/tx-*/byte_queue_limits of the
// namespace that /sys shows.
func queueLimits(ifname string) []capture.QueueBQL {
	dirs, _ := filepath.Glob("/sys/class/net/" + ifname + "/queues/tx-*/byte_queue_limits")
	var all []capture.QueueBQL
	for _, dir := range dirs {
		var q capture.QueueBQL
		n, err := strconv.ParseUint(strings.TrimPrefix(filepath.Base(filepath.Dir(dir)), "tx-"), 10, 32)
		if err != nil {
			continue
		}
		q.Txq = uint32(n)
		for name, to := range map[string]*uint32{
			"limit": &q.Limit, "limit_min": &q.LimitMin, "limit_max": &q.LimitMax, "hold_time": &q.HoldMS, "inflight": &q.Inflight,
		} {
			*to = readNumber(filepath.Join(dir, name))
		}
		all = append(all, q)
	}
	slices.SortFunc(all, func(a, b capture.QueueBQL) int { return int(a.Txq) - int(b.Txq) })
	return all
}

func readNumber(path string) uint32 {
	b, err := os.ReadFile(path)
	if err != nil {
		return 0
	}
	n, _ := strconv.ParseUint(strings.TrimSpace(string(b)), 10, 32)
	return uint32(n)
}

// inFirst runs f in the namespace of process 1: net.core.dev_weight is global,
// but /proc/sys shows it there only.
func inFirst(f func()) {
	init, err := os.Open("/proc/1/ns/net")
	if err != nil {
		return
	}
	defer init.Close()
	_ = namespace{file: init}.do(func() error { f(); return nil })
}

// weights reads what a run's quota is made of.
func weights() (s capture.Settings) {
	read := func() {
		s.DevWeight = readNumber("/proc/sys/net/core/dev_weight")
		s.DevWeightTxBias = readNumber("/proc/sys/net/core/dev_weight_tx_bias")
	}
	if read(); s.DevWeight == 0 {
		inFirst(read)
	}
	return s
}

// settings reads the sysctls of the first namespace.
func settings() capture.Settings {
	s := weights()
	s.Sysctls = map[string]string{}
	inFirst(func() {
		for _, name := range []string{
			"net/core/default_qdisc", "net/core/gro_normal_batch", "net/core/netdev_budget", "net/core/netdev_budget_usecs",
			"net/core/qdisc_max_burst", "net/ipv4/tcp_limit_output_bytes", "net/ipv4/tcp_congestion_control",
		} {
			if b, err := os.ReadFile("/proc/sys/" + name); err == nil {
				s.Sysctls[strings.ReplaceAll(name, "/", ".")] = strings.TrimSpace(string(b))
			}
		}
	})
	return s
}

// resolve turns the names of --filter-ifname into identities.
func resolve(names []string, devices []capture.Device, netns []uint32) ([]DeviceID, error) {
	var ids []DeviceID
	for _, name := range names {
		found := false
		for _, d := range devices {
			if d.Ifname == name && (len(netns) == 0 || slices.Contains(netns, d.Netns)) {
				ids = append(ids, DeviceID{d.Netns, d.Ifindex})
				found = true
			}
		}
		if !found {
			var have []string
			for _, d := range devices {
				have = append(have, d.Ifname)
			}
			slices.Sort(have)
			return nil, &Error{Object: "--filter-ifname " + name, What: "no such device in any namespace", Kind: Usage,
				Cause: fmt.Sprintf("devices here: %s", strings.Join(slices.Compact(have), " ")), Next: "ip link shows their names"}
		}
	}
	return ids, nil
}
