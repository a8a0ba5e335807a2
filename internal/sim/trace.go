// SPDX-License-Identifier: Apache-2.0

package sim

import "github.com/txtrace/txtrace/internal/event"

// trace is what is gathered of one queue while a capture is read.
type trace struct {
	begin  uint64 // of the recording
	frame  uint32 // bytes of the longest that is no GSO packet
	fresh  uint64 // packets dequeued for the first time
	gso    uint32 // length of gso_skb
	inRun  bool
	points []point
	taken  []taken
	passed []Arrival
	quiets []event.Quiet
	quiet  uint64 // packets of those

	enqueues uint64 // the most of points
	meter    []reading
	states   []state
	bypass   uint64   // when the last bypass send began
	ties     []uint64 // when others began that no record tells of, and that a run followed
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

// taken is a batch: when it was dequeued, its packets, and all up to it.
type taken struct{ at, n, total uint64 }

func (t *trace) point(at, left uint64, cpu uint16) {
	t.add(point{at: at, total: t.fresh + left, cpu: cpu})
}

func (t *trace) add(p point) {
	t.points = append(t.points, p)
	t.enqueues = max(t.enqueues, p.total)
}

// arrivals that are known of so far.
func (t *trace) arrivals() uint64 { return t.enqueues + t.quiet + uint64(len(t.passed)) }

// step is something that the CPU that ran the qdisc did, with n packets.
type step struct {
	at, took uint64
	n        uint32
	kind     stepKind
	rung     []rung // of a hand-over: when the doorbell was, as far as is known
}

// rung is a doorbell, and the packets of a hand-over up to it.
type rung struct {
	at uint64
	n  uint32
}

type stepKind uint8

const (
	stepFirst stepKind = iota // from the run's begin to its first batch
	stepNext                  // from a hand-over to the next batch
	stepHand                  // from a batch to the end of its hand-over
	stepPass                  // a send past the qdisc, up to the run that followed
	stepKinds
)

// step notes one that began when the one before ended.
func (t *trace) step(k stepKind, to uint64, n uint32, bells []rung) {
	if t.since != 0 && to >= t.since {
		t.steps = append(t.steps, step{t.since, to - t.since, max(n, 1), k, bells})
	}
}

// dequeued notes a batch; again says that it was one before.
func (t *trace) dequeued(d *event.Dequeue, n uint32, first, again bool) {
	kind := stepNext
	if first {
		kind, t.since = stepFirst, 0
		if d.Parent != 0 { // the run's begin, of which this is the low half
			t.since = d.Time - uint64(uint32(d.Time)-d.Parent)
		}
	}
	if again {
		n = 1 // the list is taken as it is
	}
	t.step(kind, d.Time, n, nil)
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
	h := &d.Hand
	if d.From == event.FromBypass {
		t.since = d.Begin()
	}
	if d.Hand.Attempts > 0 {
		t.step(stepHand, d.Time, d.Hand.Attempts, t.rings(d))
	}
	t.states = append(t.states, state{d.Time, d.TxqStateEnd})
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

// rings are when a hand-over's doorbell was rung, as far as something of it was
// reported before its end. Reports to its own CPU came with the doorbell.
func (t *trace) rings(d *event.Direct) (list []rung) {
	h := &d.Hand
	each := max(h.Charged/max(h.Attempts, 1), 1)
	i := len(t.completions)
	for i > 0 && t.completions[i-1].at > t.since+1 {
		i--
	}
	for ; i < len(t.completions); i++ {
		c := &t.completions[i]
		n := uint32(max(int32(c.completed-h.NumQueuedBegin), 0)) / each
		if c.at >= d.Time || n == 0 {
			continue
		}
		if c.cpu == d.CPU {
			c.with = t.since
		}
		if k := len(list); n <= h.Attempts && (k == 0 || n > list[k-1].n) {
			list = append(list, rung{c.at - 1, n})
		}
	}
	return list
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
	with      uint64 // begin of the hand-over that it interrupted, and reported of
}

// complete notes when completions came, and how long after the hand-over.
func (t *trace) complete(c *event.Complete) {
	if c.Flags&event.FlagTorn != 0 {
		return
	}
	if n := len(t.limits); n == 0 || t.limits[n-1].Min != c.MinLimit || t.limits[n-1].Max != c.MaxLimit {
		since := t.begin // of the write nothing is known but which completions it was between
		if k := len(t.completions); k > 0 {
			since = t.completions[k-1].at
		}
		at := since + (c.Time-min(c.Time, since))/2
		t.limits = append(t.limits, LimitChange{at - min(at, t.begin), c.MinLimit, c.MaxLimit})
	}
	t.sources[c.Source&3]++
	t.states = append(t.states, state{c.Time, c.TxqState})
	t.meter = append(t.meter, reading{c.Time, c.NumQueued, noHand})
	t.completions = append(t.completions, completion{at: c.Time, completed: c.NumCompleted, cpu: c.CPU})
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
		t.actions = append(t.actions, Moment{Since: since, At: at, CPU: cpu})
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
