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

// maxSettings bounds the combinations of a rule's switches.
const maxSettings = 16

// maxShown is how many pieces of evidence are kept per setting and outcome.
const maxShown = 3

// maxPending is how many broken instances of a rule may wait for the proof
// that no record of their time is missing.
const maxPending = 4096

// Judge collects the instances of one rule in one capture.
type Judge struct {
	rule     *Rule
	gaps     *gaps
	settings []Setting // exactly one, empty, without switches
	tallies  []tally   // one for each setting
	latest   int       // the setting of today's variants
	plain    uint64    // instances broken under every setting
	pending  []instance
}

// tally counts instances under one setting.
type tally struct {
	count   [outcomes]uint64
	reasons []ReasonCount // of undecided ones
	shows   [outcomes][]*Evidence
	refuted uint64    // broken instances that another setting explains
	refuter *Evidence // the first of them
	lacks   uint64    // held, but broken under today's variants
}

// instance is one observation, judged under every setting.
type instance struct {
	claim Claim
	out   [maxSettings]Outcome
	why   [maxSettings]string
	show  [maxSettings]*Evidence
}

// Claim is what a broken instance rests on beside its own records. If that
// turns out not to hold, even later in the capture, it becomes undecided.
type Claim struct {
	// Over, unless zero, says that there is no other record of that time on
	// any CPU: a gap in a sequence there speaks against it.
	Over Span
	// Quota, unless zero, says that the quota of a run was known at that time.
	Quota uint64
}

func newJudge(r *Rule, g *gaps) *Judge {
	j := &Judge{rule: r, gaps: g, settings: []Setting{{}}}
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
	if len(j.settings) > maxSettings || len(r.Switches) > 2 {
		panic(r.ID + ": too many switches")
	}
	j.latest = len(j.settings) - 1 // today's variant is the last of each switch
	j.tallies = make([]tally, len(j.settings))
	return j
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

// UndecidedBy counts n of them.
func (j *Judge) UndecidedBy(n uint64, reason string) {
	for i := range j.tallies {
		j.tallies[i].undecided(n, reason)
	}
}

// Broken counts an instance that no variant explains. show is called when its
// evidence is wanted.
func (j *Judge) Broken(show func() *Evidence) { j.same(Claim{}, Broken, "", show) }

// BrokenIf is Broken for a claim that rests on more than its own records.
func (j *Judge) BrokenIf(c Claim, show func() *Evidence) { j.same(c, Broken, "", show) }

// Suspect counts an instance that looks broken, but whose last step cannot be
// seen.
func (j *Judge) Suspect(show func() *Evidence) { j.same(Claim{}, Suspect, "", show) }

// Expected counts an instance that looks broken and is legal, for a reason.
func (j *Judge) Expected(reason string, show func() *Evidence) {
	j.same(Claim{}, Expected, reason, show)
}

func (j *Judge) same(c Claim, out Outcome, why string, show func() *Evidence) {
	j.Weigh(c, func(Setting) (Outcome, string) { return out, why }, func(Setting) *Evidence { return show() })
}

// Weigh judges one instance under every setting of the rule's switches.
func (j *Judge) Weigh(c Claim, look Look, show func(Setting) *Evidence) {
	var in instance
	in.claim = c
	broken := false
	for i, s := range j.settings {
		in.out[i], in.why[i] = look(s)
		broken = broken || in.out[i] == Broken
	}
	wait := broken && c != Claim{}
	if wait && c.Over != (Span{}) && j.gaps.within(c.Over) {
		in.doubt(Lost)
		wait = false
	}
	if wait && len(j.pending) >= maxPending {
		in.doubt(Full)
		wait = false
	}
	for i, s := range j.settings {
		if j.wants(i, in.out[i], wait) {
			in.show[i] = j.sign(show(s))
		}
	}
	if wait {
		j.pending = append(j.pending, in)
		return
	}
	j.count(&in)
}

// wants says whether evidence of one more such outcome would be kept.
func (j *Judge) wants(setting int, out Outcome, wait bool) bool {
	switch out {
	case Broken, Suspect, Expected:
	default:
		return false
	}
	if wait {
		return len(j.pending) < maxPending/16 // any of them may be the first to stand
	}
	return len(j.tallies[setting].shows[out]) < maxShown
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

// doubt turns what is broken into undecided.
func (in *instance) doubt(reason string) {
	for i, o := range in.out {
		if o == Broken {
			in.out[i], in.why[i], in.show[i] = Undecided, reason, nil
		}
	}
}

// count adds an instance that is final.
func (j *Judge) count(in *instance) {
	plain := true
	for i := range j.settings {
		plain = plain && in.out[i] == Broken
	}
	if plain {
		j.plain++
	}
	for i := range j.tallies {
		t := &j.tallies[i]
		out := in.out[i]
		if out == Undecided {
			t.undecided(1, in.why[i])
			continue
		}
		t.count[out]++
		if e := in.show[i]; e != nil && len(t.shows[out]) < maxShown {
			t.shows[out] = append(t.shows[out], e)
		}
		if out == Broken && !plain {
			t.refuted++
			if t.refuter == nil {
				t.refuter = in.show[i]
			}
		}
		if out == Held && in.out[j.latest] == Broken {
			t.lacks++
		}
	}
}

func (t *tally) undecided(n uint64, reason string) {
	t.count[Undecided] += n
	for i := range t.reasons {
		if t.reasons[i].Reason == reason {
			t.reasons[i].Count += U64(n)
			return
		}
	}
	t.reasons = append(t.reasons, ReasonCount{reason, U64(n)})
}

// lost tells that records of a time turned out to be missing.
func (j *Judge) lost(s Span) {
	j.withdraw(Lost, func(c Claim) bool {
		return c.Over != Span{} && c.Over.From <= s.To && s.From <= c.Over.To
	})
}

// changed tells that the quota was another one at some time of s.
func (j *Judge) changed(s Span) {
	j.withdraw(Changed, func(c Claim) bool { return c.Quota >= s.From && c.Quota <= s.To })
}

// withdraw makes pending instances undecided whose claim does not hold.
func (j *Judge) withdraw(reason string, wrong func(Claim) bool) {
	j.pending = slices.DeleteFunc(j.pending, func(in instance) bool {
		if !wrong(in.claim) {
			return false
		}
		in.doubt(reason)
		j.count(&in)
		return true
	})
}

// end makes all instances final: no more gaps can show up.
func (j *Judge) end() {
	for i := range j.pending {
		j.count(&j.pending[i])
	}
	j.pending = nil
}
