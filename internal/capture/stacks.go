// SPDX-License-Identifier: Apache-2.0

package capture

// Stacks are which calls of the kernel led to the moments that a recording was
// asked for. They are added up over the whole recording and stored with their
// names, so that a capture tells of them on any machine.
type Stacks struct {
	Functions []StackFunction `json:"functions"` // each once
	Moments   []StackMoment   `json:"moments"`
}

// StackFunction is a function of the kernel, or of one of its modules.
type StackFunction struct {
	Name   string `json:"name"` // as /proc/kallsyms has it, or [unknown]
	Module string `json:"module,omitempty"`
}

// StackMoment is all stacks of a moment. The counts of Stacks and Lost are Seen.
type StackMoment struct {
	Name   string  `json:"name"` // of Moments
	Seen   uint64  `json:"seen"`
	Lost   uint64  `json:"lost,omitempty"` // no room, or the place of another stack
	Stacks []Stack `json:"stacks"`
}

// Stack is one way that calls led to a moment, and what came that way.
type Stack struct {
	Count   uint64 `json:"count"`
	Packets uint64 `json:"packets,omitempty"`
	Bytes   uint64 `json:"bytes,omitempty"`
	NS      uint64 `json:"ns,omitempty"`
	Calls   []int  `json:"calls"` // of Functions, the outermost first
}

// Add counts what came another time that way.
func (s *Stack) Add(o Stack) {
	s.Count += o.Count
	s.Packets += o.Packets
	s.Bytes += o.Bytes
	s.NS += o.NS
}

// Weights of stacks.
const (
	ByCount   = "count"
	ByPackets = "packets"
	ByBytes   = "bytes"
	ByNS      = "ns"
)

// Moment is one at which stacks can be taken.
type Moment struct {
	Name     string
	Meaning  string
	Function string   // that it is in
	Fact     string   // of the plan, that it is seen by
	Weights  []string // that it has
}

// Moments are all, in the order of enum tx_moment in bpf/stack.h.
//
// Decision: a moment has the weights that are its own. Packets and bytes of a
// handover are those that the driver was given, of a requeue those that were put
// back; ns are the time that its function took, what it called included.
func Moments() []Moment {
	all := []string{ByCount, ByPackets, ByBytes, ByNS}
	return []Moment{
		{"handover", "a list was handed to the driver", "dev_hard_start_xmit", "handover", all},
		{"doorbell", "a single packet was, and the device was told at once", "dev_hard_start_xmit", "handover", all},
		{"requeue", "packets were put back", "sch_direct_xmit", "direct", all},
		{"quota", "a run used its quota up and scheduled its qdisc", "__qdisc_run", "run.rescheduled", []string{ByCount, ByPackets, ByNS}},
		{"schedule", "a qdisc was scheduled", "__netif_schedule", "run.rescheduled", []string{ByCount}},
		{"throttle", "a TCP socket was held back", "tcp_write_xmit", "tsq.throttle", []string{ByCount}},
	}
}
