// SPDX-License-Identifier: Apache-2.0

package blind

import (
	"slices"

	"github.com/txtrace/txtrace/internal/analysis"
	"github.com/txtrace/txtrace/internal/capture"
	"github.com/txtrace/txtrace/internal/event"
	"github.com/txtrace/txtrace/internal/model"
)

// was is the record before the change, and is after it.
func was[T any](m *mutation) *T { r, _ := any(m.tape.recs[m.index]).(*T); return r }
func is[T any](m *mutation) *T  { r, _ := any(m.changed).(*T); return r }

// truthy: the kernel's answer is yes or no.
func truthy(m *mutation) bool { return (m.before != 0) == (m.after != 0) }

// still: the change is one of bits that say nothing of what the qdisc is.
func still(m *mutation) bool {
	const kin = event.QdiscOneTxQueue | event.QdiscCPUStats | event.QdiscNoLock
	return (m.before^m.after)&kin == 0
}

// to says that the new value is v, and upTo that it is no more.
func to(v uint64) func(*mutation) bool { return func(m *mutation) bool { return m.after == v } }
func upTo(v uint64) func(*mutation) bool {
	return func(m *mutation) bool { return m.after <= v }
}

// own: the record is of the recorder itself, whose numbers no ledger knows.
func own(m *mutation) bool { return m.tape.recs[m.index].Head().CPU == event.UserCPU }

// only: it is the only record of its CPU.
func only(m *mutation) bool {
	n := 0
	for _, r := range m.tape.recs {
		if r.Head().CPU == m.tape.recs[m.index].Head().CPU {
			n++
		}
	}
	return n == 1
}

// interrupted: what was put before its elder is of a context that interrupts the
// elder's, or of another task.
func interrupted(m *mutation) bool {
	level := map[uint8]int{event.ContextSoftirq: 1, event.ContextKsoftirqd: 1, event.ContextHardirq: 2}
	elder, other := m.tape.recs[m.index].Head(), m.swapped
	return elder.Time == other.Time || level[other.Context] > level[elder.Context] || other.Pid != elder.Pid || other.Time < elder.Time
}

// bypassed: the record is of a send that no other record tells of.
func bypassed(m *mutation) bool {
	d := was[event.Direct](m)
	return d != nil && d.From == event.FromBypass
}

// unended: the run that the record is of has no record: recording ended first.
func unended(m *mutation) bool { return run(m) == nil }

// run is the one that a record is part of.
func run(m *mutation) *event.Run {
	h := m.tape.recs[m.index].Head()
	for _, r := range m.tape.recs[m.index:] {
		if run, ok := r.(*event.Run); ok && run.CPU == h.CPU && run.ID() == h.Parent {
			return run
		}
	}
	return nil
}

// childless: no record is of the run.
func childless(m *mutation) bool {
	h := m.tape.recs[m.index].Head()
	return !slices.ContainsFunc(m.tape.recs[:m.index], func(r event.Any) bool {
		c := r.Head()
		return c.CPU == h.CPU && c.Parent == h.ID() && c.Time >= h.Begin()
	})
}

// contended: another CPU sent from a qdisc within the error of the clocks.
func contended(m *mutation) bool {
	h := m.tape.recs[m.index].Head()
	return m.after == 0 && slices.ContainsFunc(m.tape.recs, func(r event.Any) bool {
		d, ok := r.(*event.Direct)
		return ok && d.CPU != h.CPU && d.Begin() <= h.Time+clockError && d.Time+clockError >= h.Begin()
	})
}

// outside: the record is no part of a run that has one, which would tell the
// same of it; of a run it is no more, and then the run lacks it.
func outside(m *mutation) bool {
	switch m.kind {
	case "Dequeue", "Direct":
		return run(m) == nil
	}
	return true
}

// hand is what a record says of a hand-over.
func hand(m *mutation) *event.Hand {
	switch r := m.changed.(type) {
	case *event.Direct:
		return &r.Hand
	case *event.Handover:
		return &r.Hand
	}
	return nil
}

// some: of the packets that the driver took, some were not charged and some were.
func some(m *mutation) bool {
	h := hand(m)
	return h.Charged > 0 && h.Uncharged < h.Attempts-h.Busy || h.Charged == 0
}

// stopping: a queue that BQL stopped in this list or before has no more than
// its packets to say so.
func stopping(m *mutation) bool {
	h := hand(m)
	return h.OwedAny >= h.OwedDrv && h.OwedAny <= h.Attempts-h.Busy
}

func below15(m *mutation) bool { return int64(m.before) < 15 && int64(m.after) < 15 }

// told is the hand-over that a call of a driver is of, by the records after it.
func told(m *mutation) (*event.Header, *event.Hand) {
	p := m.tape.recs[m.index].Head()
	for _, r := range m.tape.recs[m.index:] {
		if h := r.Head(); h.CPU != p.CPU || h.ID() != p.Parent {
			continue
		}
		switch r := r.(type) {
		case *event.Direct:
			return &r.Header, &r.Hand
		case *event.Handover:
			return &r.Header, &r.Hand
		}
	}
	return nil, nil
}

// untold: no record tells of the hand-over, which was a plain bypass or had not
// ended, or it lacks a call.
func untold(m *mutation) bool {
	h, hand := told(m)
	if h == nil {
		return true
	}
	p, calls := m.tape.recs[m.index].Head(), uint32(0)
	for _, r := range m.tape.recs[:m.index+1] {
		if c, ok := r.(*event.Packet); ok && c.CPU == p.CPU && c.Parent == p.Parent && c.Time >= h.Begin() {
			calls++
		}
	}
	return calls > hand.Attempts
}

// notFirst: the hand-over does not name the packet.
func notFirst(m *mutation) bool {
	_, hand := told(m)
	return hand == nil || hand.First != was[event.Packet](m).Skb
}

// inCall: trans_start still is of the time of the call.
func inCall(m *mutation) bool {
	p := is[event.Packet](m)
	return p.JiffiesBegin <= p.TransStart && p.TransStart <= p.JiffiesEnd
}

// timed: the core sets trans_start.
func timed(m *mutation) bool {
	p := is[event.Packet](m)
	return p.RC == 0 && p.Flags&event.FlagUnlocked == 0
}

// picks are all ways in which kernels choose.
var picks = []model.Variant{model.PickCacheForever, model.PickCacheExpires}

func pickOf(m *mutation) *analysis.Pick {
	return &analysis.Pick{Pick: *is[event.Pick](m), Kernel: &m.tape.header.Kernel}
}

// possiblePick: the model chooses that queue, or one that it is not told enough
// to choose, and leaves the socket as it is.
func possiblePick(m *mutation) bool {
	p := pickOf(m)
	return slices.ContainsFunc(picks, func(cache model.Variant) bool {
		for _, at := range []uint64{p.JiffiesBegin, p.JiffiesEnd} {
			queue, why, keeps := p.Model(cache, at)
			chosen := queue == int(p.Index) || !p.Plain() && why != model.PickHit
			kept := keeps == p.Keeps() || !p.Plain() && why != model.PickHit && p.Keeps() == int(p.Index)
			if p.Select != 0 || p.QueuesBegin == 1 || chosen && (kept || !p.HasSocket()) {
				return true
			}
		}
		return false
	})
}

// doubtful: two reads differ.
func doubtful(m *mutation) bool {
	p := pickOf(m)
	return p.Resized() || p.Remapped() || p.Overlap != 0 || p.Rerouted != 0
}

// possibleList: the model lets it go up under some variant, where it is known
// how much each was charged.
func possibleList(m *mutation) bool {
	g := is[event.GRO](m)
	d := model.Delivery{Skbs: int(g.Skbs), Count: int(g.RxCount)}
	for _, unit := range []model.Variant{model.GROBatchSegs, model.GROBatchSkbs, model.GROBatchFrags} {
		for _, last := range []uint32{g.LastSegs, 1} {
			if legal, _ := model.LegalDelivery(unit, int(g.Batch), d, int(last)); legal {
				return true
			}
		}
	}
	return g.Flags&event.FlagWalkCut != 0
}

// unfollowed says that the capture lacks the ends of skbs.
func unfollowed(m *mutation) bool {
	return !slices.ContainsFunc(m.tape.header.Plan, func(c capture.Choice) bool { return c.Fact == "packet.life" && c.State == "chosen" })
}

// unsummed: T7 does not hold the socket's sum, or may not be so exact.
func unsummed(m *mutation) bool {
	t := is[event.Transmit](m)
	off := int32(t.Wmem - (t.Before + t.Sent - t.Freed))
	return t.Sending&event.SendingSummed == 0 || t.Sending&event.SendingRace != 0 || max(off, -off) <= 1<<14
}

// unsent: no call of a driver is of what was enqueued under that number.
func unsent(m *mutation) bool {
	e := was[event.Enqueue](m)
	return e.Order == 0 || !slices.ContainsFunc(m.tape.recs[m.index:], func(r event.Any) bool {
		p, ok := r.(*event.Packet)
		return ok && p.Order == e.Order && p.Txq == e.Txq && p.Ifindex == e.Ifindex
	})
}

// unqueued: the packet went into no qdisc with a lock that tells of it.
func unqueued(m *mutation) bool {
	p, now := was[event.Packet](m), is[event.Packet](m)
	return !slices.ContainsFunc(m.tape.recs[:m.index], func(r event.Any) bool {
		e, ok := r.(*event.Enqueue)
		return ok && e.Txq == p.Txq && e.Ifindex == p.Ifindex && e.Order != 0 && (p.Order != 0 || now.Order != 0)
	})
}
