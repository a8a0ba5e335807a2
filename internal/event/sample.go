// SPDX-License-Identifier: Apache-2.0

package event

// Bits of Sample.Held.
const (
	HeldLock   = 1 << 0 // the qdisc's lock
	HeldRun    = 1 << 1 // __qdisc_run, or a bypass send
	HeldByWhom = 1 << 7 // not known: PREEMPT_RT
)

// Bits of Sample.Device, as enum netdev_state_t spells them.
const (
	DeviceStart     = 1 << 0
	DevicePresent   = 1 << 1
	DeviceNoCarrier = 1 << 2
)

// DequeuedUnknown is Sample.Dequeued where it cannot be read, before 5.16.
const DequeuedUnknown = 1<<64 - 1

// Sample is a look at a queue and its qdisc that nothing but time asked for.
// FlagTorn says that something moved meanwhile. Counts of a qdisc that keeps
// them per CPU are the sums.
type Sample struct {
	Header
	Qdisc      uint64 `unit:"addr"`
	First      uint64 `unit:"addr"` // the skb that would go next, 0 where that cannot be told
	Jiffies    uint64 `unit:"jiffies"`
	TransStart uint64 `unit:"jiffies"` // when the driver last took something
	Dequeued   uint64 `unit:"packets"` // bstats: dequeued, or gone past the empty qdisc
	QdiscFlags uint32
	Handle     uint32
	Qlen       uint32 `unit:"packets"`
	Backlog    uint32 `unit:"bytes"`
	GsoQlen    uint32 `unit:"packets"` // in q->gso_skb
	BadQlen    uint32 `unit:"packets"` // in q->skb_bad_txq
	Requeues   uint32
	NumQueued  uint32 `unit:"bytes"`
	NumCompl   uint32 `unit:"bytes"`
	AdjLimit   uint32 `unit:"bytes"`
	Watchdog   uint32 `unit:"jiffies"` // dev->watchdog_timeo
	TxqState   uint8
	QdiscState uint8
	Held       uint8 // Held*: somebody had the qdisc then
	Device     uint8 // Device*
}
