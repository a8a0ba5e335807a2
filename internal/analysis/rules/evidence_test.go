// SPDX-License-Identifier: Apache-2.0

package rules

import (
	"bytes"
	"slices"
	"testing"

	"github.com/txtrace/txtrace/internal/analysis"
	"github.com/txtrace/txtrace/internal/capture"
	"github.com/txtrace/txtrace/internal/evidence"
)

// Every fail is shown by a capture of its own, of fewer records, which verifies
// to it; but those of the recording's own counts, which are in no record.
func TestEvidence(t *testing.T) {
	ofCounts := []string{"M1", "M2", "M3"}
	v, _ := analysis.ParseVariants("latest")
	opt := analysis.Options{Rules: All(), Variant: v}
	for _, rule := range All() {
		for i, s := range spoils[rule.ID] {
			if s.suspect {
				continue
			}
			tr := legal()
			s.on(tr)
			file := tr.file(t)
			open := func() (analysis.Source, func() error, error) {
				r, err := capture.Open(bytes.NewReader(file))
				return r, func() error { return nil }, err
			}
			src, _, err := open()
			if err != nil {
				t.Fatal(err)
			}
			whole, err := analysis.Analyze(src, opt)
			if err != nil {
				t.Fatal(err)
			}
			found, missing, err := evidence.Find(open, &whole.Verify, opt)
			if err != nil {
				t.Fatal(err)
			}
			k := slices.IndexFunc(found, func(s *evidence.Small) bool { return s.Rule == rule.ID })
			if k < 0 {
				if !slices.Contains(ofCounts, rule.ID) || !slices.Contains(missing, rule.ID) {
					t.Errorf("%s/%d: no small capture", rule.ID, i)
				}
				continue
			}
			least, most := 1, len(tr.recs)/2
			if rule.ID == "M4" {
				least = 0 // it is of the header
			}
			if n := found[k].Records; n < least || n > most {
				t.Errorf("%s/%d: %d records of %d", rule.ID, i, n, len(tr.recs))
			}
			shows(t, found[k], opt, rule.ID, ruling(t, whole, rule.ID).Evidence[0])
		}
	}
}

// shows holds that a small capture fails the rule, for the same values, and no
// other that did not fail before.
func shows(t *testing.T, s *evidence.Small, opt analysis.Options, id string, want analysis.Evidence) {
	t.Helper()
	var b bytes.Buffer
	if err := s.Write(&b); err != nil {
		t.Fatal(err)
	}
	r, err := capture.Open(&b)
	if err != nil {
		t.Fatal(err)
	}
	res, err := analysis.Analyze(r, opt)
	if err != nil {
		t.Fatal(err)
	}
	got := ruling(t, res, id)
	switch {
	case got.Verdict != analysis.VerdictFail || res.Verify.Exit != analysis.ExitFail:
		t.Errorf("%s: %s, exit %d", id, got.Verdict, res.Verify.Exit)
	case !slices.ContainsFunc(got.Evidence, func(e analysis.Evidence) bool { return slices.Equal(e.Values, want.Values) }):
		t.Errorf("%s: %+v, want %+v", id, got.Evidence, want)
	case res.Verify.Lost != (analysis.LostInfo{}):
		t.Errorf("%s: lost %+v", id, res.Verify.Lost)
	}
}
