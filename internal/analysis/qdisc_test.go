// SPDX-License-Identifier: Apache-2.0

package analysis

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/txtrace/txtrace/internal/capture"
	"github.com/txtrace/txtrace/internal/event"
)

const (
	first  = 0x80010000
	second = 0x80020000
)

// counted is a capture of one queue whose counters are compared.
type counted struct {
	*joined
	m  *meter
	at uint64
}

func newCounted(before ...capture.QdiscCounters) *counted {
	j := newJoined()
	h := j.r.header
	h.Devices = h.Devices[:1]
	for _, q := range before {
		h.Devices[0].Qdiscs = append(h.Devices[0].Qdiscs, q.Qdisc)
	}
	h.Counters = []capture.Counters{{Netns: 1, Ifindex: 2, TxPackets: 1000, Qdiscs: before}}
	j.r.world = newWorld(h)
	c := &counted{joined: j, m: newMeter(h)}
	j.r.fan.add(c.m.checks())
	return c
}

// run is one with a batch of so many packets of 100 bytes.
func (c *counted) run(kind string, handle uint32, packets uint32) {
	c.at += 1000
	begin := c.at
	c.put(&event.Dequeue{Packets: packets, Walked: packets, GsoSegs: packets, PktLen: 100 * packets}, 0, 1, begin+10, begin+10, begin)
	r := &event.Run{Handle: handle, Packets: packets, Dequeues: 1}
	copy(r.QdiscKind[:], kind)
	c.put(r, 0, 1, begin, begin+100, 0)
}

func (c *counted) quiet(handle, packets uint32) {
	c.at += 1000
	c.put(&event.Quiet{Handle: handle, Packets: packets, Bytes: 100 * packets}, 0, 1, c.at, c.at, 0)
}

func (c *counted) notice(subtype uint8, name string, handle uint32) {
	c.at += 1000
	n := &event.Notice{Subtype: subtype, Before: rootParent, After: uint64(handle)}
	copy(n.Name[:], name)
	c.put(n, event.UserCPU, 0, c.at, c.at, 0)
}

// report is the queue's, with the comparisons of its qdiscs' packets.
func (c *counted) report(after ...capture.QdiscCounters) (q QueueReport, packets []Comparison) {
	res := &Result{Header: c.r.header, Footer: &capture.Footer{
		Counters: []capture.Counters{{Netns: 1, Ifindex: 2, TxPackets: 1000, Qdiscs: after}},
	}}
	c.m.report(res, &End{Queues: c.r.world.queues})
	for _, k := range res.Checks {
		if k.Name == "qdisc_packets" {
			packets = append(packets, k)
		}
	}
	return res.Queues[len(res.Queues)-1], packets
}

func kernelCounts(kind string, handle uint32, packets uint64) capture.QdiscCounters {
	return capture.QdiscCounters{Qdisc: capture.Qdisc{Kind: kind, Handle: handle, Parent: rootParent}, Packets: packets}
}

// What was sent while one qdisc replaced another counts for the one that it
// was sent by, whenever the notice came.
func TestQdiscReplaced(t *testing.T) {
	c := newCounted(kernelCounts("fq_codel", first, 500))
	c.run("fq_codel", first, 3)
	c.quiet(first, 2)
	c.quiet(second, 4) // before the notice, and before any run
	c.run("pfifo_fast", second, 5)
	c.notice(event.NoticeQdisc, "", first)
	c.notice(event.NoticeQdisc, "pfifo_fast", second)
	c.run("fq_codel", first, 1) // the last one of the old qdisc
	c.quiet(second, 6)
	q, packets := c.report(kernelCounts("pfifo_fast", second, 15))
	want := []QdiscReport{
		{Kind: "fq_codel", Handle: first, Batches: 2, Packets: 6, Bytes: 600},
		{Kind: "pfifo_fast", Handle: second, Batches: 1, Packets: 15, Bytes: 1500},
	}
	if d := cmp.Diff(want, q.Qdiscs); d != "" {
		t.Error(d)
	}
	if len(packets) != 1 || !packets[0].Equal || packets[0].Qdisc != "pfifo_fast" {
		t.Errorf("%+v", packets)
	}
}

// Where records do not say the kind, notices do, and the header.
func TestQdiscNamed(t *testing.T) {
	c := newCounted(kernelCounts("pfifo_fast", 0, 0), kernelCounts("mq", 0, 0))
	c.quiet(0, 1)
	c.notice(event.NoticeQdisc, "fq", second)
	c.quiet(second, 2)
	q, _ := c.report()
	want := []QdiscReport{{Kind: "pfifo_fast", Packets: 1, Bytes: 100}, {Kind: "fq", Handle: second, Packets: 2, Bytes: 200}}
	if d := cmp.Diff(want, q.Qdiscs); d != "" {
		t.Error(d)
	}
}

// The kernel's counters are compared only when it is known where they began.
func TestQdiscCountersBegin(t *testing.T) {
	for _, c := range []struct {
		name    string
		before  []capture.QdiscCounters
		notices []string // kinds of the first handle
		kernel  uint64
		equal   []bool
	}{
		{"stayed", []capture.QdiscCounters{kernelCounts("fq", first, 500)}, nil, 503, []bool{true}},
		{"stayed, and others sent", []capture.QdiscCounters{kernelCounts("fq", first, 500)}, nil, 504, []bool{false}},
		{"made", nil, []string{"fq"}, 3, []bool{true}},
		{"made, and nobody told", nil, nil, 3, nil},
		{"made twice", nil, []string{"fq", "", "fq"}, 3, nil},
		{"made anew under its handle", []capture.QdiscCounters{kernelCounts("fq", first, 500)}, []string{"", "fq"}, 3, nil},
		{"gone and come back", []capture.QdiscCounters{kernelCounts("fq", first, 500)}, []string{""}, 3, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			m := newCounted(c.before...)
			for _, kind := range c.notices {
				m.notice(event.NoticeQdisc, kind, first)
			}
			m.run("fq", first, 3)
			_, packets := m.report(kernelCounts("fq", first, c.kernel))
			var equal []bool
			for _, k := range packets {
				equal = append(equal, k.Equal)
			}
			if !slices.Equal(equal, c.equal) {
				t.Errorf("%+v", packets)
			}
		})
	}
}

// A device of the same number that came later has counters of its own, which
// began elsewhere: neither its sums nor those of the one before are compared.
func TestCountersOfALaterDevice(t *testing.T) {
	c := newCounted(kernelCounts("fq", first, 500))
	c.run("fq", first, 3)
	c.notice(event.NoticeDevRemoved, "eth0", 0)
	c.notice(event.NoticeDevAdded, "eth0", 0)
	c.run("fq", first, 7)
	c.notice(event.NoticeDevChanged, "wan", 0)
	q, packets := c.report(kernelCounts("fq", first, 7))
	if len(packets) != 0 || q.Generation != 1 || q.Ifname != "wan" || len(q.Qdiscs) != 1 || q.Qdiscs[0].Packets != 7 {
		t.Errorf("%+v %+v", q, packets)
	}
}

// Queues of one device add up by qdisc.
func TestMergeQdiscs(t *testing.T) {
	to := []QdiscReport{{Kind: "fq", Handle: first, Batches: 1, Packets: 2, Bytes: 3, Requeues: 4}}
	got := MergeQdiscs(to, []QdiscReport{
		{Kind: "fq", Handle: first, Batches: 10, Packets: 20, Bytes: 30, Requeues: 40},
		{Kind: "pfifo", Handle: first, Batches: 5},
	})
	want := []QdiscReport{
		{Kind: "fq", Handle: first, Batches: 11, Packets: 22, Bytes: 33, Requeues: 44},
		{Kind: "pfifo", Handle: first, Batches: 5},
	}
	if d := cmp.Diff(want, got); d != "" || to[0].Packets != 2 {
		t.Error(d, to)
	}
}

// A device moves to another namespace, where it has the same index, and back:
// it is another one each time, and is named each time.
func TestMoved(t *testing.T) {
	j := newJoined()
	var seen []*Queue
	j.r.fan.add(Checks{Handover: func(h *Handover) { seen = append(seen, h.Queue) }})
	in := func(netns uint32, r event.Any, cpu uint16, at uint64) {
		h := r.Head()
		h.Netns, h.Ifindex, h.CPU, h.Time, h.Seq = netns, 2, cpu, at, j.seq[cpu]
		j.seq[cpu]++
		j.r.item(capture.Item{Record: r})
	}
	send := func(netns uint32, at uint64) { in(netns, &event.Handover{Hand: event.Hand{Packets: 1}}, 0, at) }
	note := func(netns uint32, subtype uint8, at uint64) {
		n := &event.Notice{Subtype: subtype}
		copy(n.Name[:], "eth0")
		in(netns, n, event.UserCPU, at)
	}
	send(1, 10)
	note(1, event.NoticeDevRemoved, 20)
	send(9, 25) // before the notice names it
	note(9, event.NoticeDevAdded, 30)
	send(9, 35)
	note(9, event.NoticeDevRemoved, 40)
	note(1, event.NoticeDevAdded, 45)
	send(1, 50)
	var got []DeviceRef
	for _, q := range seen {
		got = append(got, q.ref())
	}
	there := DeviceRef{Netns: 9, Ifindex: 2, Ifname: "eth0"}
	want := []DeviceRef{{1, 2, 0, "eth0"}, there, there, {1, 2, 1, "eth0"}}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
	if seen[1] != seen[2] {
		t.Error("the notice made another device of it")
	}
}
