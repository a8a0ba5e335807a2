// SPDX-License-Identifier: Apache-2.0

package model

// FlushReason names why a list of received skbs went up.
type FlushReason string

// The reasons. A list that is full when a poll ends went up by the threshold
// before it ended.
const (
	FlushThreshold FlushReason = "threshold" // the batch was full
	FlushComplete  FlushReason = "complete"  // the driver was done polling
	FlushPoll      FlushReason = "poll"      // a poll used its whole budget
	FlushBusy      FlushReason = "busy"      // a cycle of busy polling ended
	FlushBusyStop  FlushReason = "busy-stop" // the last poll of busy polling used its whole budget
	FlushAlone     FlushReason = "alone"     // a skb that is not batched
)

// RxSkb is a skb that GRO is done with.
type RxSkb struct {
	Segments int  // NAPI_GRO_CB(skb)->count, which is 0 where GRO is off
	Frags    bool // the driver gave it by napi_gro_frags
	Merged   bool // GRO made it of several, so that it came by a flush of GRO
}

// Delivery is a list of skbs that went up to the protocols together.
type Delivery struct {
	Skbs  int
	Count int // what was held against gro_normal_batch: skbs or segments
	Why   FlushReason
}

// RxList is rx_list and rx_count of a NAPI: skbs that wait to go up together
// (002; since 6.15 a part of gro_node).
type RxList struct {
	Skbs  int
	Count int
}

// Add is gro_normal_one: a skb joins the list, which goes up when it is full.
// 002 says "when its length exceeds" the batch; its code sends it up when it
// has reached it, with 8 of 8.
func (l *RxList) Add(unit Variant, batch int, skb RxSkb) (d Delivery, up bool) {
	if unit == GROBatchFrags && (!skb.Frags || skb.Merged) {
		return Delivery{1, 1, FlushAlone}, true
	}
	l.Skbs++
	l.Count += countOf(unit, skb)
	if l.Count < batch {
		return Delivery{}, false
	}
	return l.flush(FlushThreshold)
}

func countOf(unit Variant, skb RxSkb) int {
	if unit == GROBatchSegs {
		return max(skb.Segments, 1)
	}
	return 1
}

// flush is gro_normal_list.
func (l *RxList) flush(why FlushReason) (d Delivery, up bool) {
	d = Delivery{l.Skbs, l.Count, why}
	*l = RxList{}
	return d, d.Skbs > 0
}

// Complete is napi_complete_done, by which a driver ends its polling. While a
// socket polls the device itself (NAPIF_STATE_IN_BUSY_POLL) it leaves the list
// to the cycle (rule G2).
func (l *RxList) Complete(busy bool) (d Delivery, up bool) {
	if busy {
		return Delivery{}, false
	}
	return l.flush(FlushComplete)
}

// Polled is the end of __napi_poll. Who used the whole budget is polled again,
// and may keep nothing until then; who did not has completed.
func (l *RxList) Polled(whole bool) (d Delivery, up bool) {
	if !whole {
		return Delivery{}, false
	}
	return l.flush(FlushPoll)
}

// BusyCycle is the end of a cycle of napi_busy_loop (002, since its v2).
func (l *RxList) BusyCycle() (d Delivery, up bool) {
	return l.flush(FlushBusy)
}

// BusyStop is the end of busy_poll_stop, which polls once more to have the
// device's interrupts back. That poll may have completed, and another CPU may
// own the NAPI by now, so the list is left alone unless the whole budget was
// used (002, patch 3).
func (l *RxList) BusyStop(whole bool) (d Delivery, up bool) {
	if !whole {
		return Delivery{}, false
	}
	return l.flush(FlushBusyStop)
}

// LegalDelivery says whether a list may have gone up with this count (rule G1),
// and whether the threshold sent it, which the count alone tells. last is the
// segments of its last skb, or 0 where they are not known.
func LegalDelivery(unit Variant, batch int, d Delivery, last int) (legal, threshold bool) {
	threshold = d.Count >= batch
	if unit != GROBatchSegs {
		return d.Skbs == d.Count && d.Skbs <= batch, threshold
	}
	before := d.Skbs - 1 // at least one each
	if last > 0 {
		before = d.Count - last
	}
	return d.Skbs <= d.Count && d.Skbs-1 <= before && before < batch, threshold
}
