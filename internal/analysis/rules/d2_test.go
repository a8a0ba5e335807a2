// SPDX-License-Identifier: Apache-2.0

package rules

import (
	"strings"
	"testing"

	"github.com/txtrace/txtrace/internal/analysis"
	"github.com/txtrace/txtrace/internal/event"
)

// bulk makes n runs whose first batch is of size packets; left stay behind.
func bulk(n int, size, left uint32) *trace {
	t := newTrace()
	for range n {
		r := t.run()
		r.dequeue(size, 142, left)
		r.send(sent{})
		if size < 64 {
			r.dequeue(1, 142, 0)
			r.send(sent{})
		}
		r.end()
		t.complete(t.dql.InFlight())
	}
	return t
}

func variantOf(tb testing.TB, res *analysis.Result, name string) analysis.VariantState {
	tb.Helper()
	for _, v := range res.Verify.Variants {
		if v.Switch == name {
			return v
		}
	}
	tb.Fatalf("no switch %s", name)
	return analysis.VariantState{}
}

// NC4, NC19: one more than the quota is legal, and stopping there with bytes
// and packets left proves the bound.
func TestD2Budget(t *testing.T) {
	tr := bulk(20, 65, 10)
	for _, variant := range []string{"auto", "latest", "bulk=budget"} {
		r := tr.expect(t, "D2", variant, analysis.VerdictPass)
		if r.Exercised != 20 {
			t.Errorf("exercised %d", r.Exercised)
		}
	}
	res := tr.analyze(t, "auto", nil)
	v := variantOf(t, res, "bulk")
	if v.State != analysis.StateProven || v.Variant != "budget" || v.By == nil {
		t.Errorf("%+v", v)
	}
	if res.Verify.Exit != 0 {
		t.Errorf("exit %d", res.Verify.Exit)
	}
	tr.expect(t, "D2", "bulk=bytes", analysis.VerdictFail)
}

// C-Q7: 6.12.43 bounds a batch by bytes only.
func TestD2Bytes(t *testing.T) {
	tr := bulk(20, 224, 10)
	res := tr.analyze(t, "auto", nil)
	r := ruling(t, res, "D2")
	if r.Verdict != analysis.VerdictExpected || r.Expected != 20 || !strings.Contains(r.Reason, "0345552a653c") || len(r.Evidence) == 0 {
		t.Errorf("%+v", r)
	}
	v := variantOf(t, res, "bulk")
	if v.State != analysis.StateProven || v.Variant != "bytes" || v.MendedBy != "0345552a653c" || v.By == nil {
		t.Errorf("%+v", v)
	}
	if res.Verify.Exit != 0 {
		t.Errorf("exit %d", res.Verify.Exit)
	}
	for _, variant := range []string{"latest", "bulk=budget"} {
		r := tr.expect(t, "D2", variant, analysis.VerdictFail)
		if r.Fails != 20 || !strings.Contains(r.Evidence[0].Says, "224") {
			t.Errorf("%+v", r)
		}
	}
	if res := tr.analyze(t, "latest", nil); res.Verify.Exit != 1 {
		t.Errorf("exit %d", res.Verify.Exit)
	}
}

// Batches that an empty qdisc or the bytes of BQL ended prove nothing.
func TestD2ProvesNothing(t *testing.T) {
	for name, tr := range map[string]*trace{"empty": bulk(5, 20, 0), "bound and empty": bulk(5, 65, 0)} {
		tr.expect(t, "D2", "auto", analysis.VerdictNotExercised)
		if v := variantOf(t, tr.analyze(t, "auto", nil), "bulk"); v.State != analysis.StateUndecided || v.Variant != "" || v.JudgedAs != "budget" {
			t.Errorf("%s: %+v", name, v)
		}
	}
	tr := newTrace()
	tr.kind = "fq" // may hold packets back
	r := tr.run()
	r.dequeue(65, 142, 10)
	r.send(sent{})
	r.end()
	tr.expect(t, "D2", "auto", analysis.VerdictNotExercised)
}

// A kernel that shows both variants contradicts itself.
func TestD2Contradiction(t *testing.T) {
	tr := bulk(3, 65, 10)
	r := tr.run()
	r.dequeue(224, 142, 10)
	r.send(sent{})
	r.end()
	tr.expect(t, "D2", "auto", analysis.VerdictInconclusive)
	tr.expect(t, "D2", "latest", analysis.VerdictFail)
}

// The quota is what is left of the run's.
func TestD2QuotaLeft(t *testing.T) {
	tr := newTrace()
	r := tr.run()
	r.dequeue(40, 142, 30)
	r.send(sent{})
	r.dequeue(26, 142, 5) // 1 + 24 is the bound
	r.send(sent{})
	r.end()
	tr.expect(t, "D2", "latest", analysis.VerdictFail)
}

// A quota that changes makes batches about that time undecided.
func TestD2QuotaChanges(t *testing.T) {
	tr := newTrace()
	r := tr.run()
	r.dequeue(100, 142, 5)
	r.send(sent{})
	r.end()
	tr.tick(500_000_000)
	n := &event.Notice{Subtype: event.NoticeSysctl, Before: 64, After: 128}
	copy(n.Name[:], "net.core.dev_weight")
	tr.own(n)
	tr.expect(t, "D2", "latest", analysis.VerdictInconclusive)
}

// A batch above the whole quota shows itself what another one shows only
// beside what was sent before it, and is shown first.
func TestD2ClearFirst(t *testing.T) {
	for _, before := range []int{1, 200} { // few wait for the quota to be sure of, or many
		tr := newTrace()
		for i := range before {
			first, second := uint32(40), uint32(50)
			if i%2 == 0 {
				first, second = 60, 8 // another variant allows it: they do not wait as one
			}
			r := tr.run()
			r.dequeue(first, 142, 60)
			r.send(sent{})
			r.dequeue(second, 142, 10)
			r.send(sent{})
			r.end()
			tr.complete(tr.dql.InFlight())
			tr.tick(26_000_000)
		}
		r := tr.run()
		r.dequeue(70, 142, 10)
		r.send(sent{})
		r.end()
		v := tr.expect(t, "D2", "latest", analysis.VerdictFail)
		if int(v.Fails) != before+1 || len(v.Evidence) != min(before+1, 3) || !strings.Contains(v.Evidence[0].Says, "batch of 70") {
			t.Errorf("after %d: %+v", before, v)
		}
	}
}

// So is one that ended at the bound of a whole quota.
func TestD2ClearDecides(t *testing.T) {
	tr := newTrace()
	for _, sizes := range [][]uint32{{44, 21}, {65}, {65}} {
		r := tr.run()
		for _, n := range sizes {
			r.dequeue(n, 142, 10)
			r.send(sent{})
		}
		r.end()
		tr.complete(tr.dql.InFlight())
	}
	v := variantOf(t, tr.analyze(t, "auto", nil), "bulk")
	if v.State != analysis.StateProven || v.Variant != "budget" || v.By == nil || !strings.Contains(v.By.Says, "ended at 65 packets with a quota of 64") {
		t.Errorf("%+v %+v", v, v.By)
	}
}
