// SPDX-License-Identifier: Apache-2.0

package analysis

import (
	"strconv"

	"github.com/txtrace/txtrace/internal/capture"
	"github.com/txtrace/txtrace/internal/event"
	"github.com/txtrace/txtrace/internal/model"
)

// List is a list of received skbs that went up together.
type List struct {
	event.GRO
	Device *Device // of its first skb
	CPUs   uint32  // that there may be
	// Grew is the time since the NAPI's list before went up, or recording
	// began. Steady says that the batch was the same then.
	Grew   Span
	Steady bool
}

// WalkCut says that the list was longer than it was walked.
func (l *List) WalkCut() bool { return l.Flags&event.FlagWalkCut != 0 }

// Counted says that each skb is charged its segments: GRO counts those of a skb
// that came merged from the driver, too, but charges it as one.
func (l *List) Counted() bool { return l.Device != nil && l.Device.MergesNothing() }

// InPoll says that the list went up within the NAPI's own poll.
func (l *List) InPoll() bool { return l.Within&event.WithinPoll != 0 }

// HeldKnown says that Held is what the NAPI held when its poll began.
func (l *List) HeldKnown() bool { return l.Held != event.HeldUnknown }

// Why is the reason for which it went up. What is full went up for that, even
// while the driver was done.
func (l *List) Why() model.FlushReason {
	switch {
	case l.RxCount >= l.Batch:
		return model.FlushThreshold
	case l.Within&event.WithinDone != 0:
		return model.FlushComplete
	case l.InPoll():
		return model.FlushPoll
	}
	return model.FlushBusy
}

// AsModel is the list as the model has it.
func (l *List) AsModel() model.Delivery {
	return model.Delivery{Skbs: int(l.Skbs), Count: int(l.RxCount), Why: l.Why()}
}

// Delivery is a list of received skbs, and what came of it to the protocols.
type Delivery struct {
	event.Delivery
	Device *Device // of its first skb
}

// maxNAPIs bounds the NAPIs whose lists are followed.
const maxNAPIs = 1 << 12

// lists follows the NAPIs: when each one's last list went up, and the batch of
// that time.
type lists struct {
	cpus  uint32
	first wentUp // as recording began; a batch of 0 is not known
	last  map[uint64]*wentUp
}

type wentUp struct {
	time  uint64
	batch uint32
}

func newLists(h *capture.Header) lists {
	n, _ := strconv.ParseUint(h.Settings.Sysctls["net.core.gro_normal_batch"], 10, 32)
	return lists{uint32(h.Kernel.PossibleCPUs), wentUp{h.Clock.Monotonic, uint32(n)}, make(map[uint64]*wentUp)}
}

func (ls *lists) list(g *event.GRO, d *Device) List {
	before, now := ls.first, wentUp{g.Time, g.Batch}
	if last := ls.last[g.NAPI]; last != nil {
		before, *last = *last, now
	} else if len(ls.last) < maxNAPIs {
		first := now
		ls.last[g.NAPI] = &first
	}
	return List{*g, d, ls.cpus, Span{min(before.time, g.Time), g.Time}, before.batch != 0 && before.batch == g.Batch}
}
