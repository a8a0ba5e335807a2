// SPDX-License-Identifier: Apache-2.0

package capture

import "math"

// tail is the loss after the last record of each CPU, which only the footer's
// ledger knows. A LastSeq of 0 may mean that no number was taken: it counts
// when a program of that CPU lost something.
func (o *order) tail(f *Footer, begin uint64) []Gap {
	if f == nil {
		return nil
	}
	taken := make(map[int]bool)
	for _, row := range f.Ledger {
		if row.Lost > 0 || row.LastSeq > 0 {
			taken[row.CPU] = true
		}
	}
	var gs []Gap
	for _, row := range f.Ledger {
		if row.Program != 0 || !taken[row.CPU] || row.CPU < 0 || row.CPU > math.MaxUint16 {
			continue
		}
		l := o.lane(uint16(row.CPU))
		n := row.LastSeq + 1 - l.next
		if n == 0 || l.seen && int32(n) < 0 {
			continue // nothing is missing, or the ledger was read too early
		}
		g := l.gap(row.LastSeq+1, f.Clock.Monotonic, begin)
		g.End = true
		gs = append(gs, g)
		l.seen, l.next = true, row.LastSeq+1
	}
	return gs
}
