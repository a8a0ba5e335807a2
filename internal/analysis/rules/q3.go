// SPDX-License-Identifier: Apache-2.0

package rules

import (
	"github.com/txtrace/txtrace/internal/analysis"
	"github.com/txtrace/txtrace/internal/model"
)

var q3 = analysis.Rule{
	ID:         "Q3",
	Sentence:   "A socket keeps its queue while anything of it is on its way and the device has that queue, or until the queue is too old.",
	Why:        "Packets of a flow overtake each other where two queues carry it. So the queue is kept while any is on its way, which also spares the choice, some hundred cycles each.",
	Documents:  []string{"001_06fe2ee777a53261", "net/core/dev.c", "net.core.txq_reselection_ms (6.19)"},
	Kernel:     "netdev_pick_tx",
	Needs:      []string{"pick"},
	Hooks:      []string{"netdev_core_pick_tx"},
	Switches:   []model.Switch{model.SwitchPickCache},
	Strength:   analysis.Exact,
	Antecedent: "a pick by the core, for a socket, on a device of several queues",
	Floor:      0.5,
	New: func(j *analysis.Judge) analysis.Checks {
		return analysis.Checks{
			Pick:  func(p *analysis.Pick) { judgeQ3(j, p) },
			Picks: func(p *analysis.Picks) { j.HeldBy(uint64(p.Kept) + uint64(p.Again)) },
		}
	},
}

// oldPick is the time that a kernel lets a socket keep its queue by default,
// in ns, and a tick or two for what was read before the kernel did.
const oldPick = 1_020_000_000

// judgeQ3 plays the pick by the model at both ends of it: jiffies may have
// moved before the kernel looked at them.
func judgeQ3(j *analysis.Judge, p *analysis.Pick) {
	switch {
	case !p.HasSocket() || !p.Chooses() || p.QueuesBegin == 1:
		return
	case p.Resized():
		j.Undecided(analysis.Changed)
		return
	case p.Overlap != 0 || p.Rerouted != 0:
		j.Undecided(analysis.Race)
		return
	}
	j.Weigh(analysis.Claim{}, func(s analysis.Setting) (analysis.Outcome, string) {
		return outcomeQ3(p, s.First)
	}, func(s analysis.Setting) *analysis.Evidence {
		return sayQ3(p, s.First).With("ooo_okay", "", int64(p.OOO)).With("route", "", int64(p.Route)).With("full", "", int64(p.Full)).
			With("in_flight", "bytes", int64(p.InFlight())).With("kept", "ns", int64(p.KeptNS())).
			With("stamp_age", "jiffies", int64(p.JiffiesEnd-p.StampBegin)).With("reselect", "jiffies", int64(p.Reselect))
	})
}

func sayQ3(p *analysis.Pick, cache model.Variant) *analysis.Evidence {
	_, why, _ := p.Model(cache, p.JiffiesEnd)
	before := analysis.QueueOf(p.Before)
	switch {
	case timeless(p, cache):
		return showPick(p, "a socket has kept queue %d for %d ms, and sockets of this kernel hold no time to end that (pick-cache=%s)",
			before, p.KeptNS()/1_000_000, cache)
	case timed(p, cache):
		return showPick(p, "the time of a socket's queue %d was renewed, after %d jiffies; under pick-cache=%s sockets hold none",
			before, p.StampEnd-p.StampBegin, cache)
	case why == model.PickHit && before == int(p.Index) && before == p.Keeps():
		return showPick(p, "a socket of queue %d was given it anew, and its time with it, for no reason (pick-cache=%s)", before, cache)
	case why == model.PickHit || p.Moved():
		return showPick(p, "a socket of queue %d was given queue %d and keeps %d, with ooo_okay=%d and %d bytes in flight (pick-cache=%s)",
			before, p.Index, p.Keeps(), p.OOO, p.InFlight(), cache)
	case p.Full == 0 || p.Route == 0:
		return showPick(p, "a socket that can keep no queue had %d, was given %d and keeps %d", before, p.Index, p.Keeps())
	}
	return showPick(p, "a socket of queue %d was given queue %d, chosen anew (%s), and keeps %d", before, p.Index, why, p.Keeps())
}

// timeless says that a socket kept its queue longer than a kernel allows by
// default whose sockets hold the time of it, which this one's do not.
func timeless(p *analysis.Pick, cache model.Variant) bool {
	return cache == model.PickCacheExpires && p.Stamped == 0 && p.Full != 0 && p.Hit() && p.KeptNS() > oldPick
}

// timed says that a socket was seen to hold a time, under a variant whose
// sockets hold none.
func timed(p *analysis.Pick, cache model.Variant) bool {
	return cache != model.PickCacheExpires && analysis.QueueOf(p.Before) >= 0 && p.StampBegin != p.StampEnd
}

func outcomeQ3(p *analysis.Pick, cache model.Variant) (analysis.Outcome, string) {
	expected, why, keeps := p.Model(cache, p.JiffiesEnd)
	if p.JiffiesBegin != p.JiffiesEnd {
		if _, begun, _ := p.Model(cache, p.JiffiesBegin); begun != why {
			return analysis.Undecided, analysis.Race
		}
	}
	switch {
	case timeless(p, cache), timed(p, cache):
		return analysis.Broken, ""
	case why == model.PickHit && (int(p.Index) != expected || p.Keeps() != keeps || p.StampBegin != p.StampEnd):
		return analysis.Broken, "" // it was chosen anew
	case why != model.PickHit && p.Full != 0 && p.Route != 0 && p.Keeps() != int(p.Index):
		return analysis.Broken, "" // chosen and not kept
	case why != model.PickHit && (p.Full == 0 || p.Route == 0) && p.Keeps() != analysis.QueueOf(p.Before):
		return analysis.Broken, "" // kept by who cannot
	case p.Moved() && p.InFlight() > 0 && why == model.PickOOO:
		return analysis.Expected, "bytes of a socket that moved were on their way, and all was acknowledged"
	}
	return analysis.Held, ""
}

// showPick begins the evidence of a pick.
func showPick(p *analysis.Pick, format string, args ...any) *analysis.Evidence {
	return analysis.Show(p.Queue, &p.Header, format, args...).
		With("index", "", int64(p.Index)).With("queues", "", int64(p.QueuesEnd)).
		With("before", "", int64(analysis.QueueOf(p.Before))).With("after", "", int64(analysis.QueueOf(p.After)))
}
