// SPDX-License-Identifier: Apache-2.0

package probes

// Point is one fact about the transmit path and the ways to observe it, best
// first. Adding a fact or a way to see it is one row of points.
type Point struct {
	Fact     string
	Meaning  string
	Required bool     // without it nothing can be recorded
	With     string   // observed only if this extra, or PerPacket, is asked for; empty: always
	Sources  []Source // in order of preference
	Rules    []string // rules that cannot be checked without it
}

// PerPacket is the With of what is recorded of each packet: it takes --detail
// packet, and is no extra.
const PerPacket = "packet"

// Source is one way to observe a fact: programs of the BPF object and what
// they need of the kernel.
type Source struct {
	Name        string
	Backend     string // btf or kprobe
	Programs    []string
	Functions   []string // must be one symbol, one BTF function, and traceable
	Tracepoints []string // must have a BTF typedef btf_trace_NAME
	Symbols     []string // must be in kallsyms
	Module      string   // the loaded module that Functions are of, empty: the kernel itself
	Drivers     []string // no device may have another driver; nil: any may
	Fields      []string // must hold among Facts.Fields
}

// pollers are drivers none of whose hard interrupts moves a queue's
// num_completed: they complete in NAPI polls or in ndo_start_xmit, or have no
// BQL, which was measured, or no hardware (tun, bridge).
var pollers = []string{"bridge", "e1000", "igb", "tun", "virtio_net", "vmxnet3"}

// points is the whole of what txtrace observes, in the order of the path.
var points = []Point{
	{
		Fact: "bpf.per_cpu", Meaning: "programs reach per-CPU variables (5.10 and later)", Required: true,
		Sources: []Source{{Name: "bpf_this_cpu_ptr", Backend: "btf", Fields: []string{"bpf.this_cpu_ptr"}}},
	},
	{
		Fact: "symbols", Meaning: "symbols have addresses, by which per-CPU variables are found", Required: true,
		Sources: []Source{{Name: "/proc/kallsyms", Backend: "btf", Symbols: []string{"__per_cpu_offset"}, Fields: []string{"kallsyms.addresses"}}},
	},
	{
		Fact: "run", Meaning: "one __qdisc_run: quota, packets, state at both ends", Required: true,
		Sources: []Source{{
			Name: "fentry+fexit __qdisc_run", Backend: "btf",
			Programs: []string{"run_begin", "run_end"}, Functions: []string{"__qdisc_run"},
		}},
	},
	{
		Fact: "run.rescheduled", Meaning: "the run scheduled its own qdisc again",
		Sources: []Source{{
			Name: "fentry __netif_schedule", Backend: "btf",
			Programs: []string{"schedule"}, Functions: []string{"__netif_schedule"},
		}},
		Rules: []string{"D4"},
	},
	{
		Fact: "run.weight", Meaning: "the quota in force when the run began",
		Sources: []Source{
			{
				Name: "net_hotdata.dev_tx_weight, fentry+fexit proc_do_dev_weight", Backend: "btf",
				Programs: []string{"weight_begin", "weight_end"}, Functions: []string{"proc_do_dev_weight"},
				Symbols: []string{"net_hotdata"}, Fields: []string{"net_hotdata.dev_tx_weight"},
			},
			{
				Name: "dev_tx_weight, fentry+fexit proc_do_dev_weight", Backend: "btf",
				Programs: []string{"weight_begin", "weight_end"}, Functions: []string{"proc_do_dev_weight"},
				Symbols: []string{"dev_tx_weight"},
			},
		},
	},
	{
		Fact: "run.who", Meaning: "an enqueue, a bypass or net_tx_action ran the qdisc",
		Sources: []Source{{
			Name: "fentry+fexit net_tx_action", Backend: "btf",
			Programs: []string{"action_begin", "action_end"}, Functions: []string{"net_tx_action"},
		}},
	},
	{
		Fact: "dequeue", Meaning: "the list one dequeue_skb gave, before validation", Required: true,
		Sources: []Source{{
			Name: "tp_btf qdisc_dequeue", Backend: "btf",
			Programs: []string{"dequeue"}, Tracepoints: []string{"qdisc_dequeue"},
		}},
	},
	{
		Fact: "direct", Meaning: "one sch_direct_xmit: requeues, gso_skb, result", Required: true,
		Sources: []Source{{
			Name: "fentry+fexit sch_direct_xmit", Backend: "btf",
			Programs: []string{"direct_begin", "direct_end"}, Functions: []string{"sch_direct_xmit"},
		}},
	},
	{
		Fact: "handover", Meaning: "one dev_hard_start_xmit: the list after validation, what was left of it", Required: true,
		Sources: []Source{{
			Name: "fentry+fexit dev_hard_start_xmit", Backend: "btf",
			Programs: []string{"handover_begin", "handover_end"}, Functions: []string{"dev_hard_start_xmit"},
		}},
	},
	{
		Fact: "handover.attempts", Meaning: "what the driver answered, charged and owes, attempt by attempt",
		Sources: []Source{{
			Name: "tp_btf net_dev_xmit", Backend: "btf",
			Programs: []string{"attempt"}, Tracepoints: []string{"net_dev_xmit"},
		}},
		Rules: []string{"X5", "R6"},
	},
	{
		Fact: "handover.stops", Meaning: "a queue that stopped in an attempt and was let go before it was over",
		Sources: []Source{{
			Name: "fentry netif_tx_wake_queue and netif_schedule_queue", Backend: "btf",
			Programs: []string{"woken", "restarted"}, Functions: []string{"netif_tx_wake_queue", "netif_schedule_queue"},
		}},
	},
	{
		Fact: "handover.more", Meaning: "the kernel's own xmit_more after a hand-over",
		Sources: []Source{
			{Name: "softnet_data.xmit.more", Backend: "btf", Symbols: []string{"softnet_data", "__per_cpu_offset"}},
			{Name: "current->net_xmit.more", Backend: "btf", Fields: []string{"task_struct.net_xmit"}},
		},
		Rules: []string{"X1"},
	},
	{
		Fact: "context", Meaning: "task, softirq or hard interrupt",
		Sources: []Source{
			{Name: "pcpu_hot.preempt_count", Backend: "btf", Symbols: []string{"pcpu_hot", "__per_cpu_offset"}, Fields: []string{"pcpu_hot.preempt_count"}},
			{Name: "__preempt_count", Backend: "btf", Symbols: []string{"__preempt_count", "__per_cpu_offset"}},
		},
	},
	{
		Fact: "bql", Meaning: "a queue's struct dql in one copy",
		Sources: []Source{{Name: "netdev_queue.dql", Backend: "btf", Fields: []string{"netdev_queue.dql", "dql.order"}}},
		Rules:   []string{"B8", "B11", "B13", "B16", "D1", "D9"},
	},
	{
		Fact: "complete.napi", Meaning: "completions that NAPI polls made",
		Sources: []Source{{
			Name: "tp_btf napi_poll", Backend: "btf",
			Programs: []string{"complete_napi"}, Tracepoints: []string{"napi_poll"},
		}},
		Rules: []string{"B11", "B13"},
	},
	{
		Fact: "complete.hardirq", Meaning: "completions that hard interrupts made (e1000e with MSI-X, 8139cp)",
		Sources: []Source{
			{Name: "napi_poll: no device needs more", Backend: "btf", Tracepoints: []string{"napi_poll"}, Drivers: pollers},
			{
				Name: "fexit e1000_clean_tx_irq", Backend: "btf",
				Programs: []string{"complete_e1000e"}, Functions: []string{"e1000_clean_tx_irq"},
				Module: "e1000e", Drivers: append([]string{"e1000e"}, pollers...),
			},
			{
				Name: "fexit __handle_irq_event_percpu", Backend: "btf",
				Programs: []string{"complete_hardirq"}, Functions: []string{"__handle_irq_event_percpu"},
			},
		},
	},
	{
		Fact: "tsq.throttle", Meaning: "tcp_write_xmit set TSQ_THROTTLED",
		Sources: []Source{{
			Name: "fentry+fexit tcp_write_xmit", Backend: "btf",
			Programs: []string{"write_begin", "write_end"}, Functions: []string{"tcp_write_xmit"},
			Fields: []string{atomicFetch},
		}},
		Rules: []string{"T2", "T3"},
	},
	{
		Fact: "tsq.wfree", Meaning: "tcp_wfree met a throttled socket",
		Sources: []Source{{
			Name: "fentry+fexit tcp_wfree", Backend: "btf",
			Programs: []string{"wfree_begin", "wfree_end"}, Functions: []string{"tcp_wfree"},
			Fields: []string{atomicFetch},
		}},
		Rules: []string{"T2", "T3"},
	},
	{
		Fact: "tsq.resume", Meaning: "the TSQ handler resumed a socket",
		Sources: []Source{{
			Name: "fentry tcp_tsq_handler", Backend: "btf",
			Programs:  []string{"resume_handler", "pace_begin", "pace_end"},
			Functions: []string{"tcp_tsq_handler", "tcp_pace_kick"},
			Fields:    []string{atomicFetch},
		}},
	},
	{
		Fact: "tsq.release", Meaning: "the socket's owner resumed it",
		Sources: []Source{{
			Name: "fentry tcp_release_cb", Backend: "btf",
			Programs: []string{"resume_release"}, Functions: []string{"tcp_release_cb"},
			Fields: []string{atomicFetch},
		}},
	},
	{
		Fact: "pick", Meaning: "one netdev_core_pick_tx: the queue chosen, and what the socket keeps", With: "pick",
		Sources: []Source{{
			Name: "fentry+fexit netdev_core_pick_tx", Backend: "btf",
			Programs: []string{"pick_begin", "pick_end"}, Functions: []string{"netdev_core_pick_tx"},
			Fields: []string{atomicFetch},
		}},
		Rules: []string{"Q1", "Q2", "Q3", "Q4", "Q6", "Q8", "Q9"},
	},
	{
		Fact: "steer", Meaning: "a packet whose queue a filter set, and the queue that it was given", With: "pick",
		Sources: []Source{{
			Name: "fexit tcf_classify, tp_btf net_dev_queue and qdisc_enqueue, fentry __qdisc_run, sch_direct_xmit and dev_hard_start_xmit", Backend: "btf",
			Programs:    []string{"steer_set", "steer_queued", "steer_enqueued", "steer_run", "steer_direct", "steer_handed"},
			Functions:   []string{"tcf_classify", "__qdisc_run", "sch_direct_xmit", "dev_hard_start_xmit"},
			Tracepoints: []string{"net_dev_queue", "qdisc_enqueue"},
			Symbols:     []string{"egress_needed_key", "softnet_data", "__per_cpu_offset"},
			Fields:      []string{"softnet_data.skip_txqueue"},
		}},
		Rules: []string{"Q7"},
	},
	{
		Fact: "gro", Meaning: "one list of received skbs that went up together, and what the kernel counted of it", With: "gro",
		Sources: []Source{{
			Name: "fentry netif_receive_skb_list_internal and netif_receive_skb_list", Backend: "btf",
			Programs: []string{"gro_list", "gro_shared"}, Functions: []string{"netif_receive_skb_list_internal", "netif_receive_skb_list"},
			Fields: []string{"napi_struct.rx_count"},
		}},
		Rules: []string{"G1", "G2"},
	},
	{
		Fact: "gro.batch", Meaning: "net.core.gro_normal_batch when a list went up", With: "gro",
		Sources: []Source{
			{Name: "net_hotdata.gro_normal_batch", Backend: "btf", Symbols: []string{"net_hotdata"}, Fields: []string{"net_hotdata.gro_normal_batch"}},
			{Name: "gro_normal_batch", Backend: "btf", Symbols: []string{"gro_normal_batch"}},
		},
		Rules: []string{"G1"},
	},
	{
		Fact: "gro.poll", Meaning: "the poll in which a list went up, and whether that was done", With: "gro",
		Sources: []Source{{
			Name: "fentry+fexit __napi_poll and napi_complete_done", Backend: "btf",
			Programs:  []string{"poll_begin", "poll_end", "done_begin", "done_end"},
			Functions: []string{"__napi_poll", "napi_complete_done"},
		}},
		Rules: []string{"G2"},
	},
	{
		Fact: "delivery", Meaning: "what of a list of received skbs came to the protocols", With: "rx",
		Sources: []Source{{
			Name: "fentry+fexit netif_receive_skb_list_internal, fentry __netif_receive_skb_list_core", Backend: "btf",
			Programs:  []string{"up_begin", "up_core", "up_end"},
			Functions: []string{"netif_receive_skb_list_internal", "__netif_receive_skb_list_core"},
		}},
		Rules: []string{"G3", "G4"},
	},
	{
		Fact: "delivery.arrival", Meaning: "when each received skb came to GRO", With: "rx",
		Sources: []Source{
			{Name: "fentry gro_receive_skb", Backend: "btf", Programs: []string{"arrive_node"}, Functions: []string{"gro_receive_skb"}},
			{Name: "fentry napi_gro_receive", Backend: "btf", Programs: []string{"arrive"}, Functions: []string{"napi_gro_receive"}},
		},
		Rules: []string{"G3"},
	},
	{
		Fact: "packet", Meaning: "each call of a driver: its packet, the answer, what it was told", With: PerPacket,
		Sources: []Source{{
			Name: "tp_btf net_dev_start_xmit and net_dev_xmit", Backend: "btf",
			Programs: []string{"give", "given"}, Tracepoints: []string{"net_dev_start_xmit", "net_dev_xmit"},
		}},
		Rules: []string{"W3"},
	},
	{
		Fact: "packet.life", Meaning: "each skb from its sender to its free: its turns, its calls of drivers, its end", With: PerPacket,
		Sources: []Source{{
			Name: "tp_btf net_dev_queue and kfree_skb, fentry skb_release_head_state and tcp_wfree", Backend: "btf",
			Programs: []string{"queued", "dropped", "released", "orphaned"}, Functions: []string{"skb_release_head_state", "tcp_wfree"},
			Tracepoints: []string{"net_dev_queue", "kfree_skb"}, Fields: []string{"skb_drop_reason"},
		}},
		Rules: []string{"M6", "R2", "T5"},
	},
	{
		Fact: "packet.enqueue", Meaning: "each packet that went into a qdisc, in what order", With: PerPacket,
		Sources: []Source{{
			Name: "tp_btf qdisc_enqueue", Backend: "btf",
			Programs: []string{"enqueued"}, Tracepoints: []string{"qdisc_enqueue"},
			Fields: []string{atomicFetch},
		}},
		Rules: []string{"O1", "N2"},
	},
	{
		Fact: "packet.direct", Meaning: "each send past qdisc and hand-over, to one queue", With: PerPacket,
		Sources: []Source{{
			Name: "fentry+fexit __dev_direct_xmit", Backend: "btf",
			Programs: []string{"alone_begin", "alone_end"}, Functions: []string{"__dev_direct_xmit"},
		}},
		Rules: []string{"R3"},
	},
	{
		Fact: "packet.transmit", Meaning: "each packet that tcp_write_xmit sends, and what the socket has below TCP", With: PerPacket,
		Sources: []Source{{
			Name: "fentry+fexit __tcp_transmit_skb", Backend: "btf",
			Programs: []string{"transmit_begin", "transmit_end"}, Functions: []string{"__tcp_transmit_skb"},
			Fields: []string{atomicFetch},
		}},
		Rules: []string{"T1", "T7"},
	},
	{
		Fact: "packet.burst", Meaning: "how many packets wait to be enqueued where one is dropped for that (6.19 and later)", With: PerPacket,
		Sources: []Source{{
			Name: "tp_btf kfree_skb, Qdisc.defer_count", Backend: "btf",
			Tracepoints: []string{"kfree_skb"},
			Fields:      []string{"Qdisc.defer_count", "net_hotdata.qdisc_max_burst", "skb_drop_reason"},
		}},
		Rules: []string{"D7"},
	},
	{
		Fact: "sojourn", Meaning: "how long some of the packets waited in a qdisc", With: "sojourn",
		Sources: []Source{{
			Name: "tp_btf qdisc_enqueue and qdisc_dequeue, fexit sch_direct_xmit", Backend: "btf",
			Programs: []string{"stamp", "waited", "put_back"}, Functions: []string{"sch_direct_xmit"},
			Tracepoints: []string{"qdisc_enqueue", "qdisc_dequeue"},
		}},
	},
	{
		Fact: "schedule", Meaning: "a qdisc that was put on its CPU's list, and when the list was served", With: "sched",
		Sources: []Source{{
			Name: "fentry __netif_reschedule and net_tx_action", Backend: "btf",
			Programs: []string{"scheduled", "served"}, Functions: []string{"__netif_reschedule", "net_tx_action"},
		}},
		Rules: []string{"L2", "N3"},
	},
	{
		Fact: "reset", Meaning: "a lockless qdisc that was emptied", With: "sched",
		Sources: []Source{{
			Name: "fentry+fexit qdisc_reset", Backend: "btf",
			Programs: []string{"reset_begin", "reset_end"}, Functions: []string{"qdisc_reset"},
		}},
		Rules: []string{"N5"},
	},
	{
		Fact: "sample", Meaning: "a look at each queue once a second, whatever happens there",
		Sources: []Source{{
			Name: "BPF_PROG_RUN", Backend: "btf",
			Programs: []string{"sample"}, Symbols: []string{"__per_cpu_offset"},
		}},
		Rules: []string{"B2", "N1"},
	},
	{
		Fact: "stall", Meaning: "BQL noticed that a queue completed nothing for as long as its stall_thrs",
		Sources: []Source{{
			Name: "tp_btf dql_stall_detected", Backend: "btf",
			Programs: []string{"stall"}, Tracepoints: []string{"dql_stall_detected"},
		}},
		Rules: []string{"B14"},
	},
	{
		Fact: "watchdog", Meaning: "a queue's transmit watchdog fired",
		Sources: []Source{{
			Name: "tp_btf net_dev_xmit_timeout", Backend: "btf",
			Programs: []string{"watchdog"}, Tracepoints: []string{"net_dev_xmit_timeout"},
		}},
	},
}
