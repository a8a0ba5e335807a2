// SPDX-License-Identifier: Apache-2.0

package analysis

import "github.com/txtrace/txtrace/internal/event"

// kinFlags are the flags of a qdisc that stay as they are.
const kinFlags = event.QdiscOneTxQueue | event.QdiscNoLock | event.QdiscCPUStats

// Odd names what a run and the records of its parts say differently of the same
// thing, or what no run can say; empty when they agree. One program told it to
// the others, so no race is between them. It is asked of runs that are whole.
func (r *Run) Odd() string {
	switch {
	case r.Empty > 1:
		return "empty dequeues: the first one ends a run"
	case r.Who > event.WhoNetTxAction:
		return "who began it"
	}
	var packets, order, last uint32
	for i := range r.Restarts {
		if b := r.Restarts[i].Batch; b != nil {
			switch {
			case b.Qdisc != r.Qdisc || (b.QdiscFlags^r.QdiscFlags)&kinFlags != 0 || b.Netns != r.Netns || b.Ifindex != r.Ifindex:
				return "the qdisc of a dequeue"
			case !r.within(&b.Header) || r.OneTxQueue() && b.Txq != r.Txq:
				return "where a dequeue was"
			case b.Before != packets || b.Order != order:
				return "what came before a dequeue"
			case !b.adds():
				return "the lengths of a list"
			}
			packets += b.Packets
			last = b.Packets
			order++
		}
		if d := r.Restarts[i].Direct; d != nil {
			switch {
			case d.Qdisc != r.Qdisc || (d.QdiscFlags^r.QdiscFlags)&kinFlags != 0 || d.Netns != r.Netns || d.Ifindex != r.Ifindex:
				return "the qdisc of a send"
			case d.Handle != r.Handle || !r.within(&d.Header) || r.OneTxQueue() && d.Txq != r.Txq || d.Batch != nil && d.Txq != d.Batch.Txq:
				return "where a send was"
			case d.Batch != nil && !d.sends(d.Batch):
				return "what a send was given"
			}
		}
	}
	if last != r.LastPackets {
		return "the last dequeue"
	}
	return ""
}

// within says whether a record may be of the run's own task, one span deeper.
func (r *Run) within(h *event.Header) bool {
	return h.Pid == r.Pid && h.Context == r.Context && h.Depth == r.Depth+1 && h.Time >= r.Begin() && h.Time <= r.Time
}

// adds says whether the lengths of a list's ends fit its sum.
func (b *Batch) adds() bool {
	switch {
	case b.Cut():
		return true
	case b.Walked == 1:
		return b.First == b.Last && b.FirstLen == b.Bytes && b.LastLen == b.Bytes
	}
	return b.First != b.Last && uint64(b.FirstLen)+uint64(b.LastLen) <= uint64(b.Bytes)
}

// sends says whether the send is of what the dequeue gave.
func (d *Direct) sends(b *Batch) bool {
	return d.Dequeued() && d.Packets == b.Packets && d.Bytes == b.Bytes && d.GsoSegs == b.GsoSegs && d.PktLen == b.PktLen
}
