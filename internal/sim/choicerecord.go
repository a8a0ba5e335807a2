// SPDX-License-Identifier: Apache-2.0

package sim

import "github.com/txtrace/txtrace/internal/event"

// knownFlow is what the recorder keeps of a socket.
type knownFlow struct {
	birth uint64 // when it was met; 0: not yet
	since uint64 // no earlier was its queue last chosen
	told  uint64 // when it last had a record
	seen  uint64 // jiffies at which its age was last looked at
	last  uint16 // queue that it had last
}

// oldPick is how long a socket keeps its queue until it is told of again, in ns.
const oldPick = 1_000_000_000

// pick records the choice, or counts it where it is a plain one.
func (o *recorder) pick(c *cpu, p *packet, r *event.Pick, begin uint64) {
	c.lane.count(progPickEnd)
	kept := r.Before == r.Mapping && r.OOO == 0 && r.Select == 0
	tell := p.socket() && p.from.flow.known.follow(o.s, r, kept && r.StampBegin == r.StampEnd, begin)
	steady := r.Index < r.QueuesEnd && r.QueuesBegin == r.QueuesEnd && r.After == r.Before && r.StampBegin == r.StampEnd
	sum := &o.s.choice.sums[r.Index]
	switch {
	case tell || !steady:
	case r.QueuesEnd == 1:
		sum.Only++
		sum.Bytes += uint64(r.Len)
		return
	case kept:
		sum.Kept++
		sum.Bytes += uint64(r.Len)
		return
	case plainPick(r):
		countPick(sum, r)
		return
	}
	r.Ifindex, r.Txq = Ifindex, r.Mapping
	put(o, c, &r.Header, r, 0)
}

// follow notes a choice, and says whether it is time for a record.
func (k *knownFlow) follow(s *sim, r *event.Pick, kept bool, begin uint64) (tell bool) {
	tell = k.birth == 0
	if tell {
		k.birth, k.since, k.last = begin, begin, event.NoQueue
	}
	r.Birth, r.Since, r.Last = k.birth, k.since, k.last
	k.last = r.Mapping
	if kept && !tell && k.seen == r.JiffiesBegin {
		return false
	}
	k.seen = r.JiffiesBegin
	if !kept {
		k.since = s.now
	}
	tell = tell || s.now-r.Since >= oldPick && s.now-k.told >= oldPick
	if tell {
		k.told = s.now
	}
	return tell
}

// byFlow is what XPS and the hash give.
func byFlow(r *event.Pick) uint32 {
	switch {
	case uint32(r.XpsRx) < r.QueuesEnd:
		return uint32(r.XpsRx)
	case uint32(r.XpsCPU) < r.QueuesEnd:
		return uint32(r.XpsCPU)
	case r.RxMapping != 0:
		return uint32(r.RxMapping-1) % r.QueuesEnd
	}
	return uint32(uint64(r.Hash) * uint64(r.QueuesEnd) >> 32)
}

// plainPick says whether a steady choice that was not a socket's queue went as
// it should.
func plainPick(r *event.Pick) bool {
	if r.Select != 0 {
		return true
	}
	if r.Before != r.Mapping && (r.Before != event.NoQueue || r.Full != 0 && r.Route != 0) {
		return false
	}
	return byFlow(r) == r.Index
}

func countPick(sum *event.PickCounts, r *event.Pick) {
	sum.Bytes += uint64(r.Len)
	if r.Select != 0 {
		sum.Driver++
		return
	}
	if r.Before == r.Mapping {
		sum.Again++
	} else {
		sum.Unkept++
	}
	if r.Maps&event.MapsCPUs != 0 {
		sum.Mapped++
	} else if r.Maps == 0 {
		sum.Hashed++
		if r.RxMapping != 0 {
			sum.Hinted++
		}
	}
}

// picks writes the choices that are only counted.
func (o *recorder) picks() {
	for txq := range o.s.choice.sums {
		r := event.Picks{PickCounts: o.s.choice.sums[txq]}
		if r.PickCounts == (event.PickCounts{}) {
			continue
		}
		r.Dur = uint32(min(o.s.now-beginNS, 1<<32-1))
		r.Ifindex, r.Netns, r.Txq = Ifindex, Netns, uint16(txq)
		own(o, &r.Header, &r)
	}
}
