// SPDX-License-Identifier: Apache-2.0

package sim

import (
	"fmt"

	"github.com/txtrace/txtrace/internal/capture"
	"github.com/txtrace/txtrace/internal/event"
)

// stacked hands a packet to the device above that many others, which has no
// qdisc, no lock and no BQL, and whose driver transmits on the one below.
func (c *cpu) stacked(p packet, below int) {
	if below == 0 {
		c.bottom(p)
		return
	}
	s := c.s
	c.pass(s.cfg.Costs.Direct)
	c.lane.count(progHandoverBegin)
	inner, begin, jiffies := c.handovers, s.now, s.jiffies()
	h := event.Handover{}
	h.Flags = event.FlagUnlocked
	h.Parent = c.parent()
	c.push(begin)
	c.pass(s.cfg.Costs.Driver)
	c.stacked(p, below-1)
	c.lane.count(progAttempt)
	h.Ifindex = Ifindex + uint32(below)
	if c.handovers != inner {
		h.Flags |= event.FlagNested
		h.More = c.more
	}
	if s.cfg.Extras.Packets {
		g := event.Packet{
			Skb: p.addr, JiffiesBegin: jiffies, JiffiesEnd: s.jiffies(), Len: p.Len, Segs: uint32(p.Segments()), More: h.More,
		}
		g.Ifindex, g.Parent, g.Flags = h.Ifindex, c.parent(), event.FlagUnlocked
		c.lane.count(progGive)
		c.lane.count(progGiven)
		put(s.out, c, &g.Header, &g, begin)
	}
	c.pop()
	h.First, h.Packets, h.Bytes = p.addr, 1, p.Len
	h.Attempts, h.Uncharged, h.OwedAny, h.OwedDrv = 1, 1, 1, 1
	h.Foreign = event.ForeignUnknown
	c.handovers++
	c.lane.count(progHandoverEnd)
	put(s.out, c, &h.Header, &h, begin)
}

// stack are the devices above, as a header names them.
func (s *sim) stack() (list []capture.Device) {
	for i := range s.cfg.Device.Stacked {
		list = append(list, capture.Device{
			Netns: Netns, Ifindex: Ifindex + uint32(i) + 1, Ifname: fmt.Sprintf("%s.%d", s.cfg.Device.Name, i+1), Driver: "802.1Q VLAN Support",
			MTU: s.cfg.Device.MTU, TxQueues: 1,
			Qdiscs: []capture.Qdisc{{Kind: QdiscNone, Parent: rootHandle}},
		})
	}
	return list
}
