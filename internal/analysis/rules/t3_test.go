// SPDX-License-Identifier: Apache-2.0

package rules

import (
	"testing"

	"github.com/txtrace/txtrace/internal/analysis"
	"github.com/txtrace/txtrace/internal/event"
)

// T3 row by row, after the table of measured cases.
func TestT3(t *testing.T) {
	for name, c := range map[string]struct {
		change func(*event.Wfree)
		want   analysis.Verdict
	}{
		"queued":                          {func(w *event.Wfree) {}, analysis.VerdictPass},
		"queued, throttled again":         {func(w *event.Wfree) { w.TSQEnd |= event.TSQThrottled }, analysis.VerdictPass},
		"ksoftirqd, little in flight":     {func(w *event.Wfree) { w.Ksoftirqd, w.WmemBegin, w.WmemEnd = 1, 1100, 101 }, analysis.VerdictPass},
		"ksoftirqd, much in flight":       {func(w *event.Wfree) { w.Ksoftirqd, w.TSQEnd, w.WmemEnd = 1, w.TSQBegin, 99001 }, analysis.VerdictPass},
		"ksoftirqd, moved meanwhile":      {func(w *event.Wfree) { w.Ksoftirqd, w.WmemEnd = 1, 100 }, analysis.VerdictInconclusive},
		"ksoftirqd, unexcused":            {func(w *event.Wfree) { w.Ksoftirqd, w.WmemBegin, w.WmemEnd, w.TSQEnd = 1, 1100, 100, w.TSQBegin }, analysis.VerdictFail},
		"ksoftirqd at the very threshold": {func(w *event.Wfree) { w.Ksoftirqd, w.WmemBegin, w.WmemEnd, w.TSQEnd = 1, 1576, 576, w.TSQBegin }, analysis.VerdictPass},
		"left alone, overlapped":          {func(w *event.Wfree) { w.TSQEnd, w.Overlap = w.TSQBegin, 1 }, analysis.VerdictInconclusive},
		"left alone":                      {func(w *event.Wfree) { w.TSQEnd, w.WmemEnd = w.TSQBegin, 99001 }, analysis.VerdictFail},
		"gone":                            {func(w *event.Wfree) { w.TSQEnd, w.WmemEnd = 0, 99001 }, analysis.VerdictFail},
		"the end may not be read":         {func(w *event.Wfree) { w.WmemEnd = 0 }, analysis.VerdictPass},
	} {
		tr := newTrace()
		c.change(tr.wfree())
		if r := ruling(t, tr.analyze(t, "latest", nil), "T3"); r.Verdict != c.want {
			t.Errorf("%s: %s, want %s %+v", name, r.Verdict, c.want, r.Undecided)
		}
	}
}
