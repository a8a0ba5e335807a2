// SPDX-License-Identifier: Apache-2.0

package event

// What a notice tells (Notice.Subtype).
const (
	NoticeInvalid    = iota
	NoticeArmed      // every program is attached: the window opens
	NoticeDisarmed   // the window is closed; programs detach after it
	NoticeWatchdog   // net_dev_xmit_timeout; After is the queue
	NoticeDevAdded   // Name is the device, After its MTU; a new generation of (netns, ifindex)
	NoticeDevRemoved // Name is the device; also when its namespace ended
	NoticeDevChanged // Name is the device, Before and After its MTU; its name, state or MTU changed
	NoticeQdisc      // Name is the qdisc kind, empty when it is gone; After is its handle, Before its parent
	NoticeSysctl     // Name is the sysctl; Before and After its values
	NoticeQueueLimit // Name is limit_min or limit_max; Before and After its values; of a simulator only
	NoticeDisk       // the output could not take more; Name says why
	NoticeStall      // napi:dql_stall_detected; Before is how long, After stall_thrs in its low half, both in jiffies; above are the queue's state and the device's, a byte each
)

// Notice is a change of the world that rules must know of.
type Notice struct {
	Header
	Before  uint64
	After   uint64
	Name    [32]byte
	Subtype uint8
	Pad     [7]uint8
}

// Ledger is the running total of one program on one CPU:
// Seen = Submitted + Filtered + Lost holds.
type Ledger struct {
	Header
	Seen      uint64
	Submitted uint64
	Filtered  uint64
	Lost      uint64
	Missed    uint64 // recursion misses of the program, all CPUs, in the CPU 0 row only
	Program   uint32 // index into the capture header's programs
	OfCPU     uint32 // the CPU that the row is of; Header.CPU is the recorder's
}
