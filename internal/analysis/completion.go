// SPDX-License-Identifier: Apache-2.0

package analysis

import (
	"github.com/txtrace/txtrace/internal/event"
	"github.com/txtrace/txtrace/internal/model"
)

// Completion is a snapshot of a queue's struct dql that was taken because
// num_completed had moved, and the step that led to it.
type Completion struct {
	event.Complete
	Queue *Queue

	// After is the snapshot. Before is the one before it on this queue that was
	// not torn, and valid only if Linked: the first one has none.
	Before, After model.DQL
	Linked        bool
	Since         uint64 // time of the snapshot before, ns

	// Step is how the model explains the step from Before to After; empty
	// outcome when not Linked.
	Step model.Explanation

	// Single says that exactly one completion lies between Before and After,
	// unless a record is missing in that time.
	Single bool

	// Foreign says that another CPU, or what this one interrupted, may have been
	// writing the struct when this snapshot was taken.
	Foreign bool

	// Finished says that the completions that it shows had run to their end,
	// where they start the queue again: what completes the queue took it.
	Finished bool

	// Alone is since when nobody else took a snapshot of the queue, which is
	// what makes this one not Foreign; a record that is missing since then may
	// have been one.
	Alone uint64

	// Stale says that a newer snapshot was recorded before this one.
	Stale bool

	// Bytes is how far num_completed advanced since Before.
	Bytes uint32
}

// Torn says that nothing may be concluded from the snapshot: its two copies
// disagree, or a newer one was recorded before it.
func (c *Completion) Torn() bool { return c.Flags&event.FlagTorn != 0 || c.Stale }

// Writer is who took a snapshot: two of one writer were taken one after the
// other, others may interrupt each other or run at once.
type Writer struct {
	cpu     uint16
	context uint8
	task    uint32
}

// Writer is who took the snapshot.
func (c *Completion) Writer() Writer {
	w := Writer{cpu: c.CPU, context: c.Context}
	if c.Context == event.ContextTask {
		w.task = c.Pid
	}
	return w
}

// From is since when nothing may be missing for the step to be what Step says.
func (c *Completion) From() uint64 {
	if c.Foreign {
		return c.Since
	}
	return min(c.Since, c.Alone)
}

// Own says that the code that completes the queue took the snapshot, not some
// other record's program.
func (c *Completion) Own() bool { return c.Source != event.SourceSnapshot }

// ByItself says that it ran in a poll or an interrupt, and not when the driver
// was called to send.
func (c *Completion) ByItself() bool {
	return c.Source == event.SourceNAPI || c.Source == event.SourceHardirq
}

// StackStopped says that BQL had the queue stopped when the snapshot was taken.
func (c *Completion) StackStopped() bool { return c.TxqState&event.StackXoff != 0 }
