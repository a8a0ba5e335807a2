// SPDX-License-Identifier: Apache-2.0

package rules

import (
	"cmp"
	"slices"

	"github.com/txtrace/txtrace/internal/analysis"
)

// A rule of liveness says that something comes before long, and can be no more
// than suspect: what holds it up may be out of sight.
//
// Decision: before long is five seconds, which is when the kernel's watchdog
// gives a device up. A CPU needs far less for what it does by itself, but one of
// a guest was seen to stand still for more than a second. --time-scale stretches
// it.
const patience = 5e9 // ns

// awaits judge what is waited for. What is of no more interest is forgotten;
// what still waits at the end is an instance only if it is late.
type awaits[W any] struct {
	j     *analysis.Judge
	limit uint64 // ns
	show  func(w *W, late uint64) *analysis.Evidence
	all   []*await[W]
	n     int
}

// await is one thing that may be waited for, of a queue, a qdisc or a socket.
type await[W any] struct {
	what  W
	open  bool
	since uint64 // ns
	seen  uint64 // when it last came, ns
	n     int    // order of begin, 0 before the first
}

func newAwaits[W any](j *analysis.Judge, show func(*W, uint64) *analysis.Evidence) *awaits[W] {
	return &awaits[W]{j: j, limit: j.Limit(patience), show: show}
}

// begin waits from since on, unless it is waited for already. What was handed
// out too early, within a run that was longer, has come.
func (a *awaits[W]) begin(w *await[W], since uint64, what *W) {
	switch {
	case w.open:
		return
	case w.seen > since:
		a.j.Held()
		return
	case w.n == 0:
		a.all = append(a.all, w)
	}
	a.n++
	w.what, w.open, w.since, w.n = *what, true, since, a.n
}

// came says that it came at a time.
func (a *awaits[W]) came(w *await[W], at uint64) {
	w.seen = max(w.seen, at)
	switch {
	case !w.open || at < w.since:
		return
	case at-w.since <= a.limit:
		a.j.Held()
	default:
		a.late(w, at)
	}
	w.open = false
}

func (a *awaits[W]) late(w *await[W], at uint64) {
	a.j.SuspectIf(analysis.Claim{Over: analysis.Span{From: w.since, To: at}}, func() *analysis.Evidence {
		return a.show(&w.what, at-w.since).With("waited", "ns", int64(at-w.since))
	})
}

// forget waits no more for what is so.
func (a *awaits[W]) forget(is func(*W) bool) {
	for _, w := range a.all {
		if w.open && is(&w.what) {
			w.open = false
		}
	}
}

func (a *awaits[W]) end(e *analysis.End) {
	slices.SortFunc(a.all, func(x, y *await[W]) int { return cmp.Compare(x.n, y.n) })
	for _, w := range a.all {
		if w.open && e.LastNS > w.since+a.limit {
			a.late(w, e.LastNS)
		}
	}
}

// doubt is end where what ends a wait may have no record.
func (a *awaits[W]) doubt(e *analysis.End, reason string) {
	for _, w := range a.all {
		if w.open && e.LastNS > w.since+a.limit {
			a.j.Undecided(reason)
		}
	}
}

// awaitsBy are awaits of what has a key, as many as fit.
type awaitsBy[K comparable, W any] struct {
	*awaits[W]
	by map[K]*await[W]
}

// maxAwaits bounds what is followed by key.
const maxAwaits = 1 << 14

func newAwaitsBy[K comparable, W any](j *analysis.Judge, show func(*W, uint64) *analysis.Evidence) awaitsBy[K, W] {
	return awaitsBy[K, W]{newAwaits(j, show), make(map[K]*await[W])}
}

func (a awaitsBy[K, W]) begin(k K, since uint64, what *W) {
	w := a.by[k]
	if w == nil {
		if len(a.by) >= maxAwaits {
			return
		}
		w = new(await[W])
		a.by[k] = w
	}
	a.awaits.begin(w, since, what)
}

func (a awaitsBy[K, W]) came(k K, at uint64) {
	if w := a.by[k]; w != nil {
		a.awaits.came(w, at)
	}
}

// ms is a time for people.
func ms(ns uint64) uint64 { return ns / 1e6 }
