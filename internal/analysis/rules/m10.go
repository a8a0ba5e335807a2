// SPDX-License-Identifier: Apache-2.0

package rules

import (
	"github.com/txtrace/txtrace/internal/analysis"
)

var m10 = analysis.Rule{
	ID:         "M10",
	Sentence:   "The settings that rules go by are those of the capture's header, or a notice told of their change.",
	Why:        "Rules go by the quota, the bounds of BQL and other settings. If one changes and nobody tells, what is legal today is held against yesterday's.",
	Documents:  []string{"internal/capture"},
	Kernel:     "sysctl, sysfs",
	Strength:   analysis.Heuristic,
	Antecedent: "a notice of a change, or a snapshot of a queue's bounds",
	Floor:      0.5,
	Gate:       true,
	New: func(j *analysis.Judge) analysis.Checks {
		c := &checkM10{j: j, values: make(map[settingM10]uint64)}
		return analysis.Checks{Notice: c.notice, Completion: c.completion, End: c.end}
	},
}

// settingM10 names one setting: a sysctl, or a bound of one queue.
type settingM10 struct {
	name    string
	netns   uint32
	ifindex uint32
	txq     uint16
}

type checkM10 struct {
	j      *analysis.Judge
	values map[settingM10]uint64 // as last told
	wrong  []*analysis.Evidence  // until it is known that no notice is missing
	queues analysis.PerQueue[bounds]
}

// notice holds what a notice says was there before against what was told last:
// if they differ, a change was missed.
func (c *checkM10) notice(n *analysis.Notice) {
	if !n.OfSetting() {
		return
	}
	key := settingM10{n.Text, n.Netns, n.Ifindex, n.Txq}
	told, known := c.values[key]
	if !known {
		told, known = n.InHeader()
	}
	if known || len(c.values) < maxQdiscs {
		c.values[key] = n.After
	}
	switch {
	case !known, told == n.Before:
		c.j.Held()
	case len(c.wrong) < maxStrange:
		c.wrong = append(c.wrong, analysis.Show(nil, &n.Header, "%s was %d when it changed to %d; the capture knew it as %d", n.Text, n.Before, n.After, told).
			With("before", "", int64(n.Before)).With("known", "", int64(told)))
	}
}

// completion: the bounds of a queue are in every snapshot, so rules about BQL
// see a change even without a notice.
func (c *checkM10) completion(s *analysis.Completion) {
	b := c.queues.At(s.Queue)
	if b.seen > 0 && (b.least != s.MinLimit || b.most != s.MaxLimit) {
		c.j.Undecided(analysis.Changed)
	} else {
		c.j.Held()
	}
	*b = bounds{s.MinLimit, s.MaxLimit, 1}
}

func (c *checkM10) end(e *analysis.End) {
	for _, w := range c.wrong {
		if e.NoticesLost() {
			c.j.Undecided(analysis.Lost)
			continue
		}
		c.j.Broken(func() *analysis.Evidence { return w })
	}
}
