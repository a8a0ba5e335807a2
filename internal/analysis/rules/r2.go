// SPDX-License-Identifier: Apache-2.0

package rules

import (
	"github.com/txtrace/txtrace/internal/analysis"
)

var r2 = analysis.Rule{
	ID:         "R2",
	Sentence:   "A frame that the driver took is not touched again, one that it refused is not freed.",
	Why:        "The driver's answer says whose the frame is. A frame with two owners is freed twice or sent after its free, one with none is lost.",
	Fate:       analysis.Packet,
	Documents:  []string{"include/linux/netdevice.h", "000_dfeb1c712f3ce5c5"},
	Kernel:     "xmit_one",
	Needs:      []string{"packet", "packet.life"},
	Hooks:      lifeHooks,
	Strength:   analysis.Exact,
	Antecedent: "a driver's call that refused the frame, or that took and charged it",
	New: func(j *analysis.Judge) analysis.Checks {
		c := checkR2{j: j, skbs: make(bySkb[call])}
		return analysis.Checks{Life: c.life}
	},
}

type checkR2 struct {
	j    *analysis.Judge
	skbs bySkb[call] // calls that took what is at the address
}

// life: that a packet was sent anew at the address of one that was taken is M6's.
func (c *checkR2) life(l *analysis.Life) {
	id := l.ID()
	switch {
	case l.Enqueue != nil:
		return
	case l.Free != nil:
		if s := c.skbs[l.Skb()]; s != nil && s.is && s.id == id {
			s.is = false
			c.j.Held()
		}
		return
	case !l.Alone() || l.Direct():
		return
	case l.Refused():
		c.refused(l)
	}
	s := c.skbs.at(l.Skb())
	if s == nil || !id.Known() {
		return
	}
	if s.is && s.id == id && l.Packet.Tries > 0 && l.Packet.Txq == s.head.Txq && l.Packet.Ifindex == s.head.Ifindex {
		before := s.head
		c.j.Broken(func() *analysis.Evidence {
			return analysis.Show(l.Queue, &l.Packet.Header, "a frame that the driver took was given to it again, call %d with it", l.Packet.Tries+1).
				With("tries", "", int64(l.Packet.Tries)).With("turn", "", int64(id.Turn)).Record(&before.Header)
		})
	}
	if s.is = l.Taken(); s.is {
		*s = callOf(l)
	}
}

func (c *checkR2) refused(l *analysis.Life) {
	if !l.FreedInside() {
		c.j.Held()
		return
	}
	c.j.Broken(func() *analysis.Evidence {
		return analysis.Show(l.Queue, &l.Packet.Header, "the driver answered %#x and the frame was freed in its call: who puts it back puts back freed memory", l.Packet.RC).
			With("rc", "", int64(l.Packet.RC)).With("life", "", int64(l.Packet.Life))
	})
}
