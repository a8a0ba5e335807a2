// SPDX-License-Identifier: Apache-2.0

package rules

import (
	"github.com/txtrace/txtrace/internal/analysis"
	"github.com/txtrace/txtrace/internal/model"
)

var d5 = analysis.Rule{
	ID:         "D5",
	Sentence:   "A batch from gso_skb is one packet, or one list on kernels that requeue lists, and is not validated again; what did not come from there is.",
	Why:        "Packets that came back were validated and segmented already. A second time would cost, and checksum or segment what is no longer as it was.",
	Documents:  []string{"000_dfeb1c712f3ce5c5", "0345552a653c"},
	Kernel:     "dequeue_skb",
	Needs:      []string{"dequeue", "direct"},
	Switches:   []model.Switch{model.SwitchRequeue},
	Strength:   analysis.Exact,
	Antecedent: "a batch from gso_skb, or one that was not validated",
	New: func(j *analysis.Judge) analysis.Checks {
		c := &checkD5{j: j, parked: make(map[uint64]parkedD5), turns: make(turns)}
		return analysis.Checks{Batch: c.batch, Direct: c.direct}
	},
}

// parkedD5 is how many packets gso_skb held when it was last seen.
type parkedD5 struct {
	packets uint32
	time    uint64
}

type checkD5 struct {
	j      *analysis.Judge
	parked map[uint64]parkedD5 // by qdisc
	turns  turns
}

// direct is the only one that puts something into gso_skb.
func (c *checkD5) direct(d *analysis.Direct) {
	c.turns.took(d.Qdisc, d.CPU, d.Begin(), d.Time)
	c.j.Met(d.Qdisc, d.CPU, d.Begin()-clockError)
	c.saw(d.Qdisc, d.GsoQlenEnd, d.Time)
}

func (c *checkD5) saw(qdisc uint64, packets uint32, time uint64) {
	if _, known := c.parked[qdisc]; known || len(c.parked) < maxQdiscs {
		c.parked[qdisc] = parkedD5{packets, time}
	}
}

func (c *checkD5) batch(b *analysis.Batch) {
	c.turns.took(b.Qdisc, b.CPU, b.Time, b.Time)
	c.j.Met(b.Qdisc, b.CPU, b.Time-clockError)
	before, known := c.parked[b.Qdisc]
	c.saw(b.Qdisc, b.GsoQlen, b.Time)
	if known && before.packets == 0 && before.time < b.Time && b.GsoQlen == 0 && b.Direct != nil && b.Direct.Validate == 0 {
		if !c.turns.sure(b.Qdisc, before.time) {
			c.j.Undecided(analysis.Race)
			return
		}
		claim := analysis.Claim{Over: analysis.Span{From: before.time, To: b.Time}, Qdisc: b.Qdisc, CPU: b.CPU}
		c.j.BrokenIf(claim, func() *analysis.Evidence {
			return analysis.Show(b.Queue, &b.Header, "a batch of %d packets was not validated although gso_skb, where such come from, was empty", b.Listed()).
				Record(&b.Direct.Header).With("packets", "packets", int64(b.Listed())).With("validate", "", 0).
				With("seen_empty_before", "ns", int64(b.Time-before.time))
		})
		return
	}
	judgeD5(c.j, b)
}

// judgeD5 also tells the variants apart: a kernel that requeues lists keeps one
// at most, so nothing is left in gso_skb when it was taken.
func judgeD5(j *analysis.Judge, b *analysis.Batch) {
	if b.Origin != analysis.OriginGSOSkb {
		return
	}
	again := b.Direct != nil && b.Direct.Validate != 0
	j.Weigh(analysis.Claim{}, func(s analysis.Setting) (analysis.Outcome, string) {
		switch {
		case !model.LegalFromGSOSkb(s.First, int(b.Listed())), s.First == model.RequeueWhole && b.GsoQlen > 0:
			return analysis.Broken, ""
		case again && !b.Queue.NoESPOffload():
			return analysis.Undecided, "xfrm offload may ask for it"
		case again:
			return analysis.Broken, ""
		}
		return analysis.Held, ""
	}, func(s analysis.Setting) *analysis.Evidence {
		says := "a batch of %d packets from gso_skb, which holds %d more: impossible under requeue=%s"
		if again {
			says = "a batch of %d packets from gso_skb, which holds %d more, was validated again (requeue=%s)"
		}
		e := analysis.Show(b.Queue, &b.Header, says, b.Listed(), b.GsoQlen, s.First)
		if b.Direct != nil {
			e.Record(&b.Direct.Header).With("validate", "", int64(b.Direct.Validate))
		}
		return e.With("packets", "packets", int64(b.Listed())).With("gso_qlen", "packets", int64(b.GsoQlen))
	})
}
