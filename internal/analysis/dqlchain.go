// SPDX-License-Identifier: Apache-2.0

package analysis

import (
	"github.com/txtrace/txtrace/internal/event"
	"github.com/txtrace/txtrace/internal/model"
)

// snapshots kept per queue: the completions that may fall into one bracket.
const snapshots = 64

// dqlChain links the snapshots of one queue's struct dql.
type dqlChain struct {
	last    model.DQL
	jiffies uint64
	time    uint64
	cpu     uint16
	own     bool
	known   bool
	stale   int // snapshots in a row that were older than the one before

	ring [snapshots]dqlState
	n    int // snapshots ever taken

	sampled [4]sampling // who took snapshots last: three of one CPU, and another
}

// dqlState is what a bracket needs to know of a snapshot.
type dqlState struct {
	numCompleted uint32
	adjLimit     uint32
	single       bool // exactly one completion led here from the one before
	time         uint64
}

// sampling is when somebody last looked at the queue.
type sampling struct {
	who looker
	at  int // how many snapshots there were with it, 0: none yet
}

// looker is a context of a CPU.
type looker struct {
	cpu  uint16
	rank uint8 // of those of a CPU, a higher one interrupts a lower one
}

// tears says whether l, which may be what completes the queue, can be halfway
// through that while the other one looks.
func (l looker) tears(other looker) bool { return l.cpu != other.cpu || l.rank < other.rank }

func rank(context uint8) uint8 {
	switch context {
	case event.ContextTask:
		return 0
	case event.ContextHardirq:
		return 2
	}
	return 1
}

// known is how many snapshots one writer must have taken alone before it is
// taken for what completes the queue. Another CPU, or an interrupt, may come
// first once, between a completion and the end of its poll.
const known = 8

// step links a snapshot to the one before. A torn one is not linked and leaves
// the chain as it was. once says that the driver completes once per look of its
// own, of which none was skipped.
func (c *dqlChain) step(r *event.Complete, once bool) (done Completion) {
	done.Complete = *r
	done.After = model.DQL{
		NumQueued: r.NumQueued, AdjLimit: r.AdjLimit, LastObjCnt: r.LastObjCnt,
		Limit: r.Limit, NumCompleted: r.NumCompleted, PrevOvlimit: r.PrevOvlimit,
		PrevNumQueued: r.PrevNumQueued, PrevLastObjCnt: r.PrevLastObjCnt,
		LowestSlack: r.LowestSlack, SlackStartTime: r.SlackStartTime,
		MaxLimit: r.MaxLimit, MinLimit: r.MinLimit, SlackHoldTime: r.SlackHoldTime,
	}
	if done.Torn() {
		return done
	}
	foreign := c.sample(r)
	done.Foreign, done.Finished, done.Alone = foreign, !foreign && c.n >= known-1, 1
	if c.n >= snapshots {
		done.Alone = c.ring[c.n%snapshots].time
	}
	if c.known {
		done.Linked, done.Before, done.Since = true, c.last, c.time
		w := model.Window{From: c.jiffies, To: r.Jiffies, Foreign: foreign}
		if done.Single = once && c.single(&done); done.Single {
			w.Completions = 1
		}
		done.Step = model.Explain(c.last, done.After, w)
		done.Bytes = r.NumCompleted - c.last.NumCompleted
		switch {
		case done.Step.Outcome == model.OutcomeReset && int32(done.Bytes) < 0:
			done.Bytes = r.NumCompleted // what was in flight at the reset is lost
		case int32(done.Bytes) < 0:
			return c.older(done)
		}
	}
	c.stale = 0
	c.last, c.jiffies, c.time, c.cpu, c.own, c.known = done.After, r.Jiffies, r.Time, r.CPU, done.Own(), true
	c.ring[c.n%snapshots] = dqlState{r.NumCompleted, r.AdjLimit, done.Linked && done.Step.Outcome == model.OutcomeEqual, r.Time}
	c.n++
	return done
}

// single says whether the snapshots at both ends are the completing code's own
// and every look in between counted: the recorder looks at a queue only while
// bytes are in flight, so one that was empty may have been used and completed
// unseen.
func (c *dqlChain) single(done *Completion) bool {
	return c.own && done.Own() && c.last.InFlight() != 0
}

// older deals with a snapshot whose num_completed is below the one's before:
// its program was interrupted, or another CPU's was faster, between the reading
// and the writing of the record. Several in a row are a reset that was not
// recognized, and begin anew.
func (c *dqlChain) older(done Completion) Completion {
	done.Stale, done.Finished, done.Linked, done.Bytes, done.Step = true, false, false, 0, model.Explanation{}
	if c.stale++; c.stale >= 4 {
		c.known, c.stale = false, 0
	}
	return done
}

// sample says whether the snapshot, or the one before, may have been taken
// while somebody else was writing. Any interrupt looks at all queues, and any
// poll at all of its device, so only a queue that one writer alone has looked at
// for a while is safe.
func (c *dqlChain) sample(r *event.Complete) (foreign bool) {
	now := looker{r.CPU, rank(r.Context)}
	foreign = r.Source == event.SourceSnapshot || c.known && !c.own
	slot := &c.sampled[0]
	for i := range c.sampled {
		s := &c.sampled[i]
		if s.at > 0 && c.n-s.at < snapshots-1 && s.who.tears(now) {
			foreign = true
		}
		if slot.who != now && (s.who == now || s.at < slot.at) {
			slot = s
		}
	}
	*slot = sampling{now, c.n + 1}
	return foreign
}

// between finds the least and greatest adj_limit of the states from one
// snapshot to a later one, if every completion in between is known.
func (c *dqlChain) between(fromCompleted, fromAdj, toCompleted, toAdj uint32) (least, most uint32, ok bool) {
	oldest := max(0, c.n-snapshots)
	to := c.n - 1
	for ; to >= oldest; to-- {
		if s := c.ring[to%snapshots]; s.numCompleted == toCompleted && s.adjLimit == toAdj {
			break
		}
	}
	least, most = toAdj, toAdj
	for i := to; i > oldest; i-- {
		if !c.ring[i%snapshots].single {
			return 0, 0, false
		}
		s := c.ring[(i-1)%snapshots]
		if int32(s.adjLimit-least) < 0 {
			least = s.adjLimit
		}
		if int32(s.adjLimit-most) > 0 {
			most = s.adjLimit
		}
		if s.numCompleted == fromCompleted && s.adjLimit == fromAdj {
			return least, most, true
		}
	}
	return 0, 0, false
}
