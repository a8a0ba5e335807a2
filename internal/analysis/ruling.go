// SPDX-License-Identifier: Apache-2.0

package analysis

import (
	"fmt"
	"slices"
	"strings"

	"github.com/txtrace/txtrace/internal/capture"
)

// rulings turns what the judges counted into verdicts.
func rulings(judges []*Judge, fs findings, h *capture.Header) []RuleVerdict {
	rs := make([]RuleVerdict, len(judges))
	failed := ""
	for i, j := range judges {
		rs[i] = j.ruling(fs, h)
		if j.rule.Gate && rs[i].Verdict == VerdictFail {
			failed = j.rule.ID
		}
	}
	for i, j := range judges {
		switch rs[i].Verdict {
		case VerdictNotApplicable, VerdictNotExercised:
			continue
		}
		if failed != "" && !j.rule.Gate {
			rs[i].Verdict = VerdictInconclusive
			rs[i].Reason = "the capture itself is not sound: see " + failed
		}
	}
	return rs
}

// ruling is the verdict of one rule.
func (j *Judge) ruling(fs findings, h *capture.Header) RuleVerdict {
	c := fs.choice(j)
	t := &j.tallies[c.index]
	expected, held := t.count[Expected], t.count[Held]
	if len(c.lacks)+len(c.older) > 0 {
		expected, held = expected+t.lacks, held-t.lacks
	}
	r := RuleVerdict{
		ID: j.rule.ID, Sentence: j.rule.Sentence, Gate: j.rule.Gate, Variant: c.name,
		Held: U64(held), Fails: U64(t.count[Broken]), Suspects: U64(t.count[Suspect]),
		Expected: U64(expected), Inconclusive: U64(t.count[Undecided]),
		Undecided: j.undecidedBy(t),
	}
	r.Exercised = r.Held + r.Fails + r.Suspects + r.Expected + r.Inconclusive

	decided := r.Exercised - r.Inconclusive
	show := func(es []*Evidence) {
		for _, e := range es {
			r.Evidence = append(r.Evidence, *e)
		}
	}
	missing := j.rule.missing(h)
	switch {
	case missing != "":
		r.Verdict, r.Reason = VerdictNotApplicable, missing
	case len(c.against) > 0 && j.plain == 0:
		r.Verdict = VerdictInconclusive
		r.Reason = "observations refute every variant of " + strings.Join(c.against, " and ")
		show(j.contradiction())
	case r.Fails > 0:
		r.Verdict = VerdictFail
		show(t.shows[Broken])
	case r.Exercised == 0:
		r.Verdict, r.Reason = VerdictNotExercised, "not seen: "+j.rule.Antecedent
	case r.Suspects > 0:
		r.Verdict = VerdictSuspect
		show(t.shows[Suspect])
	case decided == 0 || float64(decided) < j.rule.Floor*float64(r.Exercised):
		r.Verdict = VerdictInconclusive
		r.Reason = fmt.Sprintf("%d of %d undecided, most: %s", r.Inconclusive, r.Exercised, r.Undecided[0].Reason)
	case j.short != "":
		r.Verdict, r.Reason = VerdictInconclusive, j.short
	case r.Expected > 0:
		r.Verdict = VerdictExpected
		r.Reason = t.expectation(c)
		show(t.shows[Expected])
		if t.lacks > 0 {
			show(j.tallies[j.latest].shows[Broken])
		}
	default:
		r.Verdict = VerdictPass
	}
	return r
}

// contradiction is the fewest observations found that together refute every
// variant: what refutes today's, and what refutes the newest that it leaves.
func (j *Judge) contradiction() (shows []*Evidence) {
	done := make([]bool, len(j.tallies))
	for i := len(j.tallies) - 1; i >= 0; i-- {
		r := j.tallies[i].refuter
		if r == nil || done[i] {
			continue
		}
		shows = append(shows, r.show)
		for k, refuted := range r.settings {
			done[k] = done[k] || refuted
		}
	}
	return shows
}

// expectation says why what looks wrong is legal.
func (t *tally) expectation(c chosen) string {
	switch {
	case t.lacks > 0 && len(c.lacks) > 0:
		return "the kernel lacks " + strings.Join(c.lacks, " and ")
	case t.lacks > 0 && len(c.older) > 0:
		return "impossible in a kernel of today, legal under " + strings.Join(c.older, " and ")
	}
	return t.expects
}

// missing says which fact the rule needs and the capture lacks, or nothing.
func (r *Rule) missing(h *capture.Header) string {
	for _, c := range h.Plan {
		if c.Source != "" || c.State == "chosen" {
			continue
		}
		if slices.Contains(r.Needs, c.Fact) || slices.Contains(c.Disables, r.ID) {
			reason := c.Reason
			if reason == "" {
				reason = c.State
			}
			return "needs " + c.Fact + ": " + reason
		}
	}
	return ""
}
