// SPDX-License-Identifier: Apache-2.0

package analysis

import (
	"strings"

	"github.com/txtrace/txtrace/internal/capture"
	"github.com/txtrace/txtrace/internal/event"
)

// skips follows how often the kernel skipped runs of a program because another
// run of it was under way on that CPU. A skipped run leaves no record and no
// gap; the ledger tells of it, a second later.
type skips struct {
	hooks  []string // by program: the kernel function or tracepoint
	missed []uint64 // by program, so far
	time   []uint64 // by program: when the ledger told so
	tell   func(hook string, s Span)
}

func newSkips(h *capture.Header) *skips {
	s := &skips{
		hooks:  make([]string, len(h.Programs)),
		missed: make([]uint64, len(h.Programs)),
		time:   make([]uint64, len(h.Programs)),
	}
	for i, p := range h.Programs {
		_, s.hooks[i], _ = strings.Cut(p.Hook, ":")
		s.time[i] = h.Clock.Monotonic
	}
	return s
}

func (s *skips) ledger(l *event.Ledger) { s.row(int(l.Program), l.Missed, l.Time) }

func (s *skips) footer(f *capture.Footer) {
	if f == nil {
		return
	}
	for _, row := range f.Ledger {
		s.row(row.Program, row.Missed, f.Clock.Monotonic)
	}
}

func (s *skips) row(program int, missed, now uint64) {
	if program < 0 || program >= len(s.hooks) || missed < s.missed[program] {
		return // the count stands in one CPU's row only
	}
	if missed == s.missed[program] {
		s.time[program] = now
		return
	}
	s.missed[program] = missed
	s.tell(s.hooks[program], Span{s.time[program], now})
	s.time[program] = now
}
