// SPDX-License-Identifier: Apache-2.0

package report

import (
	"fmt"
	"io"
	"strings"

	"github.com/txtrace/txtrace/internal/analysis"
)

// Rules is what rules prints.
type Rules struct {
	V     int    `json:"v"`
	Type  string `json:"type"`
	Rules []Rule `json:"rules"`
}

// Rule tells of one rule.
type Rule struct {
	ID        string   `json:"id"`
	Sentence  string   `json:"sentence"`
	Documents []string `json:"documents"`
	Kernel    string   `json:"kernel"` // the function that keeps it
	Needs     []string `json:"needs"`  // facts, as doctor names them
	Switches  []Switch `json:"switches"`
	Strength  string   `json:"strength"`
	Observed  string   `json:"observed"` // what counts as exercised
	Floor     float64  `json:"floor,omitempty"`
	Gate      bool     `json:"gate,omitempty"`
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

// NewRules makes the document. lookup tells of a switch by its name.
func NewRules(rules []analysis.Rule, lookup func(name string) Switch) *Rules {
	d := &Rules{V: 1, Type: "rules", Rules: []Rule{}}
	for _, r := range rules {
		v := Rule{
			ID: r.ID, Sentence: r.Sentence, Documents: list(r.Documents), Kernel: r.Kernel, Needs: list(r.Needs),
			Switches: []Switch{}, Strength: string(r.Strength), Observed: r.Antecedent, Floor: r.Floor, Gate: r.Gate,
		}
		for _, s := range r.Switches {
			v.Switches = append(v.Switches, lookup(string(s)))
		}
		d.Rules = append(d.Rules, v)
	}
	return d
}

// Text prints one row a rule.
func (d *Rules) Text(w io.Writer, t Text) error {
	p := &printer{Text: t, out: w}
	for _, r := range d.Rules {
		p.wrapped(fmt.Sprintf("%-4s ", r.ID), r.Sentence)
	}
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
	p.field("exercised by", r.Observed)
	p.field("strength", strength(r))
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
}

func strength(r *Rule) string {
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
