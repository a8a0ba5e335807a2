// SPDX-License-Identifier: Apache-2.0

package analysis

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/txtrace/txtrace/internal/capture"
	"github.com/txtrace/txtrace/internal/model"
)

func TestExitCode(t *testing.T) {
	r := func(v Verdict) RuleVerdict { return RuleVerdict{Verdict: v, Exercised: 1} }
	none := RuleVerdict{Verdict: VerdictNotExercised}
	for _, c := range []struct {
		rules         []RuleVerdict
		strict, child bool
		want          int
	}{
		{[]RuleVerdict{r(VerdictPass)}, false, false, ExitOK},
		{[]RuleVerdict{r(VerdictExpected), none}, true, false, ExitOK},
		{[]RuleVerdict{r(VerdictPass), r(VerdictFail), r(VerdictInconclusive)}, false, true, ExitFail},
		{[]RuleVerdict{r(VerdictPass), r(VerdictInconclusive)}, false, false, ExitInconclusive},
		{[]RuleVerdict{r(VerdictPass), r(VerdictInconclusive)}, true, false, ExitFail},
		{[]RuleVerdict{r(VerdictSuspect)}, false, false, ExitOK},
		{[]RuleVerdict{r(VerdictSuspect)}, true, false, ExitFail},
		{[]RuleVerdict{none}, false, false, ExitInconclusive},
		{[]RuleVerdict{r(VerdictPass)}, false, true, ExitCommand},
		{[]RuleVerdict{r(VerdictInconclusive)}, false, true, ExitCommand},
		{nil, false, false, ExitInconclusive},
	} {
		if got := exitCode(c.rules, c.strict, c.child); got != c.want {
			t.Errorf("%+v: %d", c, got)
		}
	}
}

func TestU64(t *testing.T) {
	for v, want := range map[U64]string{7: "7", 1 << 53: "9007199254740992", 1<<53 + 1: `"9007199254740993"`} {
		b, err := json.Marshal(v)
		if err != nil || string(b) != want {
			t.Errorf("%s %v", b, err)
		}
		var back U64
		if err := json.Unmarshal(b, &back); err != nil || back != v {
			t.Errorf("%d %v", back, err)
		}
	}
}

// try makes a rule of one switch and lets it judge.
func try(t *testing.T, rule Rule, v Variants, see func(*Judge, *gaps, *uint64)) (RuleVerdict, []finding) {
	t.Helper()
	rule.ID, rule.Antecedent, rule.Documents, rule.Kernel = "T", "something", []string{"doc"}, "function"
	var g gaps
	now := uint64(10)
	j := newJudge(&rule, &g, &now)
	see(j, &g, &now)
	j.end()
	judges := []*Judge{j}
	fs := findAll(judges, v)
	return rulings(judges, fs, &capture.Header{})[0], fs
}

func auto() Variants { return Variants{} }

func evidence() *Evidence { return ShowAt(1, "x") }

func TestVerdicts(t *testing.T) {
	for name, c := range map[string]struct {
		see   func(*Judge)
		floor float64
		want  Verdict
	}{
		"nothing":          {func(*Judge) {}, 0, VerdictNotExercised},
		"held":             {func(j *Judge) { j.Held(); j.Undecided(Race) }, 0, VerdictPass},
		"undecided":        {func(j *Judge) { j.Undecided(Race) }, 0, VerdictInconclusive},
		"under the floor":  {func(j *Judge) { j.Held(); j.UndecidedBy(9, Race) }, 0.5, VerdictInconclusive},
		"broken":           {func(j *Judge) { j.HeldBy(1000); j.Broken(evidence) }, 1, VerdictFail},
		"suspect":          {func(j *Judge) { j.Held(); j.Suspect(evidence) }, 0, VerdictSuspect},
		"expected":         {func(j *Judge) { j.Held(); j.Expected("so", evidence) }, 0, VerdictExpected},
		"broken, expected": {func(j *Judge) { j.Expected("so", evidence); j.Broken(evidence) }, 0, VerdictFail},
	} {
		r, _ := try(t, Rule{Floor: c.floor}, auto(), func(j *Judge, _ *gaps, _ *uint64) { c.see(j) })
		if r.Verdict != c.want {
			t.Errorf("%s: %s %s", name, r.Verdict, r.Reason)
		}
	}
	r, _ := try(t, Rule{}, auto(), func(j *Judge, _ *gaps, _ *uint64) { j.Expected("so", evidence) })
	if r.Reason != "so" || len(r.Evidence) != 1 || r.Evidence[0].Function != "function" || r.Evidence[0].Document != "doc" {
		t.Errorf("%+v", r)
	}
}

// refute makes an instance that is broken under some variants.
func refute(j *Judge, c Claim, broken ...model.Variant) {
	j.Weigh(c, func(s Setting) (Outcome, string) {
		for _, v := range broken {
			if s.First == v {
				return Broken, ""
			}
		}
		return Held, ""
	}, func(s Setting) *Evidence { return ShowAt(1, "not %s", s.First) })
}

func TestFinding(t *testing.T) {
	rule := Rule{Switches: []model.Switch{model.SwitchXmitStop}}
	r, fs := try(t, rule, auto(), func(j *Judge, _ *gaps, _ *uint64) { refute(j, Claim{}, model.XmitStopDrv) })
	if f := fs[0]; f.state != StateProven || f.choice != model.XmitStopAny || f.by.Says != "not drv" || f.mended() == "" {
		t.Errorf("%+v", f)
	}
	if r.Verdict != VerdictExpected || r.Expected != 1 || r.Held != 0 || !strings.Contains(r.Reason, "fe60faa50638") {
		t.Errorf("%+v", r)
	}
	// Both refuted by different observations: a contradiction.
	both := func(j *Judge, _ *gaps, _ *uint64) {
		refute(j, Claim{}, model.XmitStopDrv)
		refute(j, Claim{}, model.XmitStopAny)
	}
	r, fs = try(t, rule, auto(), both)
	if fs[0].state != StateContradicted || r.Verdict != VerdictInconclusive || len(r.Evidence) != 2 {
		t.Errorf("%+v %+v", fs[0], r)
	}
	latest, _ := ParseVariants("latest")
	if r, fs = try(t, rule, latest, both); fs[0].state != StateForced || r.Verdict != VerdictFail {
		t.Errorf("%+v %+v", fs[0], r)
	}
	// One observation that nothing explains refutes nothing: it is a fault.
	r, fs = try(t, rule, auto(), func(j *Judge, _ *gaps, _ *uint64) {
		refute(j, Claim{}, model.XmitStopDrv, model.XmitStopAny)
	})
	if fs[0].state != StateUndecided || r.Verdict != VerdictFail {
		t.Errorf("%+v %+v", fs[0], r)
	}
	// With a contradiction besides it is one all the same.
	r, fs = try(t, rule, auto(), func(j *Judge, g *gaps, now *uint64) {
		both(j, g, now)
		refute(j, Claim{}, model.XmitStopDrv, model.XmitStopAny)
	})
	if fs[0].state != StateContradicted || r.Verdict != VerdictFail {
		t.Errorf("%+v %+v", fs[0], r)
	}
	forced, err := ParseVariants("xmit-stop=any")
	if err != nil {
		t.Fatal(err)
	}
	if r, _ = try(t, rule, forced, func(j *Judge, _ *gaps, _ *uint64) { refute(j, Claim{}, model.XmitStopAny) }); r.Verdict != VerdictFail {
		t.Errorf("%+v", r)
	}
	if _, err := ParseVariants("bulk=nonsense"); err == nil {
		t.Error("accepted")
	}
}

// The variants of a rule with two switches are chosen together: the newest pair
// that is possible, within what is forced.
func TestFindingTogether(t *testing.T) {
	rule := Rule{Switches: []model.Switch{model.SwitchXmitStop, model.SwitchDQLReset}}
	impossible := func(pairs ...Setting) func(*Judge, *gaps, *uint64) {
		return func(j *Judge, _ *gaps, _ *uint64) {
			for _, p := range pairs {
				j.Weigh(Claim{}, func(s Setting) (Outcome, string) {
					if s == p {
						return Broken, ""
					}
					return Held, ""
				}, func(Setting) *Evidence { return evidence() })
			}
		}
	}
	newest, drvZero := Setting{model.XmitStopDrv, model.DQLResetMin}, Setting{model.XmitStopDrv, model.DQLResetZero}
	for _, c := range []struct {
		variant string
		pairs   []Setting
		want    string
	}{
		{"auto", nil, "xmit-stop=drv,dql-reset=min"},
		{"auto", []Setting{newest}, "xmit-stop=drv,dql-reset=zero"},
		{"auto", []Setting{newest, drvZero}, "xmit-stop=any,dql-reset=min"},
		{"dql-reset=min", []Setting{newest}, "xmit-stop=any,dql-reset=min"},
		{"latest", []Setting{newest}, "xmit-stop=drv,dql-reset=min"},
	} {
		v, err := ParseVariants(c.variant)
		if err != nil {
			t.Fatal(err)
		}
		if r, _ := try(t, rule, v, impossible(c.pairs...)); r.Variant != c.want {
			t.Errorf("%s, %v: %s, want %s", c.variant, c.pairs, r.Variant, c.want)
		}
	}
}

// Two switches may have any number of variants: the oldest of all pairs is
// found among them like the newest, and what waits keeps its own lists.
func TestManySettings(t *testing.T) {
	rule := Rule{Switches: []model.Switch{model.SwitchBulk, model.SwitchTSQLimit}, Hooks: []string{"f"}}
	var pairs []Setting
	for _, first := range mustLookup(t, model.SwitchBulk).Variants {
		for _, second := range mustLookup(t, model.SwitchTSQLimit).Variants {
			pairs = append(pairs, Setting{first.Name, second.Name})
		}
	}
	if len(pairs) <= 16 {
		t.Fatalf("only %d", len(pairs))
	}
	for _, only := range pairs {
		r, _ := try(t, rule, auto(), func(j *Judge, _ *gaps, _ *uint64) {
			for _, p := range pairs {
				if p == only {
					continue
				}
				j.Weigh(Claim{}, func(s Setting) (Outcome, string) {
					if s == p {
						return Broken, ""
					}
					return Held, ""
				}, func(Setting) *Evidence { return evidence() })
			}
		})
		if want := "bulk=" + string(only.First) + ",tsq-limit=" + string(only.Second); r.Variant != want || r.Fails != 0 || r.Exercised != U64(len(pairs)-1) {
			t.Errorf("%s, want %s: %+v", r.Variant, want, r)
		}
	}
}

func mustLookup(t *testing.T, s model.Switch) model.SwitchInfo {
	t.Helper()
	info, err := model.Lookup(s)
	if err != nil {
		t.Fatal(err)
	}
	return info
}

// A broken instance that waits is withdrawn, and then refutes nothing.
func TestClaims(t *testing.T) {
	rule := Rule{Switches: []model.Switch{model.SwitchXmitStop}, Hooks: []string{"f"}}
	over := Claim{Over: Span{5, 9}}
	for name, c := range map[string]struct {
		claim Claim
		then  func(*Judge, *gaps)
		held  bool
	}{
		"nothing speaks against it": {over, func(*Judge, *gaps) {}, true},
		"a gap inside":              {over, func(j *Judge, g *gaps) { j.lost(Span{9, 20}) }, false},
		"a gap elsewhere":           {over, func(j *Judge, g *gaps) { j.lost(Span{10, 20}) }, true},
		"the quota changed":         {Claim{Quota: true}, func(j *Judge, g *gaps) { j.changed(Span{0, 10}) }, false},
		"it changed later":          {Claim{Quota: true}, func(j *Judge, g *gaps) { j.changed(Span{11, 20}) }, true},
		"records came late":         {Claim{Order: true}, func(j *Judge, g *gaps) { j.late() }, false},
		"late where none matters":   {over, func(j *Judge, g *gaps) { j.late() }, true},
		"a skipped program":         {Claim{}, func(j *Judge, g *gaps) { j.skipped("f", Span{0, 10}) }, false},
		"another program":           {Claim{}, func(j *Judge, g *gaps) { j.skipped("h", Span{0, 10}) }, true},
	} {
		_, fs := try(t, rule, auto(), func(j *Judge, g *gaps, _ *uint64) {
			refute(j, c.claim, model.XmitStopAny)
			c.then(j, g)
		})
		if (fs[0].state == StateProven) != c.held {
			t.Errorf("%s: %s", name, fs[0].state)
		}
	}
	// What is held under the other variant stays held.
	r, _ := try(t, rule, auto(), func(j *Judge, g *gaps, _ *uint64) {
		refute(j, over, model.XmitStopAny)
		j.lost(Span{5, 5})
	})
	if r.Held != 1 || r.Inconclusive != 0 {
		t.Errorf("%+v", r)
	}
	// What came in order waits to the end; a quota as long as a notice may take,
	// and all that wait as one as long as the last of them.
	for name, c := range map[string]struct {
		claim  Claim
		later  uint64 // when the next one is seen
		wrong  func(*Judge, uint64)
		proven bool
	}{
		"late at the very end":         {Claim{Order: true}, 3 * settle, func(j *Judge, _ uint64) { j.late() }, false},
		"not late":                     {Claim{Order: true}, 3 * settle, func(*Judge, uint64) {}, true},
		"changed soon":                 {Claim{Quota: true}, settle, func(j *Judge, _ uint64) { j.changed(Span{10, 10}) }, false},
		"changed too long after":       {Claim{Quota: true}, settle + 1, func(j *Judge, _ uint64) { j.changed(Span{10, 10}) }, true},
		"changed when the second came": {Claim{Quota: true}, 1000, func(j *Judge, now uint64) { j.changed(Span{now, now}) }, false},
	} {
		_, fs := try(t, rule, auto(), func(j *Judge, g *gaps, now *uint64) {
			refute(j, c.claim, model.XmitStopAny)
			*now += c.later
			if c.later > 1000 { // the next one is another matter
				refute(j, Claim{Quota: true, Clear: true})
				refute(j, Claim{}, model.XmitStopDrv, model.XmitStopAny)
			} else {
				refute(j, c.claim, model.XmitStopAny)
			}
			c.wrong(j, *now)
		})
		if (fs[0].state == StateProven) != c.proven {
			t.Errorf("%s: %s", name, fs[0].state)
		}
	}
	// A gap that is known already, a skip that is known already.
	_, fs := try(t, rule, auto(), func(j *Judge, g *gaps, now *uint64) {
		g.add(Span{7, 7})
		refute(j, over, model.XmitStopAny)
		j.skipped("f", Span{*now, *now})
		refute(j, Claim{}, model.XmitStopAny)
	})
	if fs[0].state != StateUndecided {
		t.Errorf("%+v", fs[0])
	}
	// After as long as a notice may take, an instance is final and makes room.
	_, fs = try(t, rule, auto(), func(j *Judge, g *gaps, now *uint64) {
		for range 3 * maxPending {
			refute(j, Claim{Quota: true}, model.XmitStopAny)
			*now += settle / 100
		}
		if n := len(j.wait.brief); n > 200 {
			t.Errorf("%d wait", n)
		}
	})
	if fs[0].state != StateProven {
		t.Errorf("%+v", fs[0])
	}
}

// What is suspect because of what is missing in between is withdrawn as well,
// with a gap that is found later or is known; without a claim it stands.
func TestSuspectClaims(t *testing.T) {
	for name, c := range map[string]struct {
		see  func(*Judge, *gaps)
		want Verdict
	}{
		"nothing missing": {func(j *Judge, _ *gaps) { j.SuspectIf(Claim{Over: Span{5, 9}}, evidence) }, VerdictSuspect},
		"found later":     {func(j *Judge, _ *gaps) { j.SuspectIf(Claim{Over: Span{5, 9}}, evidence); j.lost(Span{9, 9}) }, VerdictInconclusive},
		"known":           {func(j *Judge, g *gaps) { g.add(Span{5, 5}); j.SuspectIf(Claim{Over: Span{5, 9}}, evidence) }, VerdictInconclusive},
		"no claim":        {func(j *Judge, g *gaps) { g.add(Span{5, 5}); j.Suspect(evidence); j.lost(Span{0, 99}) }, VerdictSuspect},
	} {
		r, _ := try(t, Rule{}, auto(), func(j *Judge, g *gaps, _ *uint64) { c.see(j, g) })
		if r.Verdict != c.want {
			t.Errorf("%s: %s", name, r.Verdict)
		}
	}
}

// What was decided may not be enough for a pass.
func TestShort(t *testing.T) {
	for _, c := range []struct {
		see  func(*Judge)
		want Verdict
	}{
		{func(j *Judge) { j.HeldBy(99) }, VerdictInconclusive},
		{func(j *Judge) { j.Suspect(evidence) }, VerdictSuspect},
		{func(j *Judge) { j.Broken(evidence) }, VerdictFail},
		{func(*Judge) {}, VerdictNotExercised},
	} {
		r, _ := try(t, Rule{}, auto(), func(j *Judge, _ *gaps, _ *uint64) { c.see(j); j.Short("why") })
		if r.Verdict != c.want || (r.Verdict == VerdictInconclusive) != (r.Reason == "why") {
			t.Errorf("%s %s, want %s", r.Verdict, r.Reason, c.want)
		}
	}
}

// With more that waits than can be held, what is beyond is undecided.
func TestClaimsBounded(t *testing.T) {
	r, _ := try(t, Rule{}, auto(), func(j *Judge, _ *gaps, _ *uint64) {
		for range maxPending + 10 {
			j.BrokenIf(Claim{Over: Span{5, 9}}, evidence)
		}
	})
	if r.Fails != maxPending || r.Inconclusive != 10 || r.Undecided[0].Reason != Full || len(r.Evidence) != maxShown {
		t.Errorf("%d %d %+v", r.Fails, r.Inconclusive, r.Undecided)
	}
}

// A rule is not applicable without a fact it needs, or one that says so.
func TestMissing(t *testing.T) {
	r := Rule{ID: "T", Needs: []string{"run", "bql"}}
	for _, c := range []struct {
		plan []capture.Choice
		want string
	}{
		{nil, ""},
		{[]capture.Choice{{Fact: "run", Source: "fentry"}, {Fact: "bql", State: "chosen"}}, ""},
		{[]capture.Choice{{Fact: "other", State: "absent"}}, ""},
		{[]capture.Choice{{Fact: "run", Source: "fentry"}, {Fact: "bql", State: "absent", Reason: "no symbol"}}, "needs bql: no symbol"},
		{[]capture.Choice{{Fact: "other", State: "absent", Disables: []string{"A", "T"}}}, "needs other: absent"},
	} {
		if got := r.missing(&capture.Header{Plan: c.plan}); got != c.want {
			t.Errorf("%+v: %q, want %q", c.plan, got, c.want)
		}
	}
	rs := rulings([]*Judge{newJudge(&Rule{ID: "M1", Gate: true}, new(gaps), new(uint64)), newJudge(&r, new(gaps), new(uint64))}, nil, &capture.Header{Plan: []capture.Choice{{Fact: "run", State: "absent"}}})
	if rs[1].Verdict != VerdictNotApplicable {
		t.Errorf("%+v", rs[1])
	}
}

func TestGate(t *testing.T) {
	var g gaps
	var now uint64
	gate := newJudge(&Rule{ID: "M1", Gate: true}, &g, &now)
	other := newJudge(&Rule{ID: "D1"}, &g, &now)
	idle := newJudge(&Rule{ID: "D2"}, &g, &now)
	lacks := newJudge(&Rule{ID: "D3", Needs: []string{"run"}}, &g, &now)
	gate.Broken(evidence)
	other.Broken(evidence)
	rs := rulings([]*Judge{gate, other, idle, lacks}, nil, &capture.Header{Plan: []capture.Choice{{Fact: "run", State: "absent"}}})
	if rs[2].Verdict != VerdictNotExercised || rs[3].Verdict != VerdictNotApplicable {
		t.Errorf("%+v", rs)
	}
	if rs[0].Verdict != VerdictFail || rs[1].Verdict != VerdictInconclusive || !strings.Contains(rs[1].Reason, "M1") {
		t.Errorf("%+v", rs)
	}
}

func TestChoose(t *testing.T) {
	o := Options{Rules: []Rule{{ID: "A"}, {ID: "B"}}, Only: []string{"B"}}
	rs, err := o.choose()
	if err != nil || len(rs) != 1 || rs[0].ID != "B" {
		t.Error(rs, err)
	}
	o.Only = []string{"C"}
	if _, err := o.choose(); err == nil || !strings.Contains(err.Error(), "A B") {
		t.Error(err)
	}
}
