// SPDX-License-Identifier: Apache-2.0

package report

import (
	"bytes"
	"encoding/xml"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/txtrace/txtrace/internal/analysis"
	"github.com/txtrace/txtrace/internal/capture"
)

// oneOfEach has a rule with each verdict, and names that would break a format.
func oneOfEach() *analysis.Verify {
	show := []analysis.Evidence{{TimeNS: 5, Ifname: "eth<0>\n", Says: "a batch of # 9", Values: []analysis.Value{{Name: "packets", Unit: "packets", Value: 9}}}}
	return &analysis.Verify{
		Capture: analysis.CaptureInfo{Release: "6.1.0", Version: "#1 SMP & more", Variant: "auto"},
		Rules: []analysis.RuleVerdict{
			{ID: "A1", Verdict: analysis.VerdictPass, Held: 3},
			{ID: "A2", Verdict: analysis.VerdictFail, Held: 3, Fails: 2, Evidence: show, Sentence: "It holds."},
			{ID: "A3", Verdict: analysis.VerdictSuspect, Suspects: 1, Evidence: show, Sentence: "So does it."},
			{ID: "A4", Verdict: analysis.VerdictExpected, Expected: 4, Evidence: show, Sentence: "It, too."},
			{ID: "A5", Sentence: "Nor this.", Verdict: analysis.VerdictInconclusive, Inconclusive: 1, Undecided: []analysis.ReasonCount{{Reason: analysis.Lost, Count: 1}}},
			{ID: "A6", Verdict: analysis.VerdictNotExercised, Reason: "not seen: a thing"},
			{ID: "A7", Verdict: analysis.VerdictNotApplicable, Reason: "no pick"},
		},
	}
}

// line is what netdev's CI takes for a result (vmksft-p.py of nipa); what
// follows the number sign says skip where the test was skipped.
var line = regexp.MustCompile(`^(not )?ok (\d+)( -)? ([^#]*[^ ])( +# +)?([^ ].*)?$`)

func TestTAP(t *testing.T) {
	for _, c := range []struct {
		strict bool
		want   string // a letter for each test: pass, fail, skip
		totals string
	}{
		{false, "pfpps", "# Totals: pass:2 fail:1 xfail:1 xpass:0 skip:1 error:0"},
		{true, "pffpf", "# Totals: pass:1 fail:3 xfail:1 xpass:0 skip:0 error:0"},
	} {
		var out bytes.Buffer
		if err := TAP(&out, Text{}, oneOfEach(), capture.Clock{}, c.strict); err != nil {
			t.Fatal(err)
		}
		lines := strings.Split(strings.TrimSuffix(out.String(), "\n"), "\n")
		if lines[0] != "TAP version 13" || lines[1] != "1..5" || lines[len(lines)-1] != c.totals {
			t.Errorf("strict %v:\n%s", c.strict, &out)
		}
		got := ""
		for _, l := range lines[2:] {
			if strings.HasPrefix(l, "# ") {
				continue
			}
			m := line.FindStringSubmatch(l)
			if m == nil {
				t.Fatalf("no result: %q", l)
			}
			n := len(got) + 1
			if m[2] != strconv.Itoa(n) || m[4] != "A"+m[2] {
				t.Errorf("test %d: %q", n, l)
			}
			switch {
			case strings.HasPrefix(strings.ToLower(m[6]), "skip"):
				got += "s"
			case m[1] != "":
				got += "f"
			default:
				got += "p"
			}
		}
		if got != c.want {
			t.Errorf("strict %v: %s, want %s:\n%s", c.strict, got, c.want, &out)
		}
		if skips := strings.Count(out.String(), "# SKIP"); skips != strings.Count(c.want, "s") {
			t.Errorf("strict %v: %d lines would skip the whole run:\n%s", c.strict, skips, &out)
		}
		if !strings.Contains(out.String(), "\n# not exercised: A6 A7\n") {
			t.Errorf("what was not exercised is not told:\n%s", &out)
		}
	}
}

func TestTAPNothing(t *testing.T) {
	v := oneOfEach()
	v.Rules = v.Rules[5:]
	var out bytes.Buffer
	if err := TAP(&out, Text{}, v, capture.Clock{}, false); err != nil || out.String() != "TAP version 13\n1..0 # SKIP no rule was exercised\n" {
		t.Errorf("%v\n%s", err, &out)
	}
	for code, want := range map[int]int{0: 0, 1: 1, 3: 4, 4: 4, 5: 5} {
		if got := TAPExit(code); got != want {
			t.Errorf("exit %d becomes %d", code, got)
		}
	}
}

func TestJUnit(t *testing.T) {
	for _, c := range []struct {
		strict            bool
		failures, skipped string
	}{{false, "A2", "A5 A6 A7"}, {true, "A2 A3 A5", "A6 A7"}} {
		var out bytes.Buffer
		if err := JUnit(&out, Text{}, oneOfEach(), capture.Clock{}, c.strict); err != nil {
			t.Fatal(err)
		}
		var s junitSuite
		if err := xml.Unmarshal(out.Bytes(), &s); err != nil {
			t.Fatalf("%v\n%s", err, &out)
		}
		var failures, skipped []string
		for i, k := range s.Cases {
			if k.Name != "A"+strconv.Itoa(i+1) {
				t.Errorf("case %d: %+v", i, k)
			}
			if k.Failure != nil {
				failures = append(failures, k.Name)
			}
			if k.Skipped != nil {
				skipped = append(skipped, k.Name)
			}
		}
		if strings.Join(failures, " ") != c.failures || strings.Join(skipped, " ") != c.skipped {
			t.Errorf("strict %v: failed %v, skipped %v", c.strict, failures, skipped)
		}
		if s.Tests != 7 || s.Failures != len(failures) || s.Skipped != len(skipped) {
			t.Errorf("%d tests, %d failures, %d skipped", s.Tests, s.Failures, s.Skipped)
		}
		if f := s.Cases[1].Failure; f.Message != "broken 2, held 3" || !strings.Contains(f.Text, `eth<0>\n: a batch of # 9`) {
			t.Errorf("%+v", f)
		}
	}
}
