// SPDX-License-Identifier: Apache-2.0

package analysis

import "github.com/txtrace/txtrace/internal/event"

// Ref names one record of the capture.
type Ref struct {
	Kind event.Kind
	CPU  uint16
	Seq  uint32
	Time uint64 // ns, CLOCK_MONOTONIC
}

func refOf(h *event.Header) Ref { return Ref{h.Kind, h.CPU, h.Seq, h.Time} }

// Span is an interval of time, both ends included, in ns of CLOCK_MONOTONIC.
type Span struct{ From, To uint64 }
