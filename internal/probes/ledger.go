// SPDX-License-Identifier: Apache-2.0

package probes

import (
	"fmt"
	"slices"

	"github.com/txtrace/txtrace/internal/capture"
	"github.com/txtrace/txtrace/internal/event"
)

// bpfCount is struct tx_count of bpf/state.h.
type bpfCount struct {
	Seen, Submitted, Filtered, Lost, Nested uint64
}

// ledger reads the programs' counts out of the kernel.
type ledger struct {
	s      *session
	layout cpuLayout
	last   map[[2]int]capture.LedgerRow
}

// totals of all CPUs besides the rows.
type totals struct {
	open     uint32
	orphans  uint64
	overflow uint64
	lastSeq  []uint32
}

// read returns one row per loaded program and CPU.
func (l *ledger) read() ([]capture.LedgerRow, totals, error) {
	var cpus [][]byte
	var t totals
	if err := l.s.coll.Maps[txtraceMapCpus].Lookup(uint32(0), &cpus); err != nil {
		return nil, t, fmt.Errorf("read the ledger: %w", err)
	}
	var rows []capture.LedgerRow
	for id, p := range l.s.programs {
		if !p.counted() {
			continue
		}
		var missed uint64
		if p.prog != nil {
			if st, err := p.prog.Stats(); err == nil {
				missed = st.RecursionMisses
			}
		}
		for cpu, b := range cpus {
			c := l.layout.count(b, id)
			row := capture.LedgerRow{Program: id, CPU: cpu, Seen: c.Seen, Submitted: c.Submitted, Filtered: c.Filtered, Lost: c.Lost, Missed: c.Nested}
			if cpu == 0 {
				row.Missed += missed
			}
			rows = append(rows, row)
		}
	}
	for _, b := range cpus {
		t.open += l.layout.u32(b, l.layout.top)
		if l.layout.u64(b, l.layout.begun) != 0 {
			t.open++ // a run that has not dequeued yet
		}
		if l.layout.u64(b, l.layout.send) != 0 {
			t.open++ // a bypass send without a frame
		}
		if l.layout.u32(b, l.layout.action) != 0 {
			t.open++
		}
		t.orphans += l.layout.u64(b, l.layout.orphans)
		t.overflow += l.layout.u64(b, l.layout.overflow)
		t.lastSeq = append(t.lastSeq, l.layout.u32(b, l.layout.seq))
	}
	return rows, t, nil
}

// adds says whether every program accounts for all that it saw.
func (l *ledger) adds() bool {
	rows, _, err := l.read()
	return err == nil && !slices.ContainsFunc(rows, func(r capture.LedgerRow) bool {
		return r.Seen != r.Submitted+r.Filtered+r.Lost
	})
}

// changed returns the rows that moved since the last call, as records.
func (l *ledger) changed() ([]event.Ledger, error) {
	rows, _, err := l.read()
	if err != nil {
		return nil, err
	}
	var out []event.Ledger
	for _, r := range rows {
		k := [2]int{r.Program, r.CPU}
		if l.last[k] == r {
			continue
		}
		l.last[k] = r
		e := event.Ledger{Seen: r.Seen, Submitted: r.Submitted, Filtered: r.Filtered, Lost: r.Lost, Missed: r.Missed, Program: uint32(r.Program), OfCPU: uint32(r.CPU)}
		out = append(out, e)
	}
	return out, nil
}
