// SPDX-License-Identifier: Apache-2.0

package analysis

import (
	"slices"

	"github.com/txtrace/txtrace/internal/model"
)

// Setting is one combination of variants of a rule's switches, in the order of
// Rule.Switches.
type Setting struct{ First, Second model.Variant }

// Look judges one instance under one setting. The string is the reason of an
// outcome that is Undecided or Expected.
type Look func(Setting) (Outcome, string)

// maxShown is how many pieces of evidence are kept per setting and outcome.
const maxShown = 3

// Judge collects the instances of one rule in one capture.
type Judge struct {
	rule     *Rule
	gaps     *gaps
	now      *uint64   // time of the record that is looked at
	settings []Setting // exactly one, empty, without switches
	tallies  []tally   // one for each setting
	latest   int       // the setting of today's variants
	plain    uint64    // instances that are held under no setting, but for a lack of checks
	reasons  []string  // an instance holds their index
	short    string    // why what was decided is not enough for a pass
	wait     pending
	skips    []Span // times at which runs of the rule's hooks were skipped
	scale    float64

	out    []Outcome // scratch, by setting: of the instance that is looked at
	why    []uint8
	broken []bool // scratch of count
}

// tally counts instances under one setting.
type tally struct {
	count   [outcomes]uint64
	reasons []uint64 // of undecided ones, by index into Judge.reasons
	expects string   // the reason of the first expected one
	shows   [outcomes][]*Evidence
	clear   [outcomes]bool // the first of shows is of a clear instance
	ahead   [outcomes]int  // instances that had to wait and got their evidence
	refuted uint64         // broken instances that another setting explains
	refuter *refuter       // the first of them, or the first clear one
	lacks   uint64         // held, but broken under today's variants
	lenient uint64         // of them, those held for a lack of checks only
}

// refuter is an observation that refutes settings.
type refuter struct {
	settings []bool // those it refutes
	show     *Evidence
}

// instance is one observation, judged under every setting, or several that are
// judged alike. Its lists are by setting.
type instance struct {
	claim Claim
	n     uint64
	time  Span
	out   []Outcome
	why   []uint8
	show  []*Evidence // nil when none was kept
}

// kept is the instance with lists of its own.
func (in instance) kept() instance {
	in.out, in.why = slices.Clone(in.out), slices.Clone(in.why)
	return in
}

func newJudge(r *Rule, g *gaps, now *uint64) *Judge {
	j := &Judge{rule: r, gaps: g, now: now, settings: []Setting{{}}, reasons: []string{""}, scale: 1}
	for i, name := range r.Switches {
		info, err := model.Lookup(name)
		if err != nil {
			panic(r.ID + ": " + err.Error())
		}
		var next []Setting
		for _, s := range j.settings {
			for _, v := range info.Variants {
				if i == 0 {
					s.First = v.Name
				} else {
					s.Second = v.Name
				}
				next = append(next, s)
			}
		}
		j.settings = next
	}
	if len(r.Switches) > 2 {
		panic(r.ID + ": a Setting has two switches")
	}
	n := len(j.settings)
	j.latest = n - 1 // today's variant is the last of each switch
	j.tallies = make([]tally, n)
	j.out, j.why, j.broken = make([]Outcome, n), make([]uint8, n), make([]bool, n)
	return j
}

// Limit is a time limit of the rule in ns, stretched by --time-scale.
func (j *Judge) Limit(ns float64) uint64 { return uint64(min(ns*j.scale, 1<<62)) }

// reason is the index of a reason.
func (j *Judge) reason(s string) uint8 {
	if i := slices.Index(j.reasons, s); i >= 0 {
		return uint8(i)
	}
	if len(j.reasons) == 255 {
		return 0
	}
	j.reasons = append(j.reasons, s)
	return uint8(len(j.reasons) - 1)
}

// Held counts an instance that holds whatever the variant.
func (j *Judge) Held() { j.HeldBy(1) }

// HeldBy counts n of them.
func (j *Judge) HeldBy(n uint64) {
	for i := range j.tallies {
		j.tallies[i].count[Held] += n
	}
}

// Undecided counts an instance that cannot be judged under any variant.
func (j *Judge) Undecided(reason string) { j.UndecidedBy(1, reason) }

// UndecidedIf is Undecided for a reason that rests on more than the instance's
// own records.
func (j *Judge) UndecidedIf(c Claim, reason string) {
	j.same(c, Undecided, reason, func() *Evidence { return nil })
}

// UndecidedBy counts n of them.
func (j *Judge) UndecidedBy(n uint64, reason string) {
	for i := range j.tallies {
		j.tallies[i].undecided(n, j.reason(reason))
	}
}

// Short says that what was decided is not enough for a pass, and why: what the
// rule is about in the first place is undecided.
func (j *Judge) Short(reason string) { j.short = reason }

// Broken counts an instance that no variant explains. show is called when its
// evidence is wanted.
func (j *Judge) Broken(show func() *Evidence) { j.same(Claim{}, Broken, "", show) }

// BrokenIf is Broken for a claim that rests on more than its own records.
func (j *Judge) BrokenIf(c Claim, show func() *Evidence) { j.same(c, Broken, "", show) }

// Suspect counts an instance that looks broken, but whose last step cannot be
// seen.
func (j *Judge) Suspect(show func() *Evidence) { j.same(Claim{}, Suspect, "", show) }

// SuspectIf is Suspect for a claim that rests on more than its own records.
func (j *Judge) SuspectIf(c Claim, show func() *Evidence) { j.same(c, Suspect, "", show) }

// Expected counts an instance that looks broken and is legal, for a reason.
func (j *Judge) Expected(reason string, show func() *Evidence) {
	j.same(Claim{}, Expected, reason, show)
}

func (j *Judge) same(c Claim, out Outcome, why string, show func() *Evidence) {
	j.Weigh(c, func(Setting) (Outcome, string) { return out, why }, func(Setting) *Evidence { return show() })
}

// Weigh judges one instance under every setting of the rule's switches.
func (j *Judge) Weigh(c Claim, look Look, show func(Setting) *Evidence) {
	in := instance{claim: c, n: 1, time: Span{*j.now, *j.now}, out: j.out, why: j.why}
	if c.When != (Span{}) {
		in.time = c.When
	}
	accuses := false
	for i, s := range j.settings {
		out, why := look(s)
		in.out[i], in.why[i] = out, 0
		if why != "" {
			in.why[i] = j.reason(why)
		}
		accuses = accuses || in.accuses(out)
	}
	wait := accuses && (c != Claim{} || len(j.rule.Hooks) > 0)
	if wait {
		for _, ready := range j.wait.due(*j.now) {
			j.count(&ready)
		}
		if reason := j.doubtful(c, in.time); reason != "" {
			in.doubt(j.reason(reason))
			wait = false
		} else if j.wait.join(&in) {
			return
		}
	}
	j.showAll(&in, show, wait)
	if wait {
		j.wait.add(in.kept())
		return
	}
	j.count(&in)
}

// doubtful says what already speaks against a claim.
func (j *Judge) doubtful(c Claim, time Span) string {
	switch {
	case c.Over != (Span{}) && j.gaps.within(c.Over):
		return Lost
	case j.wait.full():
		return Full
	}
	for _, s := range j.skips {
		if s.meets(time) {
			return Skipped
		}
	}
	return ""
}

// showAll gathers the evidence of an instance, where it may be kept.
func (j *Judge) showAll(in *instance, show func(Setting) *Evidence, wait bool) {
	for i, s := range j.settings {
		switch out := in.out[i]; out {
		case Broken, Suspect, Expected:
			if !j.wanted(i, out, wait, in.claim.Clear) {
				continue
			}
			if wait {
				j.tallies[i].ahead[out]++
			}
			if in.show == nil {
				in.show = make([]*Evidence, len(j.settings))
			}
			in.show[i] = j.sign(show(s))
		}
	}
}

// maxAhead instances that wait get their evidence in any case. Those that
// look alike wait as one, so a count that stays at three is no reason to have
// none.
const maxAhead = 64

// wanted says whether evidence of one more such outcome is worth its making.
// Of instances that wait any may turn out to be the first to stand, so some of
// all times get theirs.
func (j *Judge) wanted(setting int, out Outcome, wait, clear bool) bool {
	t := &j.tallies[setting]
	if len(t.shows[out]) >= maxShown && (!clear || t.clear[out]) {
		return false
	}
	n := len(j.wait.over) + len(j.wait.brief) // most may accuse other settings only
	return !wait || n < maxAhead || t.ahead[out] < maxAhead || n&(n-1) == 0 || clear && !j.wait.clear()
}

// sign adds what every evidence of the rule says.
func (j *Judge) sign(e *Evidence) *Evidence {
	if e.Function == "" {
		e.Function = j.rule.Kernel
	}
	if e.Document == "" && len(j.rule.Documents) > 0 {
		e.Document = j.rule.Documents[0]
	}
	return e
}

// accuses says whether an outcome can be spoken against: what is broken, and
// what is suspect, or undecided for a reason, if it claims something.
func (in *instance) accuses(o Outcome) bool {
	return o == Broken || (o == Suspect || o == Undecided) && in.claim != (Claim{})
}

// doubt turns what accuses into undecided.
func (in *instance) doubt(reason uint8) {
	for i, o := range in.out {
		if in.accuses(o) {
			in.out[i], in.why[i] = Undecided, reason
		}
	}
}

// evidence of an instance under a setting, nil when none was kept.
func (in *instance) evidence(setting int) *Evidence {
	if in.show == nil {
		return nil
	}
	return in.show[setting]
}

// count adds an instance that is final.
func (j *Judge) count(in *instance) {
	plain := slices.Contains(in.out, Broken)
	for i, out := range in.out {
		j.broken[i] = out == Broken
		plain = plain && (out == Broken || out == Unchecked)
	}
	if plain {
		j.plain += in.n
	}
	for i := range j.tallies {
		t := &j.tallies[i]
		out := in.out[i]
		if out == Unchecked {
			out = Held
		}
		if out == Undecided {
			t.undecided(in.n, in.why[i])
			continue
		}
		t.count[out] += in.n
		if out == Expected && t.expects == "" {
			t.expects = j.reasons[in.why[i]]
		}
		e := in.evidence(i)
		clearer := e != nil && in.claim.Clear && !t.clear[out]
		if e != nil {
			t.keep(e, out, clearer)
		}
		if out == Broken && !plain {
			t.refuted += in.n
			if e != nil && (t.refuter == nil || clearer) {
				t.refuter = &refuter{slices.Clone(j.broken), e}
			}
		}
		if out == Held && in.out[j.latest] == Broken {
			t.lacks += in.n
			if in.out[i] == Unchecked {
				t.lenient += in.n
			}
		}
	}
}

// keep keeps the first pieces of evidence, and the first clear one before them.
func (t *tally) keep(e *Evidence, out Outcome, clearer bool) {
	shows := &t.shows[out]
	switch {
	case clearer:
		t.clear[out] = true
		*shows = slices.Insert((*shows)[:min(len(*shows), maxShown-1)], 0, e)
	case len(*shows) < maxShown:
		*shows = append(*shows, e)
	}
}

func (t *tally) undecided(n uint64, reason uint8) {
	t.count[Undecided] += n
	for int(reason) >= len(t.reasons) {
		t.reasons = append(t.reasons, 0)
	}
	t.reasons[reason] += n
}

// undecidedBy lists the reasons of undecided instances, the most frequent
// first.
func (j *Judge) undecidedBy(t *tally) []ReasonCount {
	var rs []ReasonCount
	for i, n := range t.reasons {
		if n > 0 {
			rs = append(rs, ReasonCount{j.reasons[i], U64(n)})
		}
	}
	slices.SortStableFunc(rs, func(a, b ReasonCount) int { return int(int64(b.Count) - int64(a.Count)) })
	return rs
}
