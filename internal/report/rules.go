// SPDX-License-Identifier: Apache-2.0

package report

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/txtrace/txtrace/internal/analysis"
	"github.com/txtrace/txtrace/internal/capture"
)

// Rules is what rules prints.
type Rules struct {
	V     int    `json:"v"`
	Type  string `json:"type"`
	Rules []Rule `json:"rules"`
}

// Registry is what there is to tell of: rules, ids without one, and who tells
// of a switch and of what a rule was seen to say.
type Registry struct {
	Rules  []analysis.Rule
	Others []analysis.Other
	Switch func(name string) Switch
	Shown  func(id string) analysis.Shown
}

// Rule tells of one id. One that is checked by no rule of its own has By or
// Reason, and nothing of a rule.
type Rule struct {
	ID        string             `json:"id"`
	Sentence  string             `json:"sentence"`
	Fate      string             `json:"fate"`
	By        []string           `json:"by,omitempty"`     // rules that hold it
	Reason    string             `json:"reason,omitempty"` // of its fate
	Why       string             `json:"why,omitempty"`
	Documents []string           `json:"documents,omitempty"`
	Kernel    string             `json:"kernel,omitempty"` // the function that keeps it
	Needs     []string           `json:"needs,omitempty"`  // facts, as doctor names them
	Hooks     []string           `json:"hooks,omitempty"`  // of which every call must have been seen
	Switches  []Switch           `json:"switches,omitempty"`
	Strength  string             `json:"strength,omitempty"`
	Observed  string             `json:"observed,omitempty"` // what counts as exercised
	Floor     float64            `json:"floor,omitempty"`
	Gate      bool               `json:"gate,omitempty"`
	Undecided []string           `json:"undecided,omitempty"` // why instances may be left undecided
	Example   *analysis.Evidence `json:"example,omitempty"`   // of a fail, or suspect
}

// Switch is a point at which kernels differ.
type Switch struct {
	Name     string    `json:"name"`
	Says     string    `json:"says,omitempty"`
	Variants []Variant `json:"variants"`
}

// Variant is one behaviour at a switch, oldest first within it.
type Variant struct {
	Name     string `json:"name"`
	Says     string `json:"says"`
	Source   string `json:"source"`
	MendedBy string `json:"mended_by,omitempty"`
}

// NewRules makes the document of all ids, by family and number.
func NewRules(g Registry) *Rules {
	d := &Rules{V: 1, Type: "rules", Rules: []Rule{}}
	for _, r := range g.Rules {
		shown := g.Shown(r.ID)
		v := Rule{
			ID: r.ID, Sentence: r.Sentence, Fate: string(r.IsFate()), Why: r.Why,
			Documents: r.Documents, Kernel: r.Kernel, Needs: r.Needs, Hooks: r.Hooks,
			Strength: string(r.Strength), Observed: r.Antecedent, Floor: r.Floor, Gate: r.Gate,
			Undecided: shown.Undecided, Example: shown.Fail,
		}
		for _, s := range r.Switches {
			v.Switches = append(v.Switches, g.Switch(string(s)))
		}
		d.Rules = append(d.Rules, v)
	}
	for _, o := range g.Others {
		d.Rules = append(d.Rules, Rule{ID: o.ID, Sentence: o.Sentence, Fate: string(o.Fate), By: o.By, Reason: o.Reason})
	}
	slices.SortStableFunc(d.Rules, func(a, b Rule) int {
		return cmp.Or(cmp.Compare(family(a.ID), family(b.ID)), cmp.Compare(len(a.ID), len(b.ID)), cmp.Compare(a.ID, b.ID))
	})
	return d
}

// family is the place of an id's letter: recording, then the way of a packet,
// with what is shared by its steps between.
func family(id string) int { return strings.Index("MBDXVRWSLNOQTG", id[:1]) }

// Text prints one row an id, and how many have which fate.
func (d *Rules) Text(w io.Writer, t Text) error {
	p := &printer{Text: t, out: w}
	counts := make(map[string]int)
	for _, r := range d.Rules {
		counts[r.Fate]++
		text := r.Sentence
		switch {
		case len(r.By) > 0:
			text += " By " + strings.Join(r.By, ", ") + ": " + r.Reason + "."
		case r.Reason != "":
			text += " But " + r.Reason + "."
		}
		p.wrapped(fmt.Sprintf("%-4s %-15s", r.ID, r.Fate), text)
	}
	var parts []string
	for _, f := range []analysis.Fate{analysis.Checked, analysis.Packet, analysis.Suspicion, analysis.NotObservable} {
		if n := counts[string(f)]; n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", n, f))
		}
	}
	p.line("")
	p.wrapped(fmt.Sprintf("%d ids: ", len(d.Rules)), strings.Join(parts, ", "))
	return p.err
}

// Text prints all about a rule.
func (r *Rule) Text(w io.Writer, t Text) error {
	p := &printer{Text: t, out: w}
	r.text(p)
	return p.err
}

func (r *Rule) text(p *printer) {
	p.field("rule", r.ID)
	p.field("says", r.Sentence)
	p.field("why", r.Why)
	p.field("fate", fate(r))
	p.field("exercised by", r.Observed)
	p.field("strength", strength(r))
	p.field("decided", decided(r))
	if r.Gate {
		p.field("gate", "when it fails, no other verdict stands")
	}
	p.field("kernel", r.Kernel)
	p.field("documents", strings.Join(r.Documents, "; "))
	p.field("needs", r.Needs...)
	for _, s := range r.Switches {
		p.field("switch", s.Name+": "+s.Says)
		for _, v := range s.Variants {
			text := v.Says
			if v.Source != "" {
				text += ": " + v.Source
			}
			if v.MendedBy != "" {
				text += "; mended by " + v.MendedBy
			}
			p.wrapped(fmt.Sprintf("  %-10s ", v.Name), text)
		}
	}
	doubts := r.Undecided
	if len(r.Hooks) > 0 {
		doubts = append(slices.Clone(doubts), "the kernel skipped a program at "+strings.Join(r.Hooks, ", "))
	}
	if len(doubts) > 0 {
		p.field("undecided", strings.Join(doubts, "; "))
	}
	if r.Example != nil {
		p.field("example", "made by the tests")
		p.evidence(r.Example, capture.Clock{Monotonic: exampleBegin})
	}
}

// exampleBegin is when the recording began that examples are from, in ns.
const exampleBegin = 1_000_000_000

func fate(r *Rule) string {
	s := r.Fate
	if analysis.Fate(r.Fate) == analysis.Suspicion {
		s += " at most: the last step cannot be seen"
	}
	if len(r.By) > 0 {
		s += " by " + strings.Join(r.By, ", ")
	}
	if r.Reason != "" {
		s += ": " + r.Reason
	}
	return s
}

// decided says how many instances must be, for a verdict.
func decided(r *Rule) string {
	switch {
	case r.Strength == "": // no rule of its own
		return ""
	case r.Floor > 0:
		return fmt.Sprintf("%.0f %% of its instances at least, else it is inconclusive", 100*r.Floor)
	}
	return "one instance at least, else it is inconclusive"
}

func strength(r *Rule) string {
	if r.Strength == "" {
		return ""
	}
	s := map[analysis.Strength]string{
		analysis.Exact:     "the values compared are the kernel's own",
		analysis.Interval:  "races make intervals; only what none explains is broken",
		analysis.Heuristic: "the last step cannot be seen",
	}[analysis.Strength(r.Strength)]
	if s == "" {
		return r.Strength
	}
	return r.Strength + ": " + s
}
