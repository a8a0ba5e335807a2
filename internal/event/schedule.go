// SPDX-License-Identifier: Apache-2.0

package event

// What a Schedule tells (Schedule.What).
const (
	ScheduleListed = iota // a qdisc was put on its CPU's list: SCHED went from 0 to 1
	ScheduleServed        // net_tx_action began on the CPU, which takes all that is on the list
	ScheduleReset         // a lockless qdisc was emptied (qdisc_reset): Dur is how long that took
)

// Schedule is a step in how a qdisc comes to be run, or is emptied. One that
// tells of a list being served names no qdisc and no device.
type Schedule struct {
	Header
	Qdisc      uint64 `unit:"addr"`
	QdiscFlags uint32
	Handle     uint32
	Waiting    uint32 // qdiscs on the CPU's list: this one and those before it; of those that are recorded
	What       uint8  // Schedule*
	QdiscState uint8  // of a reset: when it began
	TxqState   uint8  // 0 where the qdisc serves several queues
	InAction   uint8  // within net_tx_action
	Held       uint8  // of a reset: HeldRun if somebody had the qdisc when it began, the resetter or another
	Pad        [7]uint8
}
