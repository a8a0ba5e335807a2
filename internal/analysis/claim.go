// SPDX-License-Identifier: Apache-2.0

package analysis

import "slices"

// Claim is what a broken instance rests on beside its own records. If that
// turns out not to hold, even later in the capture, it becomes undecided.
type Claim struct {
	// Over, unless zero, says that there is no other record of that time on
	// any CPU: a gap in a sequence there speaks against it.
	Over Span
	// Quota says that the quota of a run was what the capture says it was. The
	// recorder notices a change of it some time later.
	Quota bool
	// Order says that the records of a CPU came in their order: one that came
	// late speaks against it.
	Order bool
	// Qdisc, unless zero, says that no other CPU than this one worked on it about
	// the end of Over: Judge.Met tells of one that did.
	Qdisc uint64
	CPU   uint16
	// When, unless zero, is the time that the instance is of, where that is
	// judged later.
	When Span
	// Clear says that the instance shows by itself what its rule is about: its
	// evidence goes before that of others.
	Clear bool
}

// toTheEnd says that only the end of the capture proves the claim.
func (c Claim) toTheEnd() bool { return c.Over != (Span{}) || c.Order }

// settle is how long after something happened the recorder may tell of it, in
// ns: it looks at sysctls and at its own ledger once a second.
const settle = 3_000_000_000

// maxPending is how many broken instances of a rule may wait for the proof
// that nothing speaks against them.
const maxPending = 1 << 14

// together is how long instances that look the same wait as one, in ns.
const together = 50_000_000

// pending are broken instances that wait.
type pending struct {
	over  []instance // for gaps and late records, to the end of the capture: a CPU may be silent long
	upto  []uint64   // by over: the latest end of a claim's Over so far
	brief []instance // for notices and ledger rows, as long as they may take; by time
}

func (p *pending) full() bool { return len(p.over)+len(p.brief) >= maxPending }

// clear says whether the evidence of a clear instance is waiting.
func (p *pending) clear() bool {
	is := func(in instance) bool { return in.claim.Clear && in.show != nil }
	return slices.ContainsFunc(p.brief, is) || slices.ContainsFunc(p.over, is)
}

func (p *pending) add(in instance) {
	if in.claim.toTheEnd() {
		p.over = append(p.over, in)
		p.reach(&in)
	} else {
		p.brief = append(p.brief, in)
	}
}

// reach keeps upto.
func (p *pending) reach(in *instance) {
	to := in.claim.Over.To
	if n := len(p.upto); n > 0 {
		to = max(to, p.upto[n-1])
	}
	p.upto = append(p.upto, to)
}

// any says whether an instance is wrong whose claim reaches to a time.
func (p *pending) any(time uint64, wrong func(*instance) bool) bool {
	for i := len(p.over) - 1; i >= 0 && p.upto[i] >= time; i-- {
		if wrong(&p.over[i]) {
			return true
		}
	}
	return false
}

// join counts an instance with one like it that has not waited long.
func (p *pending) join(in *instance) bool {
	if in.claim.toTheEnd() {
		return false
	}
	for i := len(p.brief) - 1; i >= 0 && i >= len(p.brief)-4; i-- {
		e := &p.brief[i]
		if slices.Equal(e.out, in.out) && slices.Equal(e.why, in.why) && e.claim == in.claim && in.time.To-min(e.time.From, in.time.To) < together {
			e.time.To = max(e.time.To, in.time.To)
			e.n += in.n
			return true
		}
	}
	return false
}

// due takes what has waited long enough for notices.
func (p *pending) due(now uint64) (ready []instance) {
	n := 0
	for n < len(p.brief) && now > p.brief[n].time.To+settle {
		n++
	}
	ready, p.brief = p.brief[:n], p.brief[n:]
	return ready
}

// take takes the instances that wrong says do not stand.
func (p *pending) take(wrong func(*instance) bool) (taken []instance) {
	pick := func(in instance) bool {
		bad := wrong(&in)
		if bad {
			taken = append(taken, in)
		}
		return bad
	}
	p.over = slices.DeleteFunc(p.over, pick)
	p.brief = slices.DeleteFunc(p.brief, pick)
	p.upto = p.upto[:0]
	for i := range p.over {
		p.reach(&p.over[i])
	}
	return taken
}

// lost tells that records of a time turned out to be missing.
func (j *Judge) lost(s Span) {
	if len(j.wait.over) > 0 {
		j.withdraw(Lost, func(in *instance) bool { return in.claim.Over != (Span{}) && in.claim.Over.meets(s) })
	}
}

// Met tells that a CPU worked on a qdisc at a time, which may have been before
// what another did that is only said to have been earlier.
func (j *Judge) Met(qdisc uint64, cpu uint16, latest uint64) {
	met := func(in *instance) bool {
		return in.claim.Qdisc == qdisc && in.claim.CPU != cpu && latest <= in.claim.Over.To
	}
	if j.wait.any(latest, met) { // it is asked for each record, and seldom so
		j.withdraw(Race, met)
	}
}

// late tells that records came out of their order.
func (j *Judge) late() {
	j.withdraw(Late, func(in *instance) bool { return in.claim.Order })
}

// changed tells that the quota was another one at some time of s.
func (j *Judge) changed(s Span) {
	j.withdraw(Changed, func(in *instance) bool { return in.claim.Quota && s.meets(in.time) })
}

// skipped tells that the kernel skipped runs of a hook's program in s.
func (j *Judge) skipped(hook string, s Span) {
	if slices.Contains(j.rule.Hooks, hook) {
		j.withdraw(Skipped, func(in *instance) bool { return s.meets(in.time) })
		j.skips = append(j.skips, s)
	}
}

// withdraw makes waiting instances undecided whose claim does not hold.
func (j *Judge) withdraw(reason string, wrong func(*instance) bool) {
	for _, in := range j.wait.take(wrong) {
		in.doubt(j.reason(reason))
		j.count(&in)
	}
}

// end makes all instances final: nothing more can speak against them.
func (j *Judge) end() {
	for _, list := range [][]instance{j.wait.over, j.wait.brief} {
		for i := range list {
			j.count(&list[i])
		}
	}
	j.wait = pending{}
}
