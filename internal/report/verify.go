// SPDX-License-Identifier: Apache-2.0

package report

import (
	"fmt"
	"io"
	"strings"

	"github.com/txtrace/txtrace/internal/analysis"
	"github.com/txtrace/txtrace/internal/capture"
)

// NewVerify is the document of verify, with lists where there is nothing.
func NewVerify(r *analysis.Result) *analysis.Verify {
	v := r.Verify
	v.V, v.Type = 1, "verify"
	v.Rules, v.Variants = list(v.Rules), list(v.Variants)
	return &v
}

// Verdict prints what verify found. The JSON of the same is v itself.
func Verdict(w io.Writer, t Text, v *analysis.Verify, clock capture.Clock) error {
	p := &printer{Text: t, out: w}
	c := v.Capture
	if c.Emulated {
		p.line("%s", emulated)
	}
	if c.Simulated {
		p.line("%s", simulated)
	}
	p.field("kernel", strings.TrimSpace(c.Release+" "+c.Version), c.Machine, named("commit", c.Commit))
	p.field("variant", c.Variant)
	p.field("lost", lostText(t, v.Lost, c.Records)...)
	p.line("")
	for i := range v.Rules {
		p.rule(&v.Rules[i], clock)
	}
	if len(v.Variants) > 0 {
		p.heading("Variants of the kernel's code")
	}
	var untold []string
	for i := range v.Variants {
		if s := &v.Variants[i]; s.State == analysis.StateUndecided && s.By == nil && !p.More {
			untold = append(untold, s.Switch)
		} else {
			p.variant(s, clock)
		}
	}
	if len(untold) > 0 {
		p.wrapped(fmt.Sprintf("%-19s", "nothing told of"), strings.Join(untold, ", "))
	}
	p.line("")
	p.summary(v)
	return p.err
}

// rule prints one row: id, verdict, counts, sentence or reason, and what shows
// a fail.
func (p *printer) rule(r *analysis.RuleVerdict, clock capture.Clock) {
	word := verdictWord(r.Verdict)
	says := r.Sentence
	switch r.Verdict {
	case analysis.VerdictNotExercised, analysis.VerdictNotApplicable:
		says = strings.ReplaceAll(string(r.Verdict), "_", " ")
		if r.Reason != "" {
			says += "; " + r.Reason
		}
	default:
		counts := ruleCounts(p.Text, r)
		if r.Reason != "" && r.Verdict != analysis.VerdictPass {
			counts += "; " + r.Reason
		}
		says = counts + ". " + says
	}
	const lead = 19
	lines := wrap(Clean(says), Width-lead)
	// The colour is put in behind the widths, which count columns.
	p.line("%-4s %s%s %s", r.ID, p.paint(r.Verdict, word), strings.Repeat(" ", max(0, 13-len(word))), lines[0])
	for _, l := range lines[1:] {
		p.line("%s%s", strings.Repeat(" ", lead), l)
	}
	shows := r.Verdict == analysis.VerdictFail || r.Verdict == analysis.VerdictSuspect || r.Verdict == analysis.VerdictExpected
	if !shows && !p.More {
		return
	}
	for i := range r.Evidence {
		p.evidence(&r.Evidence[i], clock)
	}
	if len(r.Evidence) > 0 {
		p.line("       explained txtrace rules %s", r.ID)
	}
}

// ruleCounts says how many instances went which way.
func ruleCounts(t Text, r *analysis.RuleVerdict) string {
	var parts []string
	for _, c := range []struct {
		name string
		n    analysis.U64
	}{{"broken", r.Fails}, {"suspect", r.Suspects}, {"expected", r.Expected}, {"held", r.Held}, {"undecided", r.Inconclusive}} {
		if c.n == 0 {
			continue
		}
		s := c.name + " " + t.count(uint64(c.n))
		if c.name == "undecided" && len(r.Undecided) > 0 {
			var why []string
			for _, u := range r.Undecided {
				if len(r.Undecided) == 1 {
					why = append(why, u.Reason)
				} else {
					why = append(why, u.Reason+" "+t.count(uint64(u.Count)))
				}
			}
			s += " (" + strings.Join(why, ", ") + ")"
		}
		parts = append(parts, s)
	}
	return strings.Join(parts, ", ")
}

// evidence prints what shows an instance.
func (p *printer) evidence(e *analysis.Evidence, clock capture.Clock) {
	const indent = "     "
	p.wrapped(indent, where(p.Text, e, clock)+": "+e.Says)
	var values []string
	for _, v := range e.Values {
		s := fmt.Sprintf("%s %d", v.Name, v.Value)
		if v.Unit != v.Name {
			s += " " + v.Unit
		}
		values = append(values, strings.TrimSpace(s))
	}
	if len(values) > 0 {
		p.wrapped(indent+"  values    ", strings.Join(values, ", "))
	}
	var records []string
	for _, r := range e.Records {
		records = append(records, fmt.Sprintf("%s CPU %s number %d at %s", r.Kind, cpu(r.CPU), r.Seq, p.at(clock, uint64(r.TimeNS))))
	}
	if len(records) > 0 {
		p.wrapped(indent+"  records   ", strings.Join(records, "; "))
	}
	if e.Function != "" {
		p.wrapped(indent+"  kernel    ", e.Function)
	}
	if e.Document != "" {
		p.wrapped(indent+"  document  ", e.Document)
	}
}

// cpu names a record's CPU; txtrace's own records have none.
func cpu(n uint16) string {
	if n == 0xffff {
		return "none"
	}
	return fmt.Sprint(n)
}

// where is the time and place of an evidence.
func where(t Text, e *analysis.Evidence, clock capture.Clock) string {
	s := "at " + t.at(clock, uint64(e.TimeNS))
	if e.Ifname != "" {
		s += ", " + e.Ifname
	}
	if e.Txq != nil {
		s += fmt.Sprintf(" queue %d", *e.Txq)
	}
	return s
}

// variant prints one switch and what decided it.
func (p *printer) variant(v *analysis.VariantState, clock capture.Clock) {
	s := v.State
	switch v.State {
	case analysis.StateProven, analysis.StateForced:
		s = v.Variant + ", " + v.State
	case analysis.StateUndecided:
		s = "undecided between " + strings.Join(v.Left, ", ")
	}
	if v.MendedBy != "" {
		s += "; mended by " + v.MendedBy
	}
	lead := fmt.Sprintf("%-19s", v.Switch)
	p.wrapped(lead, s)
	if v.By != nil {
		by := where(p.Text, v.By, clock) + ": " + v.By.Says
		if v.Rule != "" {
			by = v.Rule + " " + by
		}
		p.wrapped(strings.Repeat(" ", len(lead)), by)
	}
}

// summary counts the verdicts; the last line is the overall one and what the
// exit code means.
func (p *printer) summary(v *analysis.Verify) {
	counts := make(map[analysis.Verdict]int)
	for _, r := range v.Rules {
		counts[r.Verdict]++
	}
	var parts []string
	for _, c := range []struct {
		verdict analysis.Verdict
		text    string
	}{
		{analysis.VerdictFail, "fail"}, {analysis.VerdictSuspect, "suspect"}, {analysis.VerdictInconclusive, "inconclusive"},
		{analysis.VerdictExpected, "expected"}, {analysis.VerdictPass, "pass"},
		{analysis.VerdictNotExercised, "not exercised"}, {analysis.VerdictNotApplicable, "not applicable"},
	} {
		if n := counts[c.verdict]; n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", n, c.text))
		}
	}
	p.wrapped("rules: ", strings.Join(parts, ", "))
	p.wrapped("verdict: ", fmt.Sprintf("%s; exit %d", overall(v, counts), v.Exit))
}

func overall(v *analysis.Verify, counts map[analysis.Verdict]int) string {
	switch {
	case onlyGatesFail(v):
		return "fail: the capture contradicts itself, so nothing is said of the kernel"
	case counts[analysis.VerdictFail] > 0:
		return "fail: the kernel broke a rule"
	case v.Exit == analysis.ExitFail:
		return "fail under --strict: a rule is suspect or inconclusive"
	case v.Exit == analysis.ExitCommand:
		return "the command failed and no rule did"
	case counts[analysis.VerdictInconclusive] > 0:
		return "inconclusive: a rule could not be decided"
	case v.Exit == analysis.ExitInconclusive:
		return "inconclusive: no rule was exercised"
	}
	return "pass: no rule was broken"
}

// onlyGatesFail says that rules failed, and that all of them are rules of the
// capture: what is wrong then is the recording.
func onlyGatesFail(v *analysis.Verify) bool {
	fails := 0
	for _, r := range v.Rules {
		if r.Verdict == analysis.VerdictFail {
			if fails++; !r.Gate {
				return false
			}
		}
	}
	return fails > 0
}
