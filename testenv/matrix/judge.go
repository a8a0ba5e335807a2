// SPDX-License-Identifier: Apache-2.0

package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/txtrace/txtrace/internal/analysis"
	"github.com/txtrace/txtrace/internal/model"
	"github.com/txtrace/txtrace/internal/report"
	"github.com/txtrace/txtrace/testenv/internal/outcome"
)

// judge reads what vm left of each scenario, and returns those of which it left
// nothing.
func (c *cell) judge(dir string, scenarios []string) (missing []string) {
	var after []string
	for _, name := range scenarios {
		o, err := outcome.Read(outcome.Dir(dir, scenarios, name))
		switch {
		case errors.Is(err, fs.ErrNotExist):
			missing = append(missing, name)
		case err != nil:
			c.fail("%s: %v", name, err)
		case o.CutShort() && c.cutShort:
			after = append(after, name)
		default:
			c.cutShort = c.cutShort || o.CutShort()
			c.scenario(outcome.Dir(dir, scenarios, name), name, o)
		}
	}
	if len(after) > 0 {
		c.fail("not played after that: %s", strings.Join(after, " "))
	}
	c.hold()
	return missing
}

// scenario adds one.
func (c *cell) scenario(dir, name string, o *outcome.Outcome) {
	c.Release = o.Release
	c.Warnings = o.Warnings // of the whole boot
	if o.Skipped() {
		c.Skipped = append(c.Skipped, name)
		return
	}
	if o.Failure != "" {
		c.fail("%s: %s", name, o.Failure)
	}
	v, r, err := read(dir, o)
	if err != nil {
		if o.Failure == "" {
			c.fail("%s: %v", name, err)
		}
		return
	}
	if v.Lost.Cut != "" && o.Failure == "" {
		c.fail("%s: the capture is cut: %s", name, v.Lost.Cut)
	}
	c.Played = append(c.Played, name)
	c.capture(name, v, r)
}

// read reads what verify and report said of a scenario's capture.
func read(dir string, o *outcome.Outcome) (*analysis.Verify, *report.Report, error) {
	for _, s := range o.Steps {
		verb, _, ok := strings.Cut(s.Name, "-")
		if !ok || verb != "verify" && verb != "report" {
			continue
		}
		switch s.Exit {
		case analysis.ExitOK, analysis.ExitFail, analysis.ExitInconclusive:
		default:
			return nil, nil, fmt.Errorf("txtrace %s cannot read the capture: exit code %d", verb, s.Exit)
		}
	}
	var v analysis.Verify
	var r report.Report
	for file, to := range map[string]any{"verify.json": &v, "report.json": &r} {
		b, err := os.ReadFile(filepath.Join(dir, file))
		if errors.Is(err, fs.ErrNotExist) {
			return nil, nil, errors.New("no capture")
		}
		if err == nil {
			err = json.Unmarshal(b, to)
		}
		if err != nil {
			return nil, nil, err
		}
	}
	return &v, &r, nil
}

// capture adds the verdicts and variants of one capture.
func (c *cell) capture(name string, v *analysis.Verify, r *report.Report) {
	for i := range v.Rules {
		rule := &v.Rules[i]
		c.Verdicts[rule.Verdict]++
		c.Instances += uint64(rule.Held + rule.Fails + rule.Suspects + rule.Expected + rule.Inconclusive)
		c.Undecided += uint64(rule.Inconclusive)
		switch rule.Verdict {
		case analysis.VerdictFail:
			says := ""
			if len(rule.Evidence) > 0 {
				says = ": " + report.Clean(rule.Evidence[0].Says)
			}
			c.fail("%s: %s broken %d times%s", name, rule.ID, rule.Fails, says)
		case analysis.VerdictSuspect:
			c.Suspects = append(c.Suspects, fmt.Sprintf("%s: %s suspect %d times", name, rule.ID, rule.Suspects))
		}
	}
	for i := range r.Queues {
		c.Advanced += uint64(r.Queues[i].BQL.AdvancedBytes)
		c.Decided += uint64(r.Queues[i].BQL.DecidedBytes)
	}
	c.decides(name, r)
	for i := range v.Variants {
		c.leave(name, &v.Variants[i])
	}
}

// leave narrows what is left of a switch to what one capture leaves.
func (c *cell) leave(name string, s *analysis.VariantState) {
	if len(s.Left) == 0 {
		c.fail("%s: %s: what is seen contradicts every variant", name, s.Switch)
		return
	}
	var before []string
	if c.Variants, before = leave(c.Variants, variant{s.Switch, s.Left}); len(before) > 0 {
		c.fail("%s: %s=%s, and other captures of this kernel left %s",
			name, s.Switch, strings.Join(s.Left, "|"), strings.Join(before, "|"))
	}
}

// deciders say of a switch which scenarios are there to prove its variant, and
// what a report must show of such a load for nothing to be left open.
var deciders = map[string]struct {
	scenarios []string
	shows     func(*report.Report) bool
}{
	// Without BQL nothing bounds a batch that could be told from the quota.
	string(model.SwitchBulk): {[]string{"bulk-udp", "everything"}, func(r *report.Report) bool {
		return slices.ContainsFunc(r.Queues, func(q report.Queue) bool { return q.BQL.AdvancedBytes > 0 })
	}},
	// Before 6.12.61 and 6.16 a full veth drops, and puts nothing back.
	string(model.SwitchRequeue): {[]string{"veth-full"}, func(r *report.Report) bool {
		return slices.ContainsFunc(r.Queues, func(q report.Queue) bool { return q.Requeues.Cause[analysis.CauseBusy] >= 50 })
	}},
	string(model.SwitchTSQLimit): {[]string{"paced"}, func(*report.Report) bool { return true }},
}

// decides notes the switches that a capture should have decided.
func (c *cell) decides(name string, r *report.Report) {
	for sw, d := range deciders {
		if slices.Contains(d.scenarios, name) && d.shows(r) && !slices.Contains(c.Could, sw) {
			c.Could = append(c.Could, sw)
		}
	}
	slices.Sort(c.Could)
}

// hold compares what is left with the variants that are expected.
func (c *cell) hold() {
	for _, v := range c.Variants {
		want, ok := c.Expect[v.Switch]
		switch {
		case !ok:
		case !slices.Contains(v.Left, want):
			c.fail("%s=%s is found, and the table of kernels says %s", v.Switch, strings.Join(v.Left, "|"), want)
		case !v.proven() && slices.Contains(c.Could, v.Switch):
			c.fail("%s is not decided: %s are left, %s is expected", v.Switch, strings.Join(v.Left, "|"), want)
		}
	}
}
