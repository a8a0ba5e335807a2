// SPDX-License-Identifier: Apache-2.0

package probes

import (
	"errors"
	"fmt"
	"os"
	"sync"
	"syscall"

	"github.com/vishvananda/netlink"
	"golang.org/x/sys/unix"

	"github.com/txtrace/txtrace/internal/event"
)

// watcher collects what netlink tells of the devices and qdiscs of every
// namespace that was added.
//
// Decision: one socket hears all namespaces that have a number in its own
// (NETLINK_LISTEN_ALL_NSID), and one that has none is given a number, as the
// kernel does when it tells of a veth whose peer is there. A socket in each
// namespace, or an open file, would keep it and its devices alive after
// ip netns del for as long as the recording lasts.
type watcher struct {
	file *os.File
	conn syscall.RawConn
	done chan struct{} // closed when follow is; nil before

	mu    sync.Mutex
	scene scene
	seen  []event.Notice
	lost  bool // messages were, since the last take
}

// newWatcher subscribes. What is told from now on waits for follow.
func newWatcher() (*watcher, error) {
	own, err := inodeOf("/proc/thread-self/ns/net")
	if err != nil {
		return nil, err
	}
	fd, err := unix.Socket(unix.AF_NETLINK, unix.SOCK_RAW|unix.SOCK_CLOEXEC|unix.SOCK_NONBLOCK, unix.NETLINK_ROUTE)
	if err != nil {
		return nil, fmt.Errorf("netlink: %w", err)
	}
	// Without CAP_NET_ADMIN only the own namespace is heard, and a burst of
	// changes is lost sooner.
	_ = unix.SetsockoptInt(fd, unix.SOL_NETLINK, unix.NETLINK_LISTEN_ALL_NSID, 1)
	_ = unix.SetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_RCVBUFFORCE, 1<<20)
	groups := uint32(1<<(unix.RTNLGRP_LINK-1) | 1<<(unix.RTNLGRP_TC-1) | 1<<(unix.RTNLGRP_NSID-1))
	if err := unix.Bind(fd, &unix.SockaddrNetlink{Family: unix.AF_NETLINK, Groups: groups}); err != nil {
		unix.Close(fd)
		return nil, fmt.Errorf("netlink: subscribe to devices and qdiscs: %w", err)
	}
	w := &watcher{file: os.NewFile(uintptr(fd), "netlink"), scene: newScene(own)}
	if w.conn, err = w.file.SyscallConn(); err != nil {
		w.file.Close()
		return nil, fmt.Errorf("netlink: %w", err)
	}
	return w, nil
}

// add begins to watch a namespace, and tells of what is there: of all that is
// not known yet. One that refuses is left unwatched.
func (w *watcher) add(ns namespace) {
	id := ownNSID
	if ns.inode != w.scene.own {
		fd := int(ns.file.Fd())
		_ = netlink.SetNetNsIdByFd(fd, -1) // any; fails when it has one
		var err error
		if id, err = netlink.GetNetNsIdByFd(fd); err != nil || id < 0 {
			return
		}
	}
	w.mu.Lock()
	free := w.scene.number(id, ns.inode)
	w.mu.Unlock()
	if !free {
		return // the end of the one before is not heard yet: tried again
	}
	// What changes while it is looked at comes as a message, too.
	_ = ns.do(func() error {
		links, err := netlink.LinkList()
		if err != nil {
			return err
		}
		qdiscs, err := qdiscCounters()
		if err != nil {
			return err
		}
		w.mu.Lock()
		defer w.mu.Unlock()
		w.see(w.scene.all(ns.inode, links, qdiscs))
		return nil
	})
}

// see keeps notices until they are taken; w.mu is held.
func (w *watcher) see(notices []event.Notice) {
	now := clocks().Monotonic
	for i := range notices {
		notices[i].Time, notices[i].Txq = now, event.NoQueue
	}
	w.seen = append(w.seen, notices...)
}

// follow hears messages until the watcher is closed, and calls changed after
// each that told of a change.
func (w *watcher) follow(changed func()) {
	w.done = make(chan struct{})
	go func() {
		defer close(w.done)
		buf, oob := make([]byte, 1<<16), make([]byte, 256)
		for {
			n, nsid, err := w.receive(buf, oob)
			switch {
			case errors.Is(err, unix.ENOBUFS):
				w.mu.Lock()
				w.lost = true
				w.mu.Unlock()
				changed()
				continue
			case err != nil: // closed
				return
			}
			if w.heard(nsid, buf[:n]) {
				changed()
			}
		}
	}()
}

// receive waits for messages of the kernel, all from one namespace.
func (w *watcher) receive(buf, oob []byte) (n, nsid int, err error) {
	for {
		var from unix.Sockaddr
		var oobn int
		err := w.conn.Read(func(fd uintptr) bool {
			n, oobn, _, from, err = unix.Recvmsg(int(fd), buf, oob, 0)
			return !errors.Is(err, unix.EAGAIN)
		})
		if err != nil {
			return 0, 0, err
		}
		if sa, ok := from.(*unix.SockaddrNetlink); ok && sa.Pid == 0 {
			return n, nsidOf(oob[:oobn]), nil
		}
	}
}

// nsidOf is the number of the namespace that a message is from.
func nsidOf(oob []byte) int {
	all, err := unix.ParseSocketControlMessage(oob)
	if err != nil {
		return ownNSID
	}
	for _, c := range all {
		if c.Header.Level == unix.SOL_NETLINK && c.Header.Type == unix.NETLINK_LISTEN_ALL_NSID && len(c.Data) >= 4 {
			return int(nativeInt32(c.Data))
		}
	}
	return ownNSID
}

// heard takes what one datagram tells, and says whether anything changed.
func (w *watcher) heard(nsid int, b []byte) bool {
	msgs, err := syscall.ParseNetlinkMessage(b)
	w.mu.Lock()
	defer w.mu.Unlock()
	w.lost = w.lost || err != nil
	before := len(w.seen)
	for i := range msgs {
		w.see(w.scene.message(nsid, &msgs[i]))
	}
	return len(w.seen) > before
}

// take returns and forgets the notices so far. lost says that some are missing
// before the last of them: every namespace is to be added again.
func (w *watcher) take() (seen []event.Notice, lost bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	seen, lost = w.seen, w.lost
	w.seen, w.lost = nil, false
	return seen, lost
}

// again looks at every namespace, after messages were lost.
func (w *watcher) again(all []namespace) {
	there := map[uint32]bool{}
	for _, ns := range all {
		there[ns.inode] = true
	}
	w.mu.Lock()
	w.see(w.scene.keep(there))
	w.mu.Unlock()
	for _, ns := range all {
		w.add(ns)
	}
}

// watches says whether a namespace was added and is still there.
func (w *watcher) watches(inode uint32) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, n := range w.scene.netns {
		if n == inode {
			return true
		}
	}
	return false
}

// close ends follow and waits for it.
func (w *watcher) close() {
	w.file.Close()
	if w.done != nil {
		<-w.done
	}
}
