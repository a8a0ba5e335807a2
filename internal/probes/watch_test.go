// SPDX-License-Identifier: Apache-2.0

package probes

import (
	"bufio"
	"bytes"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/vishvananda/netlink"
	"github.com/vishvananda/netns"
	"golang.org/x/sys/unix"

	"github.com/txtrace/txtrace/internal/event"
)

const recorded = "testdata/netlink.txt"

// toldOf are the notices of what TestWatcher does, which is also what was done
// when the messages in testdata were recorded.
var toldOf = []string{
	"own added right 0>1500",
	"own added left 0>1500",
	"own changed west 1500>1500",
	"own qdisc pfifo 1: at root",
	"own qdisc - 1: at root", // replaced: both in one datagram
	"own qdisc bfifo 2: at root",
	"own changed west 1500>1400",
	"own added bridge 0>1500", // its port comes and goes, and is no device that does
	"own changed bridge 1500>1400",
	"own changed bridge 1400>1500",
	"own removed right 1500>0", // moved
	"other added right 0>1500",
	"other removed lo 65536>0", // the namespace ended
	"other removed right 1500>0",
	"own removed west 1400>0", // and its peer with it
}

// What is done to devices and qdiscs is told, of a namespace made under
// recording as well. Watching does not keep that alive, and leaves nothing open.
func TestWatcher(t *testing.T) {
	runtime.LockOSThread() // in a namespace of its own: never unlocked
	if err := unix.Unshare(unix.CLONE_NEWNET); err != nil {
		t.Skipf("no network namespace: %v", err)
	}
	if err := unix.Access("/sys/module/bridge", unix.F_OK); err != nil {
		t.Skipf("no bridge: %v", err)
	}
	open := openFiles(t)
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	w, err := newWatcher()
	must(err)
	own := namespace{inode: w.scene.own}
	own.file, err = os.Open("/proc/thread-self/ns/net")
	must(err)
	w.add(own)
	w.take()
	other := makeNamespace(t)

	left := &netlink.Veth{LinkAttrs: netlink.LinkAttrs{Name: "left", Index: 11}, PeerName: "right"}
	if err := netlink.LinkAdd(left); errors.Is(err, unix.EOPNOTSUPP) {
		t.Skip("no veth")
	} else if err != nil {
		t.Fatal(err)
	}
	right, err := netlink.LinkByName("right")
	must(err)
	must(netlink.LinkSetName(left, "west"))
	at := netlink.QdiscAttrs{LinkIndex: left.Index, Parent: netlink.HANDLE_ROOT, Handle: netlink.MakeHandle(1, 0)}
	must(netlink.QdiscReplace(&netlink.GenericQdisc{QdiscAttrs: at, QdiscType: "pfifo"}))
	at.Handle = netlink.MakeHandle(2, 0)
	must(netlink.QdiscReplace(&netlink.GenericQdisc{QdiscAttrs: at, QdiscType: "bfifo"}))
	must(netlink.LinkSetMTU(left, 1400))
	bridge := &netlink.Bridge{LinkAttrs: netlink.LinkAttrs{Name: "bridge", Index: 13}}
	must(netlink.LinkAdd(bridge))
	must(netlink.LinkSetMaster(left, bridge))
	must(netlink.LinkSetNoMaster(left))
	w.add(other)
	must(netlink.LinkSetNsFd(right, int(other.file.Fd())))
	must(other.file.Close())

	must(w.file.SetReadDeadline(time.Now().Add(time.Minute))) // it is asked for what may never come
	var b bytes.Buffer
	var told []string
	buf, oob := make([]byte, 1<<16), make([]byte, 256)
	for len(told) == 0 || told[len(told)-1] != toldOf[len(toldOf)-1] {
		n, nsid, err := w.receive(buf, oob)
		must(err)
		fmt.Fprintln(&b, nsid, hex.EncodeToString(buf[:n]))
		w.heard(nsid, buf[:n])
		seen, lost := w.take()
		if lost {
			t.Fatal("messages were lost")
		}
		told = append(told, tell(seen, own.inode, other.inode)...)
	}
	if told[0] == "other added lo 0>65536" { // what add told
		told = told[1:]
	}
	if d := cmp.Diff(toldOf, told); d != "" {
		t.Error(d)
	}
	if w.watches(other.inode) {
		t.Error("the namespace is still watched")
	}
	w.follow(func() {})
	w.close()
	own.file.Close()
	if now := openFiles(t); now != open {
		t.Errorf("%d files are open, %d were", now, open)
	}
	if os.Getenv("UPDATE") != "" {
		must(os.WriteFile(recorded, b.Bytes(), 0o644))
	}
}

// Messages that a kernel 6.1 sent, of the same changes, say the same.
func TestScene(t *testing.T) {
	f, err := os.Open(recorded)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	const own, other = 100, 200
	w := &watcher{scene: newScene(own)}
	w.scene.netns[0] = other
	w.scene.devices[DeviceID{other, 1}] = device{name: "lo", queues: 1, mtu: 65536, state: netlink.OperDown}
	lines := bufio.NewScanner(f)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		id, text, _ := strings.Cut(lines.Text(), " ")
		nsid, err := strconv.Atoi(id)
		if err != nil {
			t.Fatal(err)
		}
		b, err := hex.DecodeString(text)
		if err != nil {
			t.Fatal(err)
		}
		w.heard(nsid, b)
		if m, err := syscall.ParseNetlinkMessage(b); err != nil {
			t.Fatal(err)
		} else if m[0].Header.Type == unix.RTM_DELNSID {
			there := &watcher{scene: newScene(own)}
			there.scene.netns[0] = other
			if there.heard(0, b); !there.watches(other) {
				t.Error("another namespace's number for one is taken for the own")
			}
			if there.heard(ownNSID, b); there.watches(other) {
				t.Error("still watched")
			}
		}
		for _, n := range []int{0, 1, 17, len(b) - 1} { // no message is trusted to be whole
			broken := &watcher{scene: newScene(own)}
			broken.heard(nsid, b[:min(n, len(b))])
		}
	}
	seen, lost := w.take()
	if lost {
		t.Error("lost")
	}
	if d := cmp.Diff(toldOf, tell(seen, own, other)); d != "" {
		t.Error(d)
	}
}

// A namespace is looked at again after messages were lost: what differs is told.
func TestSceneAgain(t *testing.T) {
	s := newScene(1)
	link := func(index int, name string) netlink.Link {
		return &netlink.Dummy{LinkAttrs: netlink.LinkAttrs{Index: index, Name: name}}
	}
	s.all(1, []netlink.Link{link(1, "lo"), link(2, "a"), link(3, "b")}, nil)
	again := s.all(1, []netlink.Link{link(1, "lo"), link(3, "c"), link(4, "d")}, nil)
	want := []string{"own removed a 0>0", "own changed c 0>0", "own added d 0>0"}
	if d := cmp.Diff(want, tell(again, 1, 2)); d != "" {
		t.Error(d)
	}
}

// The number of a namespace is another one's only after its end was heard, or
// it was not found after messages were lost.
func TestSceneNumbers(t *testing.T) {
	s := newScene(1)
	for _, again := range []bool{false, true} {
		if !s.number(0, 7) || s.number(0, 8) {
			t.Errorf("a number has two namespaces, or none (again: %v)", again)
		}
	}
	s.all(7, []netlink.Link{&netlink.Dummy{LinkAttrs: netlink.LinkAttrs{Index: 2, Name: "a"}}}, nil)
	if n := s.keep(map[uint32]bool{7: true}); len(n) > 0 {
		t.Error(tell(n, 1, 7))
	}
	if d := cmp.Diff([]string{"other removed a 0>0"}, tell(s.keep(nil), 1, 7)); d != "" {
		t.Error(d)
	}
	if !s.number(0, 8) || s.netns[ownNSID] != 1 {
		t.Error(s.netns)
	}
}

// A namespace that a record names is looked for at once, and a few times more
// when nobody holds it; one that is watched is not.
func TestStrangers(t *testing.T) {
	var s strangers
	watched := map[uint32]bool{7: true}
	watches := func(n uint32) bool { return watched[n] }
	record := func(netns uint32) {
		e := &event.Wfree{}
		e.Netns = netns
		s.record(event.Append(nil, e))
	}
	record(7)
	record(0)
	s.record(nil)
	if s.due(watches, false) {
		t.Error("a namespace that is watched is looked for")
	}
	record(9)
	if !s.due(watches, false) || s.due(watches, false) {
		t.Error("not looked for once")
	}
	for n := 1; n < mostTries; n++ {
		if !s.due(watches, true) {
			t.Errorf("given up after %d times", n)
		}
	}
	if s.due(watches, true) {
		t.Error("never given up")
	}
	watched[9] = true
	record(9)
	s.due(watches, false)
	watched[9] = false // another one has its number
	record(9)
	if !s.due(watches, false) {
		t.Error("not looked for again")
	}
}

// makeNamespace makes one that ends with its file.
func makeNamespace(t *testing.T) namespace {
	t.Helper()
	here, err := netns.Get()
	if err != nil {
		t.Fatal(err)
	}
	defer here.Close()
	there, err := netns.New()
	if err != nil {
		t.Fatal(err)
	}
	if err := netns.Set(here); err != nil {
		t.Fatal(err)
	}
	file := os.NewFile(uintptr(there), "netns")
	inode, err := inodeOf(fmt.Sprintf("/proc/self/fd/%d", file.Fd()))
	if err != nil {
		t.Fatal(err)
	}
	return namespace{inode: inode, file: file}
}

// tell spells notices.
func tell(notices []event.Notice, own, other uint32) (told []string) {
	for _, n := range notices {
		name := event.Text(n.Name[:])
		s := map[uint32]string{own: "own ", other: "other "}[n.Netns]
		switch n.Subtype {
		case event.NoticeQdisc:
			if name == "" {
				name = "-"
			}
			at := "root"
			if n.Before != netlink.HANDLE_ROOT {
				at = netlink.HandleStr(uint32(n.Before))
			}
			told = append(told, fmt.Sprintf("%sqdisc %s %x: at %s", s, name, n.After>>16, at))
			continue
		case event.NoticeDevAdded:
			s += "added"
		case event.NoticeDevRemoved:
			s += "removed"
		case event.NoticeDevChanged:
			s += "changed"
		}
		told = append(told, fmt.Sprintf("%s %s %d>%d", s, name, n.Before, n.After))
	}
	return told
}

func openFiles(t *testing.T) int {
	t.Helper()
	files, err := os.ReadDir("/proc/self/fd")
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		t.Fatal(err)
	}
	return len(files)
}
