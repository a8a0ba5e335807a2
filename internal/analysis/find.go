// SPDX-License-Identifier: Apache-2.0

package analysis

import (
	"slices"
	"strings"

	"github.com/txtrace/txtrace/internal/model"
)

// finding is what a capture tells of one switch.
type finding struct {
	info   model.SwitchInfo
	state  string
	choice model.Variant // that rules are judged under
	left   []model.Variant
	by     *Evidence
	rule   string
}

// find tells which variant of a switch the kernel shows. A variant is refuted
// by an observation that is impossible under it and possible under another; a
// switch is proven when one variant is left.
//
// Decision: what an old variant allows only because it lacks a check (to
// throttle a socket with nothing to be acknowledged, before 4.7; to go on after
// the packets of a quota, before 3.18) proves nothing: a wrong kernel of today
// looks the same. Such a variant explains it only if it was also seen to do
// what no other does; else the observation is a fault.
func find(info model.SwitchInfo, judges []*Judge, v Variants) finding {
	f := finding{info: info}
	for i := range info.Variants {
		name := info.Variants[i].Name
		j, e := refuted(info.Name, name, judges)
		if j == nil {
			f.left = append(f.left, name)
			continue
		}
		// The newest one refuted is the nearest rival: what refutes it decided.
		f.by, f.rule = e, j.rule.ID
	}
	switch len(f.left) {
	case 0:
		f.state, f.choice = StateContradicted, info.Latest().Name
	case 1:
		f.state, f.choice = StateProven, f.left[0]
	default:
		f.state, f.choice = StateUndecided, f.left[len(f.left)-1]
	}
	if name, ok := v.forced(info); ok {
		f.state, f.choice = StateForced, name
	}
	return f
}

// refuted is the rule, and its observation, that no setting with the variant
// explains.
func refuted(s model.Switch, v model.Variant, judges []*Judge) (*Judge, *Evidence) {
	for _, j := range judges {
		if e, all := j.refutes(s, v); all {
			return j, e
		}
	}
	return nil, nil
}

func (j *Judge) refutes(s model.Switch, v model.Variant) (e *Evidence, all bool) {
	for i, set := range j.settings {
		switch t := &j.tallies[i]; {
		case !set.has(j.rule.Switches, s, v):
		case t.refuter != nil:
			e, all = t.refuter.show, true
		case t.refuted > 0:
			all = true
		case !t.unsupported():
			return nil, false
		}
	}
	return e, all
}

// unsupported says that all the setting explains beyond today's kernel it
// explains by a lack of checks.
func (t *tally) unsupported() bool { return t.lacks > 0 && t.lacks == t.lenient }

// has says whether the setting has s at v.
func (set Setting) has(switches []model.Switch, s model.Switch, v model.Variant) bool {
	for i, name := range switches {
		if name == s {
			return i == 0 && set.First == v || i == 1 && set.Second == v
		}
	}
	return false
}

// state is the finding as verify prints it.
func (f finding) document() VariantState {
	s := VariantState{Switch: string(f.info.Name), State: f.state, By: f.by, Rule: f.rule}
	switch f.state {
	case StateProven, StateForced:
		s.Variant, s.MendedBy = string(f.choice), f.mended()
	case StateUndecided:
		s.JudgedAs, s.MendedBy = string(f.choice), f.mended()
	}
	for _, v := range f.left {
		s.Left = append(s.Left, string(v))
	}
	return s
}

// mended is the commit that mended the chosen variant as a fault, if one did.
func (f finding) mended() string {
	info, err := f.info.Variant(f.choice)
	if err != nil {
		return ""
	}
	return info.MendedBy
}

// findings of all switches that some rule tells apart.
type findings []finding

func findAll(judges []*Judge, v Variants) findings {
	used := make(map[model.Switch]bool)
	for _, j := range judges {
		for _, s := range j.rule.Switches {
			used[s] = true
		}
	}
	var fs findings
	for _, info := range model.Switches {
		if used[info.Name] {
			fs = append(fs, find(info, judges, v))
		}
	}
	for _, j := range judges {
		fs.agree(j)
	}
	return fs
}

// agree makes the choices of a rule's switches ones that explain together what
// the rule saw. Each variant may be possible with some variant of the other
// switch, and the newest of both be impossible together; then the newest
// combination that is possible is chosen.
func (fs findings) agree(j *Judge) {
	if len(j.rule.Switches) != 2 {
		return
	}
	first, second := fs.at(j.rule.Switches[0]), fs.at(j.rule.Switches[1])
	for i := len(j.settings) - 1; i >= 0; i-- {
		set := j.settings[i]
		t := &j.tallies[i]
		if t.refuted == 0 && !t.unsupported() && first.open(set.First) && second.open(set.Second) {
			first.choice, second.choice = set.First, set.Second
			return
		}
	}
}

// open says whether the switch may be at the variant.
func (f *finding) open(v model.Variant) bool {
	if f.state == StateForced {
		return f.choice == v
	}
	return slices.Contains(f.left, v)
}

func (fs findings) at(s model.Switch) *finding {
	for i := range fs {
		if fs[i].info.Name == s {
			return &fs[i]
		}
	}
	return &finding{}
}

func (fs findings) of(s model.Switch) finding { return *fs.at(s) }

// chosen is what a rule is judged under.
type chosen struct {
	index   int      // of the setting
	name    string   // as --variant spells it
	lacks   []string // commits that mended what the setting does
	older   []string // variants that are neither today's nor a mended fault, and were found, not forced
	against []string // switches of which every variant is refuted
}

// choice is the setting that a rule is judged under.
func (fs findings) choice(j *Judge) (c chosen) {
	var want Setting
	var names []string
	for i, s := range j.rule.Switches {
		f := fs.of(s)
		if i == 0 {
			want.First = f.choice
		} else {
			want.Second = f.choice
		}
		names = append(names, string(s)+"="+string(f.choice))
		switch m := f.mended(); {
		case m != "":
			c.lacks = append(c.lacks, m)
		case f.choice != f.info.Latest().Name && f.state != StateForced:
			c.older = append(c.older, names[i])
		}
		if f.state == StateContradicted {
			c.against = append(c.against, string(s))
		}
	}
	for i, set := range j.settings {
		if set == want {
			c.index = i
		}
	}
	c.name = strings.Join(names, ",")
	return c
}
