// SPDX-License-Identifier: Apache-2.0

package event

// Where a completion was noticed (Complete.Source).
const (
	SourceSnapshot = iota // another record's program found num_completed moved
	SourceNAPI            // tracepoint napi_poll
	SourceHardirq         // end of a hard interrupt
	SourceXmit            // inside ndo_start_xmit
)

// Complete is a snapshot of a queue's whole struct dql, taken when
// num_completed moved since the last one. FlagTorn marks one whose two copies
// of the completion half disagree.
type Complete struct {
	Header
	SlackStartTime uint64 `unit:"jiffies"`
	Jiffies        uint64 `unit:"jiffies"` // when the snapshot was taken
	NumQueued      uint32 `unit:"bytes"`
	AdjLimit       uint32 `unit:"bytes"`
	LastObjCnt     uint32 `unit:"bytes"`
	Limit          uint32 `unit:"bytes"`
	NumCompleted   uint32 `unit:"bytes"`
	PrevOvlimit    uint32 `unit:"bytes"`
	PrevNumQueued  uint32 `unit:"bytes"`
	PrevLastObjCnt uint32 `unit:"bytes"`
	LowestSlack    uint32 `unit:"bytes"`
	MaxLimit       uint32 `unit:"bytes"`
	MinLimit       uint32 `unit:"bytes"`
	SlackHoldTime  uint32 `unit:"jiffies"`
	TxqState       uint8
	Source         uint8 // Source*
	Pad            [6]uint8
}
