// SPDX-License-Identifier: Apache-2.0

package rules

import (
	"github.com/txtrace/txtrace/internal/analysis"
	"github.com/txtrace/txtrace/internal/model"
)

var x6 = analysis.Rule{
	ID:         "X6",
	Sentence:   "What a hand-over left is the unsent end of its list, goes to gso_skb once, and comes out of it in the order of the variant.",
	Why:        "A packet that is in neither part is lost, one that is in both is sent twice. And what was taken out first must be sent first, which whole lists put to the tail broke.",
	Documents:  []string{"000_dfeb1c712f3ce5c5", "net/sched: fix packet reordering on requeue"},
	Kernel:     "dev_requeue_skb",
	Needs:      []string{"direct", "handover", "handover.attempts", "dequeue"},
	Hooks:      attemptHooks,
	Switches:   []model.Switch{model.SwitchRequeue},
	Strength:   analysis.Exact,
	Antecedent: "a hand-over, one from a qdisc that left packets, or the next batch after a requeue",
	New: func(j *analysis.Judge) analysis.Checks {
		c := checkX6{j: j, waits: make(map[uint64]remainder), turns: make(turns)}
		return analysis.Checks{Direct: c.direct, Handover: c.handover, Batch: c.batch}
	},
}

// remainder is what a qdisc was handed back last.
type remainder struct {
	first  uint64 // head of the remainder
	parked uint32 // entries of gso_skb before it came
	after  uint32 // and after
	time   uint64
}

// maxQdiscs bounds the qdiscs that are followed at a time.
const maxQdiscs = 1 << 12

type checkX6 struct {
	j     *analysis.Judge
	waits map[uint64]remainder // by qdisc
	turns turns
}

func (c *checkX6) direct(d *analysis.Direct) {
	c.turns.took(d.Qdisc, d.CPU, d.Begin(), d.Time)
	c.j.Met(d.Qdisc, d.CPU, d.Begin()-clockError)
	delete(c.waits, d.Qdisc)
	h := d.Handover
	if h == nil {
		c.stopped(d)
		return
	}
	if h.Rest == 0 || h.Partial() {
		return
	}
	switch {
	case !d.Whole:
		c.j.Undecided(d.Doubt())
		return
	case h.Cut():
		c.j.Undecided(analysis.Cut)
		return
	case d.Put() < 0, d.Emptied():
		c.j.Undecided(analysis.Reset)
		return
	}
	c.counts(d, h)
	c.await(d, h.RestFirst)
}

// stopped: without a hand-over all of it went back. What was not validated is
// the list that was taken; validation may have made another one.
func (c *checkX6) stopped(d *analysis.Direct) {
	if d.Whole && !d.Sent() && d.Validate == 0 && d.Put() > 0 && !d.Emptied() {
		c.await(d, d.First)
	}
}

// await remembers what the qdisc was handed back.
func (c *checkX6) await(d *analysis.Direct, first uint64) {
	if len(c.waits) < maxQdiscs {
		c.waits[d.Qdisc] = remainder{first, d.GsoQlenBegin, d.GsoQlenEnd, d.Time}
	}
}

// handover compares the lengths of the list, of what the driver took, and of
// what was left: nothing is lost and nothing is sent twice.
func (c *checkX6) handover(h *analysis.Handover) {
	switch {
	case h.Partial() || h.Attempts == 0:
		return
	case h.Cut():
		c.j.Undecided(analysis.Cut)
		return
	case model.Conserved(int(h.Packets), int(h.Attempts), int(h.Busy), int(h.Rest)):
		c.j.Held()
		return
	}
	c.j.Broken(func() *analysis.Evidence {
		return analysis.Show(h.Queue, &h.Header, "of %d packets the driver was given %d, refused %d, and %d were left",
			h.Packets, h.Attempts, h.Busy, h.Rest).
			With("packets", "packets", int64(h.Packets)).With("attempts", "", int64(h.Attempts)).
			With("busy", "", int64(h.Busy)).With("rest", "packets", int64(h.Rest))
	})
}

// counts compares what was left with what gso_skb grew by.
func (c *checkX6) counts(d *analysis.Direct, h *analysis.Handover) {
	c.j.Weigh(analysis.Claim{}, func(s analysis.Setting) (analysis.Outcome, string) {
		if int(d.Put()) == model.Requeues(s.First, int(h.Rest)) {
			return analysis.Held, ""
		}
		return analysis.Broken, ""
	}, func(s analysis.Setting) *analysis.Evidence {
		return analysis.Show(d.Queue, &d.Header, "of %d packets %d were left; gso_skb grew by %d (requeue=%s)",
			h.Packets, h.Rest, d.Put(), s.First).Record(&h.Header).
			With("packets", "packets", int64(h.Packets)).With("rest", "packets", int64(h.Rest)).
			With("gso_skb", "packets", int64(d.Put()))
	})
}

// batch is the next one of the qdisc: its head tells where the remainder went.
func (c *checkX6) batch(b *analysis.Batch) {
	c.turns.took(b.Qdisc, b.CPU, b.Time, b.Time)
	c.j.Met(b.Qdisc, b.CPU, b.Time-clockError)
	rest, ok := c.waits[b.Qdisc]
	if !ok {
		return
	}
	delete(c.waits, b.Qdisc)
	if b.Time < rest.time || !c.turns.sure(b.Qdisc, rest.time) {
		c.j.Undecided(analysis.Race)
		return
	}
	claim := analysis.Claim{Over: analysis.Span{From: rest.time, To: b.Time}, Qdisc: b.Qdisc, CPU: b.CPU}
	if b.Origin != analysis.OriginGSOSkb || b.GsoQlen+1 != rest.after {
		c.j.UndecidedIf(claim, analysis.Reset) // others took out of gso_skb meanwhile
		return
	}
	same := b.First == rest.first
	c.j.Weigh(claim, func(s analysis.Setting) (analysis.Outcome, string) {
		if (nextFromGSOSkb(s.First, rest) == rest.first) == same {
			return analysis.Held, ""
		}
		return analysis.Broken, ""
	}, func(s analysis.Setting) *analysis.Evidence {
		says := "the batch after a requeue does not begin with what was left, with %d packets parked before (requeue=%s)"
		if same {
			says = "the batch after a requeue begins with what was left, with %d packets parked before (requeue=%s)"
		}
		return analysis.Show(b.Queue, &b.Header, says, rest.parked, s.First).With("parked", "packets", int64(rest.parked))
	})
}

// nextFromGSOSkb is the head that comes out next: the remainder's, or that of
// what was parked before, written as 0.
func nextFromGSOSkb(requeue model.Variant, rest remainder) uint64 {
	parked := make([][]uint64, min(rest.parked, 1))
	for i := range parked {
		parked[i] = []uint64{0}
	}
	return model.Requeue(requeue, parked, []uint64{rest.first})[0][0]
}
