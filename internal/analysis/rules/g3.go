// SPDX-License-Identifier: Apache-2.0

package rules

import (
	"github.com/txtrace/txtrace/internal/analysis"
)

var g3 = analysis.Rule{
	ID:         "G3",
	Sentence:   "A NAPI delivers each flow in the order of arrival.",
	Why:        "GRO keeps packets back, to merge later ones into them. Whatever it does not keep must not go up before those of its flow that it has, or TCP sees a gap and asks for what is already there.",
	Documents:  []string{"002_59aed0d87ab09d98"},
	Kernel:     "dev_gro_receive",
	Needs:      []string{"delivery", "delivery.arrival"},
	Hooks:      []string{"napi_gro_receive", "gro_receive_skb", "netif_receive_skb_list_internal"},
	Strength:   analysis.Exact,
	Antecedent: "a packet whose flow had one that went up before, of TCP or UDP, without options and with a verified checksum",
	New: func(j *analysis.Judge) analysis.Checks {
		c := checkG3{j: j, changed: make(map[*analysis.Device][]uint64)}
		return analysis.Checks{Delivery: c.delivery, Notice: c.notice, End: func(*analysis.End) { c.end() }}
	},
}

// maxUp is how many packets of a list the recorder looks at (bpf/deliver.h): a
// record with more is one that somebody made up.
const maxUp = 128

// maxOvertaken bounds the lists that wait for what may explain them.
const maxOvertaken = 1 << 10

type checkG3 struct {
	j       *analysis.Judge
	broken  []analysis.Delivery
	changed map[*analysis.Device][]uint64 // when, of those with such lists
}

func (c *checkG3) delivery(d *analysis.Delivery) {
	c.j.HeldBy(uint64(d.Followed))
	switch {
	case d.Overtaken == 0:
	case len(c.broken) == maxOvertaken:
		c.j.UndecidedBy(uint64(d.Overtaken), analysis.Full)
	default:
		c.broken = append(c.broken, *d)
	}
}

// notice: GRO that is switched off keeps what it has, and what comes then goes
// past it. Such a change is told of as any other, a while later.
func (c *checkG3) notice(n *analysis.Notice) {
	if n.Device != nil && !n.OfStall() && len(c.changed[n.Device]) < maxOvertaken {
		c.changed[n.Device] = append(c.changed[n.Device], n.Time)
	}
}

func (c *checkG3) end() {
	for i := range c.broken {
		d := &c.broken[i]
		if c.near(d) {
			c.j.UndecidedBy(uint64(d.Overtaken), analysis.Changed)
			continue
		}
		for range min(d.Overtaken, maxUp) {
			c.j.BrokenIf(analysis.Claim{When: analysis.Span{From: d.Early, To: d.Time}}, func() *analysis.Evidence {
				return analysis.Show(nil, &d.Header, "%d packets went up after one of their flow that came later, the last one %d us", d.Overtaken, (d.Late-d.Early)/1000).
					With("overtaken", "packets", int64(d.Overtaken)).With("came", "ns", int64(d.Early)).With("later", "ns", int64(d.Late))
			})
		}
	}
}

func (c *checkG3) near(d *analysis.Delivery) bool {
	for _, at := range c.changed[d.Device] {
		if at+uint64(patience) >= d.Early && at <= d.Time+uint64(patience) {
			return true
		}
	}
	return false
}
