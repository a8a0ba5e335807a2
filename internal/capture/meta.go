// SPDX-License-Identifier: Apache-2.0

package capture

import "github.com/txtrace/txtrace/internal/event"

// Header is what is known when recording begins. It is stored as JSON, once,
// at the front of the file.
type Header struct {
	Tool         string            `json:"tool"`    // txtrace version
	Tables       []event.Table     `json:"tables"`  // the schema of the records that follow
	Packing      map[string]uint32 `json:"packing"` // by kind: checksum of how its records are packed; the writer's
	Kernel       Kernel            `json:"kernel"`
	Clock        Clock             `json:"clock"`
	Programs     []Program         `json:"programs"` // ledger rows name them by index
	Plan         []Choice          `json:"plan"`
	Settings     Settings          `json:"settings"`
	Devices      []Device          `json:"devices"`
	Counters     []Counters        `json:"counters"` // at the start
	Detail       string            `json:"detail"`   // batch or packet
	Filters      []string          `json:"filters,omitempty"`
	RingBytes    uint64            `json:"ring_bytes"`
	WalkBound    uint32            `json:"walk_bound"`              // list steps a record's sums cover at most
	RawAddresses bool              `json:"raw_addresses,omitempty"` // addresses are stored as they are
	Simulated    bool              `json:"simulated,omitempty"`     // written by the model, not by a kernel
}

// Footer is what is known when recording ends. A cut file has none.
type Footer struct {
	Clock    Clock            `json:"clock"`
	Counters []Counters       `json:"counters"` // at the end
	Ledger   []LedgerRow      `json:"ledger"`
	Open     uint32           `json:"open"`               // frames still open when recording ended: under way, not an imbalance
	Orphans  uint64           `json:"orphans"`            // span ends whose begin was not seen
	Overflow uint64           `json:"overflow,omitempty"` // begins that found no room for a frame: spans lost on that CPU
	Ended    string           `json:"ended"`              // child, signal, duration, test, disk, error
	Child    *Child           `json:"child,omitempty"`
	Self     Self             `json:"self"`
	Records  map[string]int64 `json:"records"` // written, by kind
	Stacks   *Stacks          `json:"stacks,omitempty"`
}

// Kernel that was traced.
type Kernel struct {
	Release  string `json:"release"` // uname -r
	Version  string `json:"version"` // uname -v
	Machine  string `json:"machine"`
	Commit   string `json:"commit,omitempty"`
	Hostname string `json:"hostname,omitempty"`
	CPUs     uint32 `json:"cpus"`
	// PossibleCPUs is nr_cpu_ids: numbers of CPUs lie below it.
	PossibleCPUs uint32 `json:"possible_cpus,omitempty"`
	HZ           uint32 `json:"hz,omitempty"`
	Preemption   string `json:"preemption,omitempty"`   // none, voluntary, full, lazy, rt
	SkbTruesize  uint32 `json:"skb_truesize,omitempty"` // SKB_TRUESIZE(1), from BTF sizes
	Cmdline      string `json:"cmdline,omitempty"`
	Emulated     bool   `json:"emulated,omitempty"` // a guest without KVM: counts only, no durations
}

// Clock is three clocks read together, in ns. Records carry Monotonic.
type Clock struct {
	Monotonic uint64 `json:"monotonic_ns"`
	Boot      uint64 `json:"boot_ns"`
	Real      uint64 `json:"real_ns"`
}

// Program is one attached BPF program.
type Program struct {
	Name string `json:"name"`
	Hook string `json:"hook"`           // fentry:sch_direct_xmit, tp_btf:qdisc_dequeue, ...
	Pair string `json:"pair,omitempty"` // for the entry of a pair: the program of the exit
}

// Choice is one row of the plan: a fact and the source chosen for it.
type Choice struct {
	Fact     string   `json:"fact"`
	Source   string   `json:"source,omitempty"` // empty: no source, see Reason
	State    string   `json:"state"`            // chosen, absent, off
	Reason   string   `json:"reason,omitempty"`
	Disables []string `json:"disables,omitempty"` // rule ids that need the fact
}

// Settings the rules depend on.
type Settings struct {
	DevWeight       uint32            `json:"dev_weight"`         // net.core.dev_weight
	DevWeightTxBias uint32            `json:"dev_weight_tx_bias"` // net.core.dev_weight_tx_bias
	Sysctls         map[string]string `json:"sysctls"`            // other sysctls, by name
}

// TxWeight is the quota of one __qdisc_run.
func (s Settings) TxWeight() uint32 { return s.DevWeight * s.DevWeightTxBias }

// Device as it was when recording began. (Netns, Ifindex) is its identity.
type Device struct {
	Netns      uint32          `json:"netns"`
	NetnsName  string          `json:"netns_name,omitempty"`
	Ifindex    uint32          `json:"ifindex"`
	Ifname     string          `json:"ifname"`
	Driver     string          `json:"driver,omitempty"`
	MTU        uint32          `json:"mtu"`
	TxQueues   uint32          `json:"tx_queues"` // real_num_tx_queues
	TxRing     uint32          `json:"tx_ring,omitempty"`
	Offloads   map[string]bool `json:"offloads,omitempty"` // ethtool names
	GsoMaxSize uint32          `json:"gso_max_size,omitempty"`
	GsoMaxSegs uint32          `json:"gso_max_segs,omitempty"`
	Qdiscs     []Qdisc         `json:"qdiscs,omitempty"`
	BQL        []QueueBQL      `json:"bql,omitempty"` // empty: no byte_queue_limits in sysfs, which alone proves nothing
}

// Qdisc as tc spells it.
type Qdisc struct {
	Kind   string `json:"kind"`
	Handle uint32 `json:"handle"`
	Parent uint32 `json:"parent"`
}

// QueueBQL is one queue's byte_queue_limits folder.
type QueueBQL struct {
	Txq      uint32 `json:"txq"`
	Limit    uint32 `json:"limit"`
	LimitMin uint32 `json:"limit_min"`
	LimitMax uint32 `json:"limit_max"`
	HoldMS   uint32 `json:"hold_time_ms"`
	Inflight uint32 `json:"inflight"`
}

// Counters are the kernel's own, of one device, at one moment.
type Counters struct {
	Netns     uint32          `json:"netns"`
	Ifindex   uint32          `json:"ifindex"`
	TxPackets uint64          `json:"tx_packets"`
	TxBytes   uint64          `json:"tx_bytes"`
	TxDropped uint64          `json:"tx_dropped"`
	TxErrors  uint64          `json:"tx_errors"`
	Qdiscs    []QdiscCounters `json:"qdiscs,omitempty"`
	BQL       []QueueBQL      `json:"bql,omitempty"`
}

// QdiscCounters is what tc -s prints of one qdisc.
type QdiscCounters struct {
	Qdisc
	Packets    uint64 `json:"packets"`
	Bytes      uint64 `json:"bytes"`
	Drops      uint64 `json:"drops"`
	Overlimits uint64 `json:"overlimits"`
	Requeues   uint64 `json:"requeues"`
	Qlen       uint32 `json:"qlen"`
	Backlog    uint32 `json:"backlog_bytes"`
}

// LedgerRow is the final total of one program on one CPU:
// Seen = Submitted + Filtered + Lost.
type LedgerRow struct {
	Program   int    `json:"program"`
	CPU       int    `json:"cpu"`
	Seen      uint64 `json:"seen"`
	Submitted uint64 `json:"submitted"`
	Filtered  uint64 `json:"filtered"`
	Lost      uint64 `json:"lost"`
	Missed    uint64 `json:"missed,omitempty"`   // recursion misses, all CPUs, in the CPU 0 row
	LastSeq   uint32 `json:"last_seq,omitempty"` // of the CPU, in the program 0 row; 0 also when none was taken
}

// Child is the command that ran while recording.
type Child struct {
	Command []string `json:"command"`
	Exit    int      `json:"exit"` // -1: killed by a signal or never started
	Signal  string   `json:"signal,omitempty"`
	BeginNS uint64   `json:"begin_ns"` // CLOCK_MONOTONIC
	EndNS   uint64   `json:"end_ns"`
	Output  string   `json:"output,omitempty"` // first 64 KiB of stdout

	Setup string `json:"setup,omitempty"` // the command of sh that prepared it

	CPU *CPUTimes `json:"cpu,omitempty"` // of the machine, while it ran
}

// CPUTimes is what all CPUs of the machine did meanwhile, as /proc/stat counts
// it: in ns, in steps of a clock tick of user space (10 ms). Who records is
// part of it.
type CPUTimes struct {
	User    uint64 `json:"user_ns"` // with nice
	System  uint64 `json:"system_ns"`
	Idle    uint64 `json:"idle_ns"` // with iowait
	IRQ     uint64 `json:"irq_ns"`
	SoftIRQ uint64 `json:"softirq_ns"`
	Steal   uint64 `json:"steal_ns"`
}

// Busy is the time in which CPUs worked for this machine.
func (c CPUTimes) Busy() uint64 { return c.User + c.System + c.IRQ + c.SoftIRQ }

// Self is what recording cost.
type Self struct {
	UserNS  uint64       `json:"user_ns"`
	SysNS   uint64       `json:"sys_ns"`
	MaxRSS  uint64       `json:"max_rss_bytes"`
	Written uint64       `json:"written_bytes"`
	BPF     []ProgramRun `json:"bpf,omitempty"`
}

// ProgramRun is the kernel's own count of one program, when BPF statistics are on.
type ProgramRun struct {
	Program int    `json:"program"`
	Runs    uint64 `json:"runs"`
	NS      uint64 `json:"ns"`
}
