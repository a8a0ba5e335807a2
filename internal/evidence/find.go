// SPDX-License-Identifier: Apache-2.0

package evidence

import (
	"bytes"
	"slices"

	"github.com/txtrace/txtrace/internal/analysis"
	"github.com/txtrace/txtrace/internal/capture"
	"github.com/txtrace/txtrace/internal/event"
)

// windows are how many records before and after are kept, until they suffice.
var windows = []int{32, 512, 8192, 131072}

// Find gives a small capture for each rule that fails in v, which opt made of
// the capture that open opens, and the rules of which no small capture shows the
// fail: it rests on the recording's own counts, or on more than is kept.
func Find(open func() (analysis.Source, func() error, error), v *analysis.Verify, opt analysis.Options) (found []*Small, missing []string, err error) {
	opt.NoReport, opt.Watch = true, nil
	s := search{opt: opt, failed: make(map[string]bool)}
	left := targets(v)
	for _, t := range left {
		s.failed[t.rule.ID] = true
	}
	for _, around := range windows {
		if len(left) == 0 {
			break
		}
		src, closes, err := open()
		if err != nil {
			return nil, nil, err
		}
		err = collect(src, left, around)
		s.header, s.end = src.Header(), endOf(src)
		closes()
		if err != nil {
			return nil, nil, err
		}
		left = slices.DeleteFunc(left, func(t *target) bool {
			small := s.shrink(t)
			if small != nil {
				found = append(found, small)
			}
			return small != nil
		})
	}
	for _, t := range left {
		missing = append(missing, t.rule.ID)
	}
	slices.SortFunc(found, func(a, b *Small) int { return rank(v, a.Rule) - rank(v, b.Rule) })
	return found, missing, nil
}

// rank is the place of a rule in a verdict.
func rank(v *analysis.Verify, id string) int {
	return slices.IndexFunc(v.Rules, func(r analysis.RuleVerdict) bool { return r.ID == id })
}

// endOf is when recording ended, or the header's clock where that is cut off.
func endOf(src analysis.Source) capture.Clock {
	if f := src.Footer(); f != nil {
		return f.Clock
	}
	return src.Header().Clock
}

// search looks for what shows fails of one capture.
type search struct {
	opt    analysis.Options
	header *capture.Header
	end    capture.Clock
	failed map[string]bool // rules that fail in the whole capture
}

// shrink leaves out what is not needed of what a target kept, or gives nil where
// that does not show its fail.
func (s *search) shrink(t *target) *Small {
	all := units(t.kept)
	show := func(us [][]event.Any) bool { return s.shows(t, s.small(t, us)) }
	if !show(all) {
		return nil
	}
	few := fewest(all, show)
	var single [][]event.Any
	for _, r := range inOrder(t.kept, few) {
		single = append(single, []event.Any{r})
	}
	few = fewest(single, show)
	small := s.small(t, few)
	if !s.readsBack(t, small) {
		return nil
	}
	return small
}

// small is the capture of some units.
func (s *search) small(t *target, us [][]event.Any) *Small {
	return newSmall(t.rule.ID, s.header, s.end, inOrder(t.kept, us))
}

// inOrder are the records of some units, as they came.
func inOrder(all []event.Any, us [][]event.Any) []event.Any {
	in := make(map[event.Any]bool)
	for _, u := range us {
		for _, r := range u {
			in[r] = true
		}
	}
	var recs []event.Any
	for _, r := range all {
		if in[r] {
			recs = append(recs, r)
		}
	}
	return recs
}

// shows says whether a capture shows the fail of the target and no new one.
func (s *search) shows(t *target, c *Small) bool { return s.judge(t, c.source()) }

// readsBack says the same of the capture as a file.
func (s *search) readsBack(t *target, c *Small) bool {
	var b bytes.Buffer
	if err := c.Write(&b); err != nil {
		return false
	}
	r, err := capture.Open(&b)
	return err == nil && s.judge(t, r)
}

func (s *search) judge(t *target, src analysis.Source) bool {
	res, err := analysis.Analyze(src, s.opt)
	if err != nil {
		return false
	}
	same := false
	for _, r := range res.Verify.Rules {
		switch {
		case r.Verdict != analysis.VerdictFail:
		case !s.failed[r.ID]:
			return false
		case r.ID == t.rule.ID:
			same = slices.ContainsFunc(r.Evidence, func(e analysis.Evidence) bool { return alike(&e, &t.rule.Evidence[0]) })
		}
	}
	return same
}

// alike says that two pieces of evidence are of the same instance. Numbers of
// records differ, and so may what is said of them.
func alike(a, b *analysis.Evidence) bool {
	return a.TimeNS == b.TimeNS && slices.Equal(a.Values, b.Values) && (len(a.Values) > 0 || a.Says == b.Says)
}

// fewest leaves out as many units as it can while show holds of the rest: first
// large parts, then smaller ones, until none of them can go.
func fewest(us [][]event.Any, show func([][]event.Any) bool) [][]event.Any {
	for part := (len(us) + 1) / 2; part > 0; {
		less := false
		for i := 0; i < len(us) && len(us) > 0; {
			rest := slices.Concat(us[:i], us[min(i+part, len(us)):])
			if show(rest) {
				us, less = rest, true
			} else {
				i += part
			}
		}
		switch {
		case part > 1:
			part /= 2
		case !less:
			return us
		}
	}
	return us
}
