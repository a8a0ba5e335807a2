// SPDX-License-Identifier: Apache-2.0

package sim

import "github.com/txtrace/txtrace/internal/event"

// trace is what is gathered of one queue while a capture is read.
type trace struct {
	begin  uint64 // of the recording
	fresh  uint64 // packets dequeued for the first time
	gso    uint32 // length of gso_skb
	inRun  bool
	points []point
	passed []Arrival
	quiets []event.Quiet
	quiet  uint64 // packets of those

	enqueues uint64 // the most of points
	meter    []reading
	states   []state
	bypass   uint64 // when the last bypass send began
	lens     []lens

	runFresh uint64 // fresh and gso before the run's first dequeue
	runGso   uint32

	steps       []step // what the CPU that ran the qdisc did
	since       uint64 // end of its last step
	charges     []charge
	completed   uint32
	known       bool
	delays      []uint64
	completions []completion
	actions     []Moment
	waits       []uint64 // from when the qdisc was scheduled to net_tx_action
	ended       uint64   // the last run
	pending     uint64   // since when it is scheduled; 0: it is not
	limits      []LimitChange
	sources     [4]uint64
	stops       []uint32 // packets in flight when the driver stopped the queue
	busyNS      uint64   // time in which the link was never idle, and what it sent
	busyBytes   uint64
	lastDone    uint64
	inFlight    bool
}

func (t *trace) point(at, left uint64, cpu uint16) {
	t.add(point{at: at, total: t.fresh + left, cpu: cpu})
}

func (t *trace) add(p point) {
	t.points = append(t.points, p)
	t.enqueues = max(t.enqueues, p.total)
}

// arrivals that are known of so far.
func (t *trace) arrivals() uint64 { return t.enqueues + t.quiet + uint64(len(t.passed)) }

// step is something that the CPU that ran the qdisc did: a dequeue of n
// packets, or a hand-over of them.
type step struct {
	at, took uint64
	n        uint32
	handed   bool
	segs     uint32
}

func (t *trace) dequeued(d *event.Dequeue, n uint32) {
	if t.since == 0 && d.Parent != 0 { // the run's begin, of which this is the low half
		t.since = d.Time - uint64(uint32(d.Time)-d.Parent)
	}
	if t.since != 0 && d.Time >= t.since {
		t.steps = append(t.steps, step{t.since, d.Time - t.since, n, false, n})
	}
	t.since = d.Time
	t.meter = append(t.meter, reading{d.Time, d.NumQueued, noHand})
}

// mostCharges bounds the hand-overs that wait for their completion.
const mostCharges = 1 << 12

// charge is what a hand-over left num_queued at.
type charge struct {
	queued uint32
	at     uint64
}

func (t *trace) handed(d *event.Direct) {
	if d.Handovers == 1 && d.Hand.Rest == 0 || d.Hand.Attempts > 0 {
		t.steps = append(t.steps, step{d.Begin(), uint64(d.Dur), d.Hand.Attempts, true, d.GsoSegs})
	}
	t.states = append(t.states, state{d.Time, d.TxqStateEnd})
	h := &d.Hand
	if d.Handovers == 1 {
		t.meter = append(t.meter, reading{d.Begin(), h.NumQueuedBegin, handBegins}, reading{d.Time, h.NumQueuedEnd, handEnds})
	}
	if h.Attempts > 0 {
		if len(t.charges) == mostCharges {
			t.charges = t.charges[1:]
		}
		t.charges = append(t.charges, charge{h.NumQueuedEnd, d.Time})
		if mean := h.Bytes / max(h.Packets, 1); mean > 0 && h.TxqStateLast&^h.TxqStateBegin&event.DrvXoff != 0 {
			t.stops = append(t.stops, (h.NumQueuedEnd-h.NumComplEnd)/mean)
		}
	}
	t.since = d.Time
}

func (t *trace) ran(r *event.Run) {
	t.since = 0
	if r.Who == event.WhoNetTxAction && t.pending == 0 {
		t.pending = t.woken(r.Begin()) // by what no record tells of
	}
	t.scheduled(r.Begin(), r.QdiscStateBegin&event.QdiscStateSched != 0, r.CPU)
	t.scheduled(r.Time, r.QdiscStateEnd&event.QdiscStateSched != 0, r.CPU)
	t.ended = r.Time
	t.states = append(t.states, state{r.Time, r.TxqStateEnd})
}

// completion is what a completion left num_completed at.
type completion struct {
	at        uint64
	completed uint32
	cpu       uint16
}

// complete notes when completions came, and how long after the hand-over.
func (t *trace) complete(c *event.Complete) {
	if c.Flags&event.FlagTorn != 0 {
		return
	}
	if n := len(t.limits); n == 0 || t.limits[n-1].Min != c.MinLimit || t.limits[n-1].Max != c.MaxLimit {
		t.limits = append(t.limits, LimitChange{c.Time - min(c.Time, t.begin), c.MinLimit, c.MaxLimit})
	}
	t.sources[c.Source&3]++
	t.states = append(t.states, state{c.Time, c.TxqState})
	t.meter = append(t.meter, reading{c.Time, c.NumQueued, noHand})
	t.completions = append(t.completions, completion{c.Time, c.NumCompleted, c.CPU})
	if t.known {
		t.delay(c)
		if t.inFlight && c.NumQueued != c.NumCompleted && c.Time > t.lastDone {
			t.busyNS += c.Time - t.lastDone
			t.busyBytes += uint64(c.NumCompleted - t.completed)
		}
	}
	t.completed, t.known, t.lastDone = c.NumCompleted, true, c.Time
	t.inFlight = c.NumQueued != c.NumCompleted
}

// delay is from the oldest hand-over that was not completed to its completion.
func (t *trace) delay(c *event.Complete) {
	i := 0
	for i < len(t.charges) && int32(t.charges[i].queued-t.completed) <= 0 {
		i++
	}
	if i < len(t.charges) && int32(t.charges[i].queued-c.NumCompleted) <= 0 && c.Time > t.charges[i].at {
		t.delays = append(t.delays, c.Time-t.charges[i].at)
	}
	for i < len(t.charges) && int32(t.charges[i].queued-c.NumCompleted) <= 0 {
		i++
	}
	t.charges = append(t.charges[:0], t.charges[i:]...)
}

// scheduled notes whether the qdisc is: net_tx_action ran, or found another CPU
// running the qdisc, when it is no more.
func (t *trace) scheduled(at uint64, is bool, cpu uint16) {
	switch {
	case is && t.pending == 0:
		t.pending = at
	case !is && t.pending != 0:
		since := min(t.pending, at)
		t.actions = append(t.actions, Moment{since, at, cpu})
		t.waits = append(t.waits, at-since)
		t.pending = 0
	}
}

// woken is when the qdisc was scheduled that net_tx_action ran at a time: at
// one of the last completions since the run before, or else by that run.
func (t *trace) woken(at uint64) uint64 {
	last := t.completions[max(0, len(t.completions)-64):]
	for i := len(last) - 1; i >= 0 && last[i].at > t.ended; i-- {
		if last[i].at <= at {
			return last[i].at
		}
	}
	return min(max(t.ended, t.begin), at)
}
