// SPDX-License-Identifier: Apache-2.0

package probes

import (
	"sync"

	"github.com/vishvananda/netlink"
	"github.com/vishvananda/netns"
	"golang.org/x/sys/unix"

	"github.com/txtrace/txtrace/internal/event"
)

// watcher collects what netlink tells of devices in the namespaces that were
// there when recording began.
type watcher struct {
	mu   sync.Mutex
	seen []event.Notice
	stop chan struct{}
}

// watch subscribes in every namespace; one that refuses is left unwatched.
func watch(all []namespace) *watcher {
	w := &watcher{stop: make(chan struct{})}
	for _, ns := range all {
		updates := make(chan netlink.LinkUpdate, 64)
		handle := netns.NsHandle(ns.file.Fd())
		err := netlink.LinkSubscribeWithOptions(updates, w.stop, netlink.LinkSubscribeOptions{
			Namespace: &handle, ErrorCallback: func(error) {},
		})
		if err == nil {
			go w.follow(ns.inode, updates)
		}
	}
	return w
}

// follow turns link messages of one namespace into notices. The kernel sends
// one for every little change of a device, so what did not change is left out.
func (w *watcher) follow(inode uint32, updates <-chan netlink.LinkUpdate) {
	type state struct {
		name  string
		queue int
		mtu   int
		up    bool
	}
	known := map[int]state{}
	for u := range updates {
		a := u.Attrs()
		now := state{a.Name, a.NumTxQueues, a.MTU, a.OperState == netlink.OperUp}
		old, ok := known[a.Index]
		subtype := uint8(event.NoticeDevChanged)
		if u.Header.Type == unix.RTM_DELLINK {
			subtype = event.NoticeDevRemoved
			delete(known, a.Index)
		} else {
			known[a.Index] = now
			if ok && now == old {
				continue
			}
			if u.IfInfomsg.Change == ^uint32(0) && !ok {
				subtype = event.NoticeDevAdded
			}
		}
		n := event.Notice{Subtype: subtype, Before: uint64(old.mtu), After: uint64(now.mtu)}
		n.Time, n.Txq, n.Netns, n.Ifindex = clocks().Monotonic, event.NoQueue, inode, uint32(a.Index)
		copy(n.Name[:len(n.Name)-1], a.Name)
		w.mu.Lock()
		w.seen = append(w.seen, n)
		w.mu.Unlock()
	}
}

// take returns and forgets the notices so far.
func (w *watcher) take() []event.Notice {
	w.mu.Lock()
	defer w.mu.Unlock()
	n := w.seen
	w.seen = nil
	return n
}

func (w *watcher) close() { close(w.stop) }
