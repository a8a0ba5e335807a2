// SPDX-License-Identifier: Apache-2.0

package analysis

import (
	"encoding/json"
	"fmt"
	"strconv"

	"github.com/txtrace/txtrace/internal/event"
)

// U64 is a number that JSON shows as a string where a float cannot hold it.
type U64 uint64

// MarshalJSON writes u as a number up to 2^53, else as a string.
func (u U64) MarshalJSON() ([]byte, error) {
	if u > 1<<53 {
		return json.Marshal(strconv.FormatUint(uint64(u), 10))
	}
	return strconv.AppendUint(nil, uint64(u), 10), nil
}

// UnmarshalJSON reads both forms.
func (u *U64) UnmarshalJSON(b []byte) error {
	if len(b) > 1 && b[0] == '"' {
		b = b[1 : len(b)-1]
	}
	v, err := strconv.ParseUint(string(b), 10, 64)
	*u = U64(v)
	return err
}

// Evidence is the least that shows one instance.
type Evidence struct {
	TimeNS   U64         `json:"time_ns"` // CLOCK_MONOTONIC
	Netns    uint32      `json:"netns,omitempty"`
	Ifindex  uint32      `json:"ifindex,omitempty"`
	Ifname   string      `json:"ifname,omitempty"`
	Txq      *uint16     `json:"txq,omitempty"`
	Says     string      `json:"says"` // one line: what was seen against what is allowed
	Values   []Value     `json:"values,omitempty"`
	Records  []RecordRef `json:"records,omitempty"`
	Function string      `json:"function,omitempty"` // of the kernel
	Document string      `json:"document,omitempty"`
}

// Value is one of the values compared.
type Value struct {
	Name  string `json:"name"`
	Unit  string `json:"unit,omitempty"`
	Value int64  `json:"value"`
}

// RecordRef names a record of the capture.
type RecordRef struct {
	Kind   string `json:"kind"`
	CPU    uint16 `json:"cpu"`
	Seq    uint32 `json:"seq"`
	TimeNS U64    `json:"time_ns"`
}

// Show begins an evidence of one queue. q may be nil.
func Show(q *Queue, h *event.Header, format string, args ...any) *Evidence {
	e := &Evidence{TimeNS: U64(h.Time), Netns: h.Netns, Ifindex: h.Ifindex, Says: fmt.Sprintf(format, args...)}
	if q != nil {
		e.Of(q)
	}
	return e.Record(h)
}

// ShowAt begins an evidence that is of no record.
func ShowAt(ns uint64, format string, args ...any) *Evidence {
	return &Evidence{TimeNS: U64(ns), Says: fmt.Sprintf(format, args...)}
}

// Of makes the evidence one of a queue.
func (e *Evidence) Of(q *Queue) *Evidence {
	e.Netns, e.Ifindex, e.Ifname = q.Netns, q.Ifindex, q.Ifname
	if q.Txq != event.NoQueue {
		txq := q.Txq
		e.Txq = &txq
	}
	return e
}

// Saying is the evidence with another text.
func (e Evidence) Saying(format string, args ...any) *Evidence {
	e.Says = fmt.Sprintf(format, args...)
	return &e
}

// Record adds a record that shows it, once: a direct and its hand-over are one.
func (e *Evidence) Record(h *event.Header) *Evidence {
	for _, r := range e.Records {
		if r.CPU == h.CPU && r.Seq == h.Seq {
			return e
		}
	}
	e.Records = append(e.Records, RecordRef{h.Kind.String(), h.CPU, h.Seq, U64(h.Time)})
	return e
}

// With adds a value that was compared.
func (e *Evidence) With(name, unit string, value int64) *Evidence {
	e.Values = append(e.Values, Value{name, unit, value})
	return e
}
