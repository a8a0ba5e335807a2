// SPDX-License-Identifier: Apache-2.0

package rules

import (
	"cmp"
	"maps"
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

// awaits are what is waited for, by what it is of. What is of no more interest
// is forgotten; what still waits at the end is an instance only if it is late.
type awaits[K comparable, W any] struct {
	j     *analysis.Judge
	limit uint64 // ns
	show  func(w W, late uint64) *analysis.Evidence
	open  map[K]awaited[W]
	seen  map[K]uint64 // when it last came, ns
	n     int
}

type awaited[W any] struct {
	what  W
	since uint64
	n     int
}

// maxAwaits bounds what is waited for at a time.
const maxAwaits = 1 << 12

func newAwaits[K comparable, W any](j *analysis.Judge, show func(W, uint64) *analysis.Evidence) *awaits[K, W] {
	return &awaits[K, W]{j: j, limit: j.Limit(patience), show: show, open: make(map[K]awaited[W]), seen: make(map[K]uint64)}
}

// begin waits from since on, unless it is waited for already. What was handed
// out too early, within a run that was longer, has come.
func (a *awaits[K, W]) begin(k K, since uint64, what W) {
	if _, ok := a.open[k]; ok || len(a.open) >= maxAwaits {
		return
	}
	if a.seen[k] > since {
		a.j.Held()
		return
	}
	a.n++
	a.open[k] = awaited[W]{what, since, a.n}
}

// came says that it came at a time.
func (a *awaits[K, W]) came(k K, at uint64) {
	if len(a.seen) < maxAwaits || a.seen[k] > 0 {
		a.seen[k] = max(a.seen[k], at)
	}
	w, ok := a.open[k]
	switch {
	case !ok || at < w.since:
		return
	case at-w.since <= a.limit:
		a.j.Held()
	default:
		a.late(w, at)
	}
	delete(a.open, k)
}

func (a *awaits[K, W]) late(w awaited[W], at uint64) {
	a.j.SuspectIf(analysis.Claim{Over: analysis.Span{From: w.since, To: at}}, func() *analysis.Evidence {
		return a.show(w.what, at-w.since).With("waited", "ns", int64(at-w.since))
	})
}

// forget waits no more for what is of certain ones.
func (a *awaits[K, W]) forget(is func(K, W) bool) {
	maps.DeleteFunc(a.open, func(k K, w awaited[W]) bool { return is(k, w.what) })
}

func (a *awaits[K, W]) end(e *analysis.End) {
	left := slices.SortedFunc(maps.Values(a.open), func(x, y awaited[W]) int { return cmp.Compare(x.n, y.n) })
	for _, w := range left {
		if e.LastNS > w.since+a.limit {
			a.late(w, e.LastNS)
		}
	}
}

// ms is a time for people.
func ms(ns uint64) uint64 { return ns / 1e6 }
