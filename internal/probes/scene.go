// SPDX-License-Identifier: Apache-2.0

package probes

import (
	"encoding/binary"
	"maps"
	"net"
	"slices"
	"syscall"

	"github.com/vishvananda/netlink"
	"github.com/vishvananda/netlink/nl"
	"golang.org/x/sys/unix"

	"github.com/txtrace/txtrace/internal/capture"
	"github.com/txtrace/txtrace/internal/event"
)

// ownNSID stands for the namespace of the socket, whose messages have no
// number.
const ownNSID = -1

// scene is what netlink told of devices and qdiscs. A message that tells
// nothing new makes no notice: the kernel sends one for every little change.
type scene struct {
	own     uint32
	netns   map[int]uint32 // inodes of the namespaces by their number
	devices map[DeviceID]device
	qdiscs  map[qdiscID]string // kinds
}

// device is what of a device is worth a notice when it changes.
type device struct {
	name   string
	queues int
	mtu    int
	up     bool
	state  netlink.LinkOperState
}

type qdiscID struct {
	DeviceID
	handle, parent uint32
}

func newScene(own uint32) scene {
	return scene{own, map[int]uint32{ownNSID: own}, map[DeviceID]device{}, map[qdiscID]string{}}
}

// message takes one from the namespace of a number.
func (s *scene) message(nsid int, m *syscall.NetlinkMessage) []event.Notice {
	netns, ok := s.netns[nsid]
	if !ok {
		return nil
	}
	gone := false
	switch m.Header.Type {
	case unix.RTM_DELLINK:
		gone = true
		fallthrough
	case unix.RTM_NEWLINK:
		// Bridges tell of their ports with the same messages.
		if len(m.Data) < unix.SizeofIfInfomsg || m.Data[0] != unix.AF_UNSPEC {
			return nil
		}
		header := unix.NlMsghdr(m.Header)
		l, err := netlink.LinkDeserialize(&header, m.Data)
		if err != nil {
			return nil
		}
		if a := l.Attrs(); gone {
			return s.removed(DeviceID{netns, uint32(a.Index)})
		} else {
			return s.link(netns, a)
		}
	case unix.RTM_DELQDISC:
		gone = true
		fallthrough
	case unix.RTM_NEWQDISC:
		q, ifindex, err := qdisc(m.Data)
		if err != nil {
			return nil
		}
		if gone {
			q.Kind = ""
		}
		return s.qdisc(DeviceID{netns, ifindex}, q.Qdisc)
	case unix.RTM_DELNSID:
		if nsid == ownNSID { // others have numbers of their own for their peers
			return s.ended(m.Data)
		}
	}
	return nil
}

func (s *scene) link(netns uint32, a *netlink.LinkAttrs) []event.Notice {
	id := DeviceID{netns, uint32(a.Index)}
	now := device{a.Name, a.NumTxQueues, a.MTU, a.Flags&net.FlagUp != 0, a.OperState}
	old, ok := s.devices[id]
	if ok && now == old {
		return nil
	}
	s.devices[id] = now
	n := event.Notice{Subtype: event.NoticeDevAdded, Before: uint64(old.mtu), After: uint64(now.mtu)}
	if ok {
		n.Subtype = event.NoticeDevChanged
	}
	return []event.Notice{id.notice(n, now.name)}
}

// removed forgets a device and its qdiscs.
func (s *scene) removed(id DeviceID) []event.Notice {
	old := s.devices[id]
	delete(s.devices, id)
	maps.DeleteFunc(s.qdiscs, func(q qdiscID, _ string) bool { return q.DeviceID == id })
	return []event.Notice{id.notice(event.Notice{Subtype: event.NoticeDevRemoved, Before: uint64(old.mtu)}, old.name)}
}

// qdisc takes one that is there, or with no kind one that is not any more.
func (s *scene) qdisc(of DeviceID, q capture.Qdisc) []event.Notice {
	id := qdiscID{of, q.Handle, q.Parent}
	old, ok := s.qdiscs[id]
	switch {
	case q.Kind == "":
		delete(s.qdiscs, id)
	case ok && q.Kind == old:
		return nil
	default:
		s.qdiscs[id] = q.Kind
	}
	n := event.Notice{Subtype: event.NoticeQdisc, Before: uint64(q.Parent), After: uint64(q.Handle)}
	return []event.Notice{of.notice(n, q.Kind)}
}

// ended takes the message that a namespace lost its number, which it keeps as
// long as it lives. Nothing more is heard of its devices.
func (s *scene) ended(b []byte) (notices []event.Notice) {
	skip := nl.NewRtGenMsg().Len()
	if len(b) < skip {
		return nil
	}
	attrs, err := nl.ParseRouteAttr(b[skip:])
	if err != nil {
		return nil
	}
	for _, a := range attrs {
		if a.Attr.Type != unix.NETNSA_NSID || len(a.Value) < 4 {
			continue
		}
		if id := int(nativeInt32(a.Value)); id != ownNSID {
			notices = append(notices, s.forget(id)...)
		}
	}
	return notices
}

// number gives a namespace its number, unless another one has it.
func (s *scene) number(id int, netns uint32) bool {
	if has, ok := s.netns[id]; ok && has != netns {
		return false
	}
	s.netns[id] = netns
	return true
}

// keep forgets the namespaces that are not there any more.
func (s *scene) keep(there map[uint32]bool) (notices []event.Notice) {
	for id, netns := range s.netns {
		if id != ownNSID && !there[netns] {
			notices = append(notices, s.forget(id)...)
		}
	}
	return notices
}

// forget drops the namespace of a number, with all that was in it.
func (s *scene) forget(id int) []event.Notice {
	netns, ok := s.netns[id]
	if !ok {
		return nil
	}
	delete(s.netns, id)
	return s.all(netns, nil, nil)
}

// all takes everything that is in a namespace; what was there before and is
// not is gone.
func (s *scene) all(netns uint32, links []netlink.Link, qdiscs map[uint32][]capture.QdiscCounters) (notices []event.Notice) {
	there := map[DeviceID]bool{}
	for _, l := range links {
		there[DeviceID{netns, uint32(l.Attrs().Index)}] = true
	}
	for _, id := range s.known(netns) {
		if !there[id] {
			notices = append(notices, s.removed(id)...)
		}
	}
	for _, l := range links {
		a := l.Attrs()
		notices = append(notices, s.link(netns, a)...)
		of := DeviceID{netns, uint32(a.Index)}
		have := map[qdiscID]bool{}
		for _, q := range qdiscs[of.Ifindex] {
			have[qdiscID{of, q.Handle, q.Parent}] = true
			notices = append(notices, s.qdisc(of, q.Qdisc)...)
		}
		for id := range s.qdiscs {
			if id.DeviceID == of && !have[id] {
				notices = append(notices, s.qdisc(of, capture.Qdisc{Handle: id.handle, Parent: id.parent})...)
			}
		}
	}
	return notices
}

// known are the devices of a namespace, in the order of their indexes.
func (s *scene) known(netns uint32) (ids []DeviceID) {
	for id := range s.devices {
		if id.Netns == netns {
			ids = append(ids, id)
		}
	}
	slices.SortFunc(ids, func(a, b DeviceID) int { return int(a.Ifindex) - int(b.Ifindex) })
	return ids
}

// notice makes n one of this device.
func (id DeviceID) notice(n event.Notice, name string) event.Notice {
	n.Netns, n.Ifindex = id.Netns, id.Ifindex
	copy(n.Name[:len(n.Name)-1], name)
	return n
}

func nativeInt32(b []byte) int32 { return int32(binary.NativeEndian.Uint32(b)) }
