// SPDX-License-Identifier: Apache-2.0

package report

import (
	"fmt"
	"io"

	"github.com/txtrace/txtrace/internal/analysis"
	"github.com/txtrace/txtrace/internal/capture"
)

// Run is what run prints: the report and the verdict of one recording.
//
// Decision: they are one document, as every verb's output is, so that a
// program that reads it need not know where the first one ends.
type Run struct {
	V      int              `json:"v"`
	Type   string           `json:"type"`
	Report *Report          `json:"report"`
	Verify *analysis.Verify `json:"verify"`

	clock capture.Clock
}

// NewRun makes the document of a recording's analysis.
func NewRun(r *analysis.Result, by By) *Run {
	return &Run{V: 1, Type: "run", Report: New(r, by), Verify: NewVerify(r), clock: r.Header.Clock}
}

// Text prints the report, then the verdict.
func (d *Run) Text(w io.Writer, t Text) error {
	if err := d.Report.Text(w, t); err != nil {
		return err
	}
	if _, err := fmt.Fprintln(w); err != nil {
		return err
	}
	return Verdict(w, t, d.Verify, d.clock)
}
