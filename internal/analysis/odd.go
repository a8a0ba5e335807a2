// SPDX-License-Identifier: Apache-2.0

package analysis

import "github.com/txtrace/txtrace/internal/event"

// What no record of a kind can say, whatever the kernel does: one program reads
// all of it, in an order that is known. Each function names the first that one
// says, empty if there is none.

// Alone is a record of which Odd can be asked.
type Alone interface {
	Head() *event.Header
	Odd() string
}

// bools says that each is 0 or 1.
func bools(list ...uint8) bool {
	for _, b := range list {
		if b > 1 {
			return false
		}
	}
	return true
}

// Odd of a choice of a queue.
func (p *Pick) Odd() string {
	switch {
	case uint32(p.Txq) != p.Index:
		return "the queue"
	case !bools(p.OOO, p.Full, p.Route, p.Rerouted, p.Select, p.Overlap, p.Classes, p.Sub, p.Stamped, p.Exact):
		return "neither yes nor no"
	case p.QueuesBegin == 0 || p.QueuesEnd == 0:
		return "a device without queues"
	case p.JiffiesEnd < p.JiffiesBegin:
		return "jiffies that ran back"
	case p.Stamped == 0 && p.StampBegin|p.StampEnd|uint64(p.Reselect) != 0, max(p.StampBegin, p.StampEnd) > p.JiffiesEnd:
		return "the time of a socket's queue"
	case p.Full == 0 && (p.Sock|p.Birth|p.Since != 0 || p.Route|p.Rerouted|p.Stamped|p.Overlap != 0), p.Full != 0 && p.State == 0:
		return "a socket that is none"
	case !p.HasSocket() && (p.Before != event.NoQueue || p.After != event.NoQueue || p.SkRx != event.NoQueue):
		return "what no socket keeps"
	case p.Maps > event.MapsCPUs|event.MapsRxQueue|event.MapsChanged,
		!p.ByCPU() && p.XpsCPU != event.NoQueue, p.Maps&event.MapsRxQueue == 0 && p.XpsRx != event.NoQueue, p.SkRx == event.NoQueue && p.XpsRx != event.NoQueue:
		return "XPS that is none"
	}
	return ""
}

// Odd of choices that were counted.
func (p *Picks) Odd() string {
	switch {
	case p.All() == 0, p.Bytes < p.All():
		return "choices for nothing"
	case uint64(p.Hashed)+uint64(p.Mapped) > uint64(p.Again)+uint64(p.Unkept), p.Hinted > p.Hashed:
		return "more reasons than choices"
	}
	return ""
}

// Odd of a list of received packets.
func (l *List) Odd() string {
	switch {
	case l.Within > event.WithinPoll|event.WithinDone:
		return "a place that is none"
	case l.InPoll() != l.HeldKnown():
		return "what a poll began with"
	case l.Skbs > l.Segs || l.LastSegs > l.Segs || l.LastSegs == 0 || l.Segs-l.LastSegs < l.Skbs-1 || l.Skbs == 1 && l.LastSegs != l.Segs:
		return "the segments"
	case l.Bytes < l.Skbs:
		return "the bytes"
	}
	return ""
}

// Odd of a call of a driver.
func (c *Call) Odd() string {
	switch {
	case c.JiffiesEnd < c.JiffiesBegin:
		return "jiffies that ran back"
	case c.Segs == 0 || c.Segs > c.Len:
		return "the segments"
	case answerless(c.RC):
		return "an answer that is none"
	}
	return c.oddLife()
}

// odd of the counts that a hand-over has of its calls: where no call was seen
// there are none.
func (h *Handover) odd() string {
	if h.Attempts == 0 && (h.Uncharged|h.Busy|h.BusyCharged|h.Hand.Charged|h.OwedAny|h.OwedDrv != 0 || h.DriverRC != 0) {
		return "calls that were not seen"
	}
	if answerless(h.DriverRC) {
		return "an answer that is none"
	}
	return ""
}

// answerless says that no driver answers so: below NET_XMIT_MASK (15) are those
// for a packet that was taken, and NETDEV_TX_BUSY is above.
func answerless(rc int32) bool { return rc >= 15 && rc != NetdevTxBusy }

// Odd of a send: what is said of a hand-over that was none.
func (d *Direct) Odd() string {
	if d.Handovers == 0 && d.Hand != (event.Hand{}) {
		return "a hand-over that was none"
	}
	return ""
}

// Odd of a free that met a throttled socket.
func (w *Wfree) Odd() string {
	switch {
	case w.TSQBegin&event.TSQThrottled == 0 || w.TSQBegin&event.TSQQueued != 0:
		return "a socket that was not throttled"
	case w.WmemBegin < w.Truesize || w.Truesize == 0:
		return "more freed than there was"
	case !bools(w.Ksoftirqd, w.Overlap):
		return "neither yes nor no"
	}
	return ""
}

// Odd of a socket that was held back.
func (t *Throttle) Odd() string {
	switch {
	case t.TSQBegin&event.TSQThrottled != 0 || t.TSQEnd&(event.TSQThrottled|event.TSQQueued) == 0:
		return "a socket that was not newly throttled"
	case t.Rtx > event.RtxMore || !bools(t.Overlap, t.QueueEmpty):
		return "neither yes nor no"
	case t.PacingStatus > pacingFq:
		return "a pacing that is none"
	}
	return ""
}

// Odd of a socket that goes on.
func (r *Resume) Odd() string {
	if r.Source > event.ResumeRelease {
		return "who did it"
	}
	return ""
}

// Odd of a snapshot.
func (s *Completion) Odd() string {
	if s.Source > event.SourceXmit {
		return "where it was noticed"
	}
	return ""
}

// Odd of sends that were counted.
func (q *Quiet) Odd() string {
	if q.Packets == 0 || q.Bytes < q.Packets {
		return "sends of nothing"
	}
	return ""
}
