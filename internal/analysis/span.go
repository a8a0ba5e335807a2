// SPDX-License-Identifier: Apache-2.0

package analysis

// Span is an interval of time, both ends included, in ns of CLOCK_MONOTONIC.
type Span struct{ From, To uint64 }

// meets says whether s and o have a moment in common.
func (s Span) meets(o Span) bool { return s.From <= o.To && o.From <= s.To }
