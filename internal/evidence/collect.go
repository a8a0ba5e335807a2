// SPDX-License-Identifier: Apache-2.0

package evidence

import (
	"errors"
	"io"
	"slices"

	"github.com/txtrace/txtrace/internal/analysis"
	"github.com/txtrace/txtrace/internal/event"
)

// target is a fail to be shown, and what was kept for it.
type target struct {
	rule    analysis.RuleVerdict
	anchors []analysis.Evidence // records near these are kept
	kept    []event.Any
	last    int // index in the capture of the last one kept, -1 at first
	after   int // so many more are kept
}

// targets are the fails of a capture.
func targets(v *analysis.Verify) (ts []*target) {
	for _, r := range v.Rules {
		if r.Verdict != analysis.VerdictFail || len(r.Evidence) == 0 {
			continue
		}
		t := &target{rule: r, anchors: []analysis.Evidence{r.Evidence[0]}}
		for _, s := range v.Variants {
			if s.By != nil && r.Variant != "" {
				t.anchors = append(t.anchors, *s.By)
			}
		}
		ts = append(ts, t)
	}
	return ts
}

// place is where a record is in the capture.
type place struct {
	cpu uint16
	seq uint32
	ns  uint64
}

// collect reads the capture to its end and keeps, for each target, so many
// records before and after what its anchors name. The recorder's ledger is of no
// use without the rest of the capture.
func collect(src analysis.Source, ts []*target, around int) error {
	named := make(map[place][]*target)
	var timed []*target // by an anchor that names no record
	for _, t := range ts {
		t.kept, t.last, t.after = nil, -1, 0
		for _, a := range t.anchors {
			for _, r := range a.Records {
				p := place{r.CPU, r.Seq, uint64(r.TimeNS)}
				named[p] = append(named[p], t)
			}
		}
		if len(t.anchors[0].Records) == 0 {
			timed = append(timed, t)
		}
	}
	past := newPast(around)
	for {
		it, err := src.Next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		if it.Gap != nil || it.Record.Head().Kind == event.KindLedger {
			continue
		}
		h := it.Record.Head()
		past.add(it.Record)
		for _, t := range named[place{h.CPU, h.Seq, h.Time}] {
			if err := t.keep(past, around); err != nil {
				return err
			}
		}
		for _, t := range timed {
			if h.Time >= uint64(t.anchors[0].TimeNS) && t.after == 0 && len(t.kept) == 0 {
				if err := t.keep(past, around); err != nil {
					return err
				}
			}
		}
		for _, t := range ts {
			if t.after > 0 && t.last < past.n-1 {
				t.after--
				if err := t.take(past, past.n-1); err != nil {
					return err
				}
			}
		}
	}
}

// keep takes what is remembered, and as much of what follows.
func (t *target) keep(p *past, around int) error {
	t.after = around
	for i := max(t.last+1, p.n-len(p.ring)); i < p.n; i++ {
		if err := t.take(p, i); err != nil {
			return err
		}
	}
	return nil
}

func (t *target) take(p *past, i int) error {
	r, err := event.Decode(p.ring[i%len(p.ring)])
	if err != nil {
		return err
	}
	t.kept, t.last = append(t.kept, r), i
	return nil
}

// past remembers the last records of a capture.
type past struct {
	ring [][]byte
	n    int // records ever
}

func newPast(size int) *past { return &past{ring: make([][]byte, size)} }

func (p *past) add(r event.Any) {
	at := p.n % len(p.ring)
	p.ring[at] = event.AppendAny(p.ring[at][:0], r)
	p.n++
}

// units are records that belong together, each a run, direct or hand-over with
// its parts, or a record alone.
func units(recs []event.Any) (us [][]event.Any) {
	type span struct {
		cpu uint16
		id  uint32
	}
	of := make(map[span]int) // unit of a span that was met, from the end
	unit := make([]int, len(recs))
	n := 0
	for i := len(recs) - 1; i >= 0; i-- {
		h := recs[i].Head()
		u, ok := of[span{h.CPU, h.Parent}]
		if h.Parent == 0 || !ok {
			u, n = n, n+1
		}
		unit[i] = u
		switch h.Kind {
		case event.KindRun, event.KindDirect, event.KindHandover:
			of[span{h.CPU, h.ID()}] = u
		}
	}
	us = make([][]event.Any, n)
	for i, u := range unit {
		us[u] = append(us[u], recs[i])
	}
	slices.Reverse(us) // by their ends, as they were met
	return us
}
