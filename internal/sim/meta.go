// SPDX-License-Identifier: Apache-2.0

package sim

import (
	"strconv"

	"github.com/txtrace/txtrace/internal/capture"
)

// The programs of internal/probes, as far as the simulator counts for them.
const (
	progRunBegin = iota
	progRunEnd
	progDequeue
	progDirectBegin
	progDirectEnd
	progHandoverBegin
	progHandoverEnd
	progAttempt
	progSchedule
	progActionBegin
	progActionEnd
	progCompleteNAPI
	progCompleteHardirq
	progWriteBegin
	progWriteEnd
	progWfreeBegin
	progWfreeEnd
	progResumeHandler
	progResumeRelease
	progSnapshot
	progQuiet
	progExtras // from here on, only with Extras
)

const (
	progPickBegin = progExtras + iota
	progPickEnd
	progListUp
	progPollBegin
	progPollEnd
	progDoneBegin
	progDoneEnd
	progGive
	progGiven
	progScheduled
	progServed
	programs
)

var programList = [programs]capture.Program{
	progRunBegin:        {Name: "run_begin", Hook: "fentry:__qdisc_run", Pair: "run_end"},
	progRunEnd:          {Name: "run_end", Hook: "fexit:__qdisc_run"},
	progDequeue:         {Name: "dequeue", Hook: "tp_btf:qdisc_dequeue"},
	progDirectBegin:     {Name: "direct_begin", Hook: "fentry:sch_direct_xmit", Pair: "direct_end"},
	progDirectEnd:       {Name: "direct_end", Hook: "fexit:sch_direct_xmit"},
	progHandoverBegin:   {Name: "handover_begin", Hook: "fentry:dev_hard_start_xmit", Pair: "handover_end"},
	progHandoverEnd:     {Name: "handover_end", Hook: "fexit:dev_hard_start_xmit"},
	progAttempt:         {Name: "attempt", Hook: "tp_btf:net_dev_xmit"},
	progSchedule:        {Name: "schedule", Hook: "fentry:__netif_schedule"},
	progActionBegin:     {Name: "action_begin", Hook: "fentry:net_tx_action", Pair: "action_end"},
	progActionEnd:       {Name: "action_end", Hook: "fexit:net_tx_action"},
	progCompleteNAPI:    {Name: "complete_napi", Hook: "tp_btf:napi_poll"},
	progCompleteHardirq: {Name: "complete_hardirq", Hook: "fexit:__handle_irq_event_percpu"},
	progWriteBegin:      {Name: "write_begin", Hook: "fentry:tcp_write_xmit", Pair: "write_end"},
	progWriteEnd:        {Name: "write_end", Hook: "fexit:tcp_write_xmit"},
	progWfreeBegin:      {Name: "wfree_begin", Hook: "fentry:tcp_wfree", Pair: "wfree_end"},
	progWfreeEnd:        {Name: "wfree_end", Hook: "fexit:tcp_wfree"},
	progResumeHandler:   {Name: "resume_handler", Hook: "fentry:tcp_tsq_handler"},
	progResumeRelease:   {Name: "resume_release", Hook: "fentry:tcp_release_cb"},
	progSnapshot:        {Name: "snapshot"},
	progQuiet:           {Name: "quiet"},
	progPickBegin:       {Name: "pick_begin", Hook: "fentry:netdev_core_pick_tx", Pair: "pick_end"},
	progPickEnd:         {Name: "pick_end", Hook: "fexit:netdev_core_pick_tx"},
	progListUp:          {Name: "gro_list", Hook: "fentry:netif_receive_skb_list_internal"},
	progPollBegin:       {Name: "poll_begin", Hook: "fentry:__napi_poll", Pair: "poll_end"},
	progPollEnd:         {Name: "poll_end", Hook: "fexit:__napi_poll"},
	progDoneBegin:       {Name: "done_begin", Hook: "fentry:napi_complete_done", Pair: "done_end"},
	progDoneEnd:         {Name: "done_end", Hook: "fexit:napi_complete_done"},
	progGive:            {Name: "give", Hook: "tp_btf:net_dev_start_xmit"},
	progGiven:           {Name: "given", Hook: "tp_btf:net_dev_xmit"},
	progScheduled:       {Name: "scheduled", Hook: "fentry:__netif_reschedule"},
	progServed:          {Name: "served", Hook: "fentry:net_tx_action"},
}

// facts are those of internal/probes that a simulation has, and absent those
// that it has not.
var facts = []string{
	"run", "run.rescheduled", "run.who", "dequeue", "direct", "handover", "handover.attempts", "handover.more",
	"context", "bql", "complete.napi", "complete.hardirq", "tsq.throttle", "tsq.wfree", "tsq.resume", "tsq.release",
}

var absent = []string{
	"sojourn", "sample", "watchdog", "stall", "reset", "steer", "delivery", "delivery.arrival",
	"packet.life", "packet.enqueue", "packet.direct", "packet.transmit", "packet.burst",
}

func (s *sim) header() *capture.Header {
	c := s.cfg
	h := &capture.Header{
		Tool: c.Tool,
		Kernel: capture.Kernel{
			Release: "simulated", Version: "seed " + strconv.FormatUint(c.Seed, 10), Machine: "x86_64", // whose sizes of skbs are used

			CPUs: uint32(c.CPUs), HZ: uint32(c.HZ), SkbTruesize: skbOverhead + 1,
		},
		Clock:    s.clock(),
		Programs: programList[:s.programs()],
		Settings: capture.Settings{
			DevWeight: uint32(c.Weight), DevWeightTxBias: 1,
			Sysctls: map[string]string{"net.ipv4.tcp_limit_output_bytes": strconv.Itoa(int(c.Senders.LimitOutput))},
		},
		Devices:   append([]capture.Device{s.device()}, s.stack()...),
		Counters:  s.counters(),
		Detail:    "batch",
		WalkBound: 1 << 16,
		Simulated: true,
	}
	for _, f := range facts {
		h.Plan = append(h.Plan, capture.Choice{Fact: f, Source: "simulated", State: "chosen"})
	}
	for _, f := range absent {
		h.Plan = append(h.Plan, capture.Choice{Fact: f, State: "absent", Reason: "the simulator does not play it"})
	}
	h.Plan = append(h.Plan, c.Extras.facts()...)
	if c.Extras.any() {
		h.Kernel.PossibleCPUs = uint32(c.CPUs)
	}
	if r := &c.Extras.Receive; r.On {
		h.Settings.Sysctls["net.core.gro_normal_batch"] = strconv.Itoa(r.Batch)
	}
	if c.Extras.Packets {
		h.Detail = "packet"
	}
	return h
}

// programs is how many of programList run.
func (s *sim) programs() int {
	if s.cfg.Extras.any() {
		return programs
	}
	return progExtras
}

// clock counts all three clocks from the same moment.
func (s *sim) clock() capture.Clock {
	return capture.Clock{Monotonic: s.now, Boot: s.now, Real: s.now}
}

func (s *sim) device() capture.Device {
	d := &s.cfg.Device
	dev := capture.Device{
		Netns: Netns, Ifindex: Ifindex, Ifname: d.Name, Driver: d.Driver, MTU: d.MTU,
		TxQueues: uint32(d.Queues), TxRing: uint32(d.Ring),
		Offloads: map[string]bool{
			"tx-tcp-segmentation": d.TSO, "tx-udp-segmentation": d.TSO, "tx-generic-segmentation": true,
			"esp-hw-offload": false, "esp-tx-csum-hw-offload": false,
		},
		GsoMaxSize: 65536, GsoMaxSegs: 65535,
		BQL: s.limits(),
	}
	switch s.cfg.Qdisc.Kind {
	case QdiscNone:
		dev.Qdiscs = []capture.Qdisc{{Kind: QdiscNone, Parent: rootHandle}}
	case QdiscMq:
		dev.Qdiscs = []capture.Qdisc{{Kind: QdiscMq, Handle: mqHandle, Parent: rootHandle}}
	}
	for _, q := range s.qdiscs {
		dev.Qdiscs = append(dev.Qdiscs, capture.Qdisc{Kind: q.kind, Handle: q.handle, Parent: q.parent})
	}
	return dev
}

func (s *sim) limits() []capture.QueueBQL {
	if !s.cfg.Device.BQL {
		return nil
	}
	var list []capture.QueueBQL
	for i, q := range s.queues {
		d := &q.dql
		list = append(list, capture.QueueBQL{
			Txq: uint32(i), Limit: d.Limit, LimitMin: d.MinLimit, LimitMax: d.MaxLimit, HoldMS: 1000, Inflight: d.InFlight(),
		})
	}
	return list
}

func (s *sim) counters() []capture.Counters {
	c := capture.Counters{Netns: Netns, Ifindex: Ifindex, BQL: s.limits()}
	for _, q := range s.queues {
		c.TxPackets += q.packets
		c.TxBytes += q.bytes
	}
	for _, q := range s.qdiscs {
		c.Qdiscs = append(c.Qdiscs, capture.QdiscCounters{
			Qdisc:   capture.Qdisc{Kind: q.kind, Handle: q.handle, Parent: q.parent},
			Packets: q.packets, Bytes: q.bytes, Drops: q.drops, Requeues: uint64(q.requeues), Qlen: uint32(q.waiting()),
		})
	}
	return []capture.Counters{c}
}

func (s *sim) footer() *capture.Footer {
	f := &capture.Footer{Clock: s.clock(), Counters: s.counters(), Ended: "duration"}
	for p := range s.programs() {
		for _, c := range s.cpus {
			n := c.lane.counts[p]
			row := capture.LedgerRow{Program: p, CPU: c.id, Seen: n.seen, Submitted: n.submitted, Filtered: n.filtered}
			if p == 0 && c.lane.seq > 0 {
				row.LastSeq = c.lane.seq - 1
			}
			f.Ledger = append(f.Ledger, row)
		}
	}
	return f
}
