// SPDX-License-Identifier: Apache-2.0

package analysis

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/txtrace/txtrace/internal/capture"
	"github.com/txtrace/txtrace/internal/event"
)

// joined writes down what the rebuild gives out, one line a decision.
type joined struct {
	r   *rebuild
	out []string
	seq map[uint16]uint32
}

func newJoined() *joined {
	j := &joined{seq: map[uint16]uint32{}}
	h := &capture.Header{
		Settings: capture.Settings{DevWeight: 64, DevWeightTxBias: 1},
		Devices:  []capture.Device{{Netns: 1, Ifindex: 2, Ifname: "eth0"}, {Netns: 1, Ifindex: 3, Ifname: "bond0"}},
	}
	j.r = newRebuild(h, &gaps{})
	say := func(format string, args ...any) { j.out = append(j.out, fmt.Sprintf(format, args...)) }
	j.r.fan.add(Checks{
		Run: func(r *Run) {
			var s []string
			for _, rs := range r.Restarts {
				part := "-"
				if rs.Batch != nil {
					part = fmt.Sprintf("%d %s", rs.Batch.Packets, rs.Batch.Origin)
				}
				if rs.Direct != nil {
					part += ">direct"
					if rs.Direct.Handover != nil {
						part += ">handover"
					}
				}
				s = append(s, part)
			}
			say("run %s whole=%v [%s]", r.Queue.Ifname, r.Whole, strings.Join(s, ", "))
		},
		Batch: func(b *Batch) {
			if b.Run == nil {
				say("batch alone %d", b.Packets)
			}
		},
		Direct: func(d *Direct) {
			if d.Run == nil {
				say("direct alone bypass=%v handover=%v whole=%v", d.Bypass(), d.Handover != nil, d.Whole)
			}
		},
		Handover: func(h *Handover) {
			if h.Direct == nil {
				say("handover alone %s", h.Queue.Ifname)
			}
		},
	})
	return j
}

// put feeds a record; begin is that of a span, parent that of the span around.
func (j *joined) put(r event.Any, cpu uint16, pid uint32, begin, end, parent uint64) {
	h := r.Head()
	h.CPU, h.Pid, h.Time, h.Dur, h.Parent = cpu, pid, end, uint32(end-begin), uint32(parent)
	h.Seq = j.seq[cpu]
	j.seq[cpu]++
	if h.Ifindex == 0 {
		h.Ifindex = 2
	}
	h.Netns = 1
	j.r.item(capture.Item{Record: r})
}

func (j *joined) gap(cpu uint16, from, to uint64) {
	j.r.item(capture.Item{Gap: &capture.Gap{CPU: cpu, FromNS: from, ToNS: to, Lost: 1}})
}

func (j *joined) expect(t *testing.T, want ...string) {
	t.Helper()
	if !slices.Equal(j.out, want) {
		t.Errorf("got\n  %s\nwant\n  %s", strings.Join(j.out, "\n  "), strings.Join(want, "\n  "))
	}
}

const one = event.QdiscOneTxQueue

// restart feeds one restart of the run that began at run.
func (j *joined) restart(cpu uint16, pid uint32, run, at uint64, first uint64) {
	j.put(&event.Dequeue{First: first, Packets: 2, Walked: 2, QdiscFlags: one}, cpu, pid, at, at, run)
	j.put(&event.Direct{First: first, Validate: 1, Result: 1, From: event.FromDequeue, Handovers: 1}, cpu, pid, at+1, at+4, run)
}

func TestTree(t *testing.T) {
	j := newJoined()
	j.restart(0, 5, 100, 110, 1)
	j.restart(0, 5, 100, 120, 2)
	j.put(&event.Run{Packets: 4, Dequeues: 2, Directs: 2, QdiscFlags: one}, 0, 5, 100, 130, 0)
	j.expect(t, "run eth0 whole=true [2 fresh>direct>handover, 2 fresh>direct>handover]")
}

// A run inside of another device's hand-over, in a hard interrupt's frame too.
func TestTreeNests(t *testing.T) {
	j := newJoined()
	j.put(&event.Dequeue{Header: event.Header{Ifindex: 3}, First: 9, Packets: 1, Walked: 1, QdiscFlags: one}, 0, 5, 50, 50, 40)
	j.restart(0, 5, 100, 110, 1)
	j.put(&event.Run{Packets: 2, Dequeues: 1, Directs: 1, QdiscFlags: one}, 0, 5, 100, 130, 61)
	j.put(&event.Direct{Header: event.Header{Ifindex: 3}, First: 9, Validate: 1, Result: 1, From: event.FromDequeue, Handovers: 1}, 0, 5, 60, 150, 40)
	j.put(&event.Run{Header: event.Header{Ifindex: 3}, Packets: 1, Dequeues: 1, Directs: 1, QdiscFlags: one}, 0, 5, 40, 160, 0)
	j.expect(t,
		"run eth0 whole=true [2 fresh>direct>handover]",
		"run bond0 whole=true [1 fresh>direct>handover]")
}

// PREEMPT_RT: two tasks take turns on one CPU.
func TestTreeInterleaves(t *testing.T) {
	j := newJoined()
	j.put(&event.Dequeue{First: 1, Packets: 2, Walked: 2, QdiscFlags: one}, 0, 5, 110, 110, 100)
	j.restart(0, 6, 200, 210, 7)
	j.put(&event.Run{Packets: 2, Dequeues: 1, Directs: 1, QdiscFlags: one}, 0, 6, 200, 230, 0)
	j.put(&event.Direct{First: 1, Validate: 1, Result: 1, From: event.FromDequeue, Handovers: 1}, 0, 5, 111, 240, 100)
	j.put(&event.Run{Packets: 2, Dequeues: 1, Directs: 1, QdiscFlags: one}, 0, 5, 100, 250, 0)
	j.expect(t,
		"run eth0 whole=true [2 fresh>direct>handover]",
		"run eth0 whole=true [2 fresh>direct>handover]")
}

// Hand-overs without a qdisc, below a frame that leaves no record.
func TestTreeAlone(t *testing.T) {
	j := newJoined()
	j.put(&event.Handover{Hand: event.Hand{Packets: 1}}, 0, 5, 100, 110, 0)
	j.expect(t, "handover alone eth0")
	j.put(&event.Handover{Hand: event.Hand{Packets: 1}}, 0, 5, 210, 220, 200) // in net_tx_action
	j.expect(t, "handover alone eth0")                                        // its parent may still come
	j.put(&event.Handover{Hand: event.Hand{Packets: 1}}, 0, 5, 310, 320, 300)
	j.expect(t, "handover alone eth0") // which may be inside of that parent
	j.put(&event.Direct{First: 4, Validate: 1, Result: 1, From: event.FromBypass, Handovers: 1}, 0, 5, 401, 404, 0)
	j.expect(t, "handover alone eth0", "handover alone eth0", "handover alone eth0", "direct alone bypass=true handover=true whole=true")
}

// A parent that never comes, a child that is missing.
func TestTreeLoses(t *testing.T) {
	j := newJoined()
	j.restart(0, 5, 100, 110, 1) // its run is lost
	j.gap(0, 114, 200)
	j.put(&event.Dequeue{First: 3, Packets: 2, Walked: 2, QdiscFlags: one}, 0, 5, 210, 210, 205)
	j.expect(t)        // the run that began at 205 may be inside of the lost one
	j.gap(0, 210, 230) // the direct
	j.put(&event.Run{Packets: 2, Dequeues: 1, Directs: 1, QdiscFlags: one}, 0, 5, 205, 240, 0)
	j.expect(t, "batch alone 2", "direct alone bypass=false handover=true whole=true", "run eth0 whole=false [2 fresh]")
}

// A run that was under way when recording began proves nothing by what it
// lacks.
func TestTreePartial(t *testing.T) {
	j := newJoined()
	j.put(&event.Dequeue{Header: event.Header{Flags: event.FlagPartial}, First: 1, Packets: 2, Walked: 2, QdiscFlags: one}, 0, 5, 110, 110, 0)
	j.put(&event.Run{Header: event.Header{Flags: event.FlagPartial}, QdiscFlags: one}, 0, 5, 120, 120, 0)
	j.expect(t, "batch alone 2", "run eth0 whole=false []")
}

// What waits for parents that never come is bounded.
func TestTreeBounded(t *testing.T) {
	j := newJoined()
	for i := range uint64(3 * maxWaiting) {
		j.put(&event.Dequeue{Packets: 1}, 0, uint32(i), 1000+i, 1000+i, 900) // each of another task
	}
	if n := len(j.r.lanes[1].wait); n > maxWaiting {
		t.Error(n)
	}
	j.r.end()
	if len(j.out) != 3*maxWaiting {
		t.Error(len(j.out))
	}
}

// Where a batch came from.
func TestOrigin(t *testing.T) {
	for name, c := range map[string]struct {
		after, before func(*event.Direct)  // the restart before, and this one's direct
		batch         func(*event.Dequeue) // this one's batch
		want          Origin
		sure          bool
	}{
		"fresh":                 {nil, nil, nil, OriginFresh, true},
		"some stay in gso_skb":  {nil, nil, func(b *event.Dequeue) { b.GsoQlen = 1 }, OriginGSOSkb, true},
		"the last of gso_skb":   {func(d *event.Direct) { d.GsoQlenEnd = 1 }, nil, nil, OriginGSOSkb, true},
		"not validated":         {nil, func(d *event.Direct) { d.Validate = 0 }, nil, OriginGSOSkb, false},
		"parked in skb_bad_txq": {func(d *event.Direct) { d.BadQlenEnd = 2 }, nil, func(b *event.Dequeue) { b.BadQlen = 1 }, OriginBadTxq, true},
	} {
		j := newJoined()
		var got Batch
		j.r.fan.add(Checks{Batch: func(b *Batch) { got = *b }})
		d := &event.Direct{First: 1, Validate: 1, Result: 1, From: event.FromDequeue}
		if c.after != nil {
			c.after(d)
		}
		j.put(&event.Dequeue{First: 1, Packets: 1, Walked: 1, QdiscFlags: one}, 0, 5, 110, 110, 100)
		j.put(d, 0, 5, 111, 114, 100)
		b := &event.Dequeue{First: 2, Packets: 1, Walked: 1, QdiscFlags: one}
		d = &event.Direct{First: 2, Validate: 1, Result: 1, From: event.FromDequeue}
		if c.batch != nil {
			c.batch(b)
		}
		if c.before != nil {
			c.before(d)
		}
		j.put(b, 0, 5, 120, 120, 100)
		j.put(d, 0, 5, 121, 124, 100)
		j.put(&event.Run{Packets: 2, Dequeues: 2, Directs: 2, QdiscFlags: one}, 0, 5, 100, 130, 0)
		if got.Origin != c.want || got.Sure != c.sure {
			t.Errorf("%s: %s sure=%v", name, got.Origin, got.Sure)
		}
	}
}

// Why a batch ended, from values that were measured (6.12: packets, bytes,
// last length, avail).
func TestStop(t *testing.T) {
	for _, c := range []struct {
		packets, bytes, last uint32
		avail                int32
		more                 bool
		flags                uint32
		want                 string
	}{
		{13, 1846, 142, 1938, false, one, "qdisc"},
		{56, 7952, 142, 7902, true, one, "bytes"},
		{65, 9230, 142, 15854, true, one, "budget"},
		{65, 9230, 142, 15854, false, one, "qdisc"},
		{65, 9230, 142, 9230, true, one, "bytes"},
		{224, 31808, 142, 31800, true, one, "bytes"},
		{100, 14200, 142, 31800, false, one, "qdisc"},
		{1, 1514, 1514, 0, true, one, "nobql"},
		{9, 9000, 1000, 0, true, 0, "slow"},
		{4, 4000, 1000, 0, false, 0, "qdisc"},
	} {
		b := Batch{Dequeue: event.Dequeue{Packets: c.packets, Bytes: c.bytes, LastLen: c.last, QdiscFlags: c.flags, AdjLimit: uint32(c.avail)}}
		b.Quota, b.More, b.MoreKnown = 64, c.more, true
		b.Avail = Avail{Known: true, Exact: true, Min: c.avail, Max: c.avail, BQL: c.avail != 0}
		b.settle()
		if string(b.Stop) != c.want {
			t.Errorf("%+v: %s", c, b.Stop)
		}
	}
}

// A device that comes back is another one.
func TestGenerations(t *testing.T) {
	j := newJoined()
	var seen []*Queue
	j.r.fan.add(Checks{Handover: func(h *Handover) { seen = append(seen, h.Queue) }})
	send := func(at uint64) { j.put(&event.Handover{Hand: event.Hand{Packets: 1}}, 0, 5, at, at+1, 0) }
	note := func(subtype uint8, at uint64) {
		n := &event.Notice{Subtype: subtype}
		copy(n.Name[:], "eth0")
		j.put(n, event.UserCPU, 0, at, at, 0)
	}
	send(10)
	note(event.NoticeDevAdded, 15) // known already
	send(20)
	note(event.NoticeDevRemoved, 30)
	note(event.NoticeDevAdded, 40)
	send(50)
	if seen[0] != seen[1] || seen[1] == seen[2] || seen[2].Generation != 1 || seen[2].Ifname != "eth0" {
		t.Errorf("%+v", seen)
	}
}

// The quota follows its notices, and is unknown once one may be missing.
func TestWeight(t *testing.T) {
	j := newJoined()
	var doubt []Span
	j.r.changed = func(s Span) { doubt = append(doubt, s) }
	n := &event.Notice{Subtype: event.NoticeSysctl, Before: 64, After: 32}
	copy(n.Name[:], "net.core.dev_weight")
	j.put(n, event.UserCPU, 0, settle+50, settle+50, 0)
	if j.r.weight.quota() != 32 || len(doubt) != 1 || !doubt[0].meets(Span{50, 50}) || doubt[0].meets(Span{49, 49}) {
		t.Error(j.r.weight.quota(), doubt)
	}
	j.gap(event.UserCPU, 1, 2)
	if j.r.weight.quota() != 0 || len(doubt) != 2 {
		t.Error(j.r.weight.quota(), doubt)
	}
}
