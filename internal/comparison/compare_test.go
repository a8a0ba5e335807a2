// SPDX-License-Identifier: Apache-2.0

package comparison

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/txtrace/txtrace/internal/analysis"
	"github.com/txtrace/txtrace/internal/capture"
	"github.com/txtrace/txtrace/internal/statistics"
)

// loads are captures of one kernel whose loads said these results.
func loads(kernel string, results ...float64) (set []Capture) {
	for i, v := range results {
		r := sample()
		r.Header.Kernel.Release = kernel
		r.Footer.Child.Output = fmt.Sprintf("THROUGHPUT=%v\nTHROUGHPUT_UNITS=10^6bits/s\n", v)
		set = append(set, Capture{fmt.Sprintf("%s-%d", kernel, i+1), r})
	}
	return set
}

func compareLoads(t *testing.T, a, b []Capture, o Options) (*Comparison, *Row) {
	t.Helper()
	o.Metrics = []string{"load"}
	c, err := New(a, b, o)
	if err != nil {
		t.Fatal(err)
	}
	if len(c.Rows) != 1 {
		t.Fatalf("rows %+v, missing %+v", c.Rows, c.Missing)
	}
	return c, &c.Rows[0]
}

func TestRow(t *testing.T) {
	a, b := []float64{10, 11, 12, 13, 14}, []float64{20, 22, 24, 26, 28}
	c, r := compareLoads(t, loads("a", a...), loads("b", b...), Options{})
	w, _ := statistics.WelchTest(a, b, statistics.Different)
	if *r.Diff != 12 || *r.Change != 100 || *r.Low != w.Low || *r.High != w.High || *r.P != w.P || *r.Holm != w.P {
		t.Errorf("%+v", r)
	}
	if r.Significant == nil || !*r.Significant {
		t.Error("five runs each, far apart: not significant")
	}
	if len(c.Differences) != 1 || c.Differences[0].What != "kernel" || c.Exit != 0 {
		t.Errorf("%+v", c)
	}
	_, r = compareLoads(t, loads("a", a[:4]...), loads("b", b...), Options{})
	if r.Significant != nil || r.Holm == nil {
		t.Error("four runs are called significant or not")
	}
	_, r = compareLoads(t, loads("a", 10), loads("b", 12), Options{})
	if *r.Change != 20 || r.Low != nil || r.P != nil || r.Note == "" {
		t.Errorf("one run: %+v", r)
	}
	_, r = compareLoads(t, loads("a", 10, 10), loads("b", 12, 12), Options{})
	if *r.Diff != 2 || r.P != nil || r.Note != "no spread in either set" {
		t.Errorf("no spread: %+v", r)
	}
	_, r = compareLoads(t, loads("a", 0, 0), loads("b", 1, 2), Options{})
	if r.Change != nil || r.P == nil {
		t.Errorf("a change of nothing: %+v", r)
	}
}

// The p values of all metrics are corrected together.
func TestHolm(t *testing.T) {
	c, err := New(loads("a", 1, 2, 3, 4, 5), loads("b", 2, 3, 4, 5, 7), Options{Metrics: []string{"load", "quota.ended"}})
	if err != nil {
		t.Fatal(err)
	}
	if r := &c.Rows[0]; *r.Holm != *r.P || c.Rows[1].P != nil {
		t.Errorf("one of two metrics has a p: %v of %v", *r.Holm, *r.P)
	}
	a, b := loads("a", 1, 2, 3, 4, 5), loads("b", 2, 3, 4, 5, 7)
	for i := range a {
		a[i].Result.Queues[0].Runs.QuotaEnded = analysis.U64(i)
		b[i].Result.Queues[0].Runs.QuotaEnded = analysis.U64(i * i)
	}
	c, err = New(a, b, Options{Metrics: []string{"load", "quota.ended"}})
	if err != nil {
		t.Fatal(err)
	}
	if least := min(*c.Rows[0].P, *c.Rows[1].P); min(*c.Rows[0].Holm, *c.Rows[1].Holm) != 2*least {
		t.Errorf("%v %v", *c.Rows[0].Holm, *c.Rows[1].Holm)
	}
}

func TestCeiling(t *testing.T) {
	o := Options{Ceilings: map[string]float64{"load": 9415}}
	a, b := loads("a", 9300, 9350, 9380, 9400, 9390, 9360), loads("b", 9415, 9415, 9416, 9380, 9400, 9415)
	_, r := compareLoads(t, a, b, o)
	if r.A.Held.Runs != 0 || r.B.Held.Runs != 4 || math.Abs(r.B.Held.Share-4./6) > 1e-9 {
		t.Errorf("held %+v %+v", r.A.Held, r.B.Held)
	}
	if r.Welch != nil || *r.P != r.MannWhitney.P || *r.B.Held.Mean <= r.B.Mean || r.Diff == nil || *r.Low > *r.Diff {
		t.Errorf("%+v", r)
	}
	_, r = compareLoads(t, a, loads("b", 9415, 9415, 9415), o)
	if r.Diff != nil || r.P == nil || !strings.Contains(r.Note, "what they cost") {
		t.Errorf("all held: %+v", r)
	}
	_, r = compareLoads(t, a, loads("b", 9300, 9310), o)
	if r.Welch == nil || r.B.Held == nil || r.B.Held.Runs != 0 {
		t.Errorf("none held: %+v", r)
	}
}

// A bound goes by the whole interval.
func TestBounds(t *testing.T) {
	lossy := loads("b", 110, 111, 112)
	lossy[1].Result.Verify.Lost.Records = 1
	for _, c := range []struct {
		text, verdict string
		a, b          []Capture
	}{
		{"load>5%", Fail, loads("a", 100, 101, 102), loads("b", 110, 111, 112)},
		{"load > 5 %", Fail, loads("a", 100, 101, 102), loads("b", 110, 111, 112)},
		{"load>20%", Pass, loads("a", 100, 101, 102), loads("b", 110, 111, 112)},
		{"load>10%", Inconclusive, loads("a", 100, 101, 102), loads("b", 110, 111, 112)},
		{"load<-5%", Pass, loads("a", 100, 101, 102), loads("b", 110, 111, 112)},
		{"load<-5%", Fail, loads("a", 110, 111, 112), loads("b", 90, 91, 92)},
		{"load<-15%", Fail, loads("a", 110, 111, 112), loads("b", 90, 91, 92)},
		{"load<-25%", Pass, loads("a", 110, 111, 112), loads("b", 90, 91, 92)},
		{"load>5%", Inconclusive, loads("a", 100), loads("b", 200)},
		{"load>5%", Fail, loads("a", 100, 100), loads("b", 106, 106)},
		{"load>5%", Pass, loads("a", 100, 100), loads("b", 105, 105)},
		{"load>5%", Fail, loads("a", 0, 0), loads("b", 1, 1)},
		{"load>0%", Pass, loads("a", 0, 0), loads("b", 0, 0)},
		{"load>5%", Fail, loads("a", 100, 101, 102), lossy}, // what the load said is not counted from records
		{"batch.size>5%", Inconclusive, loads("a", 100, 101, 102), lossy},
		{"load.rate>5%", Inconclusive, loads("a", 100, 101, 102), loads("b", 1, 2)},
	} {
		b, err := ParseBound(c.text)
		if err != nil {
			t.Fatal(err)
		}
		got, err := New(c.a, c.b, Options{Bounds: []Bound{b}})
		if err != nil {
			t.Fatal(err)
		}
		exit := map[string]int{Fail: 1, Pass: 0, Inconclusive: 3}[c.verdict]
		if v := got.Bounds[0]; v.Verdict != c.verdict || got.Exit != exit || (v.Reason != "") != (c.verdict == Inconclusive) {
			t.Errorf("%s of %v and %v: %+v, exit %d, want %s", c.text, c.a, c.b, v, got.Exit, c.verdict)
		}
	}
	for _, bad := range []string{"", "load", "load>5", ">5%", "load>%", "load>x%", "load>nan%", "load>inf%", "load<-100%", "lock.share>5%", "loads>5%", "load=5%"} {
		if b, err := ParseBound(bad); err == nil {
			t.Errorf("%q is taken: %+v", bad, b)
		}
	}
}

func TestRefused(t *testing.T) {
	with := func(change func(*analysis.Result)) []Capture {
		s := loads("a", 1)
		s[0].Path = "changed"
		change(s[0].Result)
		return s
	}
	for what, c := range map[string]struct {
		a, b []Capture
		o    Options
	}{
		"empty":           {nil, loads("b", 1), Options{}},
		"kernels":         {append(loads("a", 1), loads("c", 1)...), loads("b", 1), Options{}},
		"loads":           {append(loads("a", 1), with(func(r *analysis.Result) { r.Footer.Child.Command = []string{"other"} })...), loads("b", 1), Options{}},
		"emulated":        {loads("a", 1), with(func(r *analysis.Result) { r.Header.Kernel.Emulated = true }), Options{}},
		"simulated":       {loads("a", 1), with(func(r *analysis.Result) { r.Header.Simulated = true }), Options{}},
		"metric":          {loads("a", 1), loads("b", 1), Options{Metrics: []string{"none"}}},
		"ceiling":         {loads("a", 1), loads("b", 1), Options{Ceilings: map[string]float64{"none": 1}}},
		"ceiling of what": {loads("a", 1), loads("b", 1), Options{Ceilings: map[string]float64{"load": math.NaN()}}},
	} {
		_, err := New(c.a, c.b, c.o)
		var r *Refusal
		if !errors.As(err, &r) || r.Object == "" || r.What == "" || r.Cause == "" || r.Next == "" {
			t.Errorf("%s: %v", what, err)
		}
	}
}

// What differs is said: within a set as a note, between them as what changed.
func TestDifferences(t *testing.T) {
	a, b := loads("a", 1, 2), loads("b", 1, 2)
	a[1].Result.Header.Devices[0].MTU = 9000
	b[0].Result.Header.Settings.Sysctls = map[string]string{"net.ipv4.tcp_limit_output_bytes": "4194304"}
	b[1].Result.Header.Settings.Sysctls = b[0].Result.Header.Settings.Sysctls
	b[1].Result.Verify.Lost.Records = 3
	b[0].Result.Footer.Child.Exit = 1
	b[1].Result.Header.Devices = append(b[1].Result.Header.Devices, capture.Device{Ifname: "idle", Ifindex: 9})
	c, err := New(a, b, Options{})
	if err != nil {
		t.Fatal(err)
	}
	if want := []Difference{{"kernel", "a #1", "b #1"}, {"net.ipv4.tcp_limit_output_bytes", "none", "4194304"}}; fmt.Sprint(c.Differences) != fmt.Sprint(want) {
		t.Errorf("%+v", c.Differences)
	}
	all := strings.Join(c.Notes, "\n")
	for _, want := range []string{"a-2: within set A, eth0 MTU is 9000 here and 1500 in a-1", "b-1: its command failed", "b-2: incomplete"} {
		if !strings.Contains(all, want) {
			t.Errorf("no note %q in:\n%s", want, all)
		}
	}
	if len(c.Notes) != 3 {
		t.Errorf("notes:\n%s", all)
	}
}

// Of twenty comparisons of nothing with nothing about one is below 0.05 before
// correction; after it, of ten metrics each, a whole comparison is wrong as
// seldom as that.
func TestCorrectionOfNothing(t *testing.T) {
	r := rand.New(rand.NewPCG(6, 6))
	const times, metrics, runs = 4000, 10, 10
	wrong := 0
	for range times {
		var c Comparison
		c.A.Runs, c.B.Runs = runs, runs
		for range metrics {
			var a, b []float64
			for range runs {
				a, b = append(a, r.NormFloat64()), append(b, r.NormFloat64())
			}
			c.Rows = append(c.Rows, newRow(Metric{}, a, b, math.Inf(1), statistics.Different))
		}
		c.correct()
		for _, row := range c.Rows {
			if *row.Significant {
				wrong++
				break
			}
		}
	}
	expected := Alpha * times
	if d := math.Abs(float64(wrong) - expected); d > 2.576*math.Sqrt(expected*(1-Alpha)) {
		t.Errorf("%d of %d comparisons of nothing find something, %.0f expected", wrong, times, expected)
	}
}
