// SPDX-License-Identifier: Apache-2.0

package flame

import (
	"bytes"
	"encoding/xml"
	"errors"
	"io"
	"regexp"
	"strings"
	"testing"

	"github.com/google/pprof/profile"

	"github.com/txtrace/txtrace/internal/capture"
)

// recording is of three ways to a requeue, two of which join: a name that would
// part a folded line and one that would end a title are among them.
func recording() *capture.Stacks {
	return &capture.Stacks{
		Functions: []capture.StackFunction{
			{Name: "__dev_queue_xmit"}, {Name: "__qdisc_run"}, {Name: "sch_direct_xmit"},
			{Name: "net_tx_action"}, {Name: "a b;</title><script>\x01", Module: "<i>"},
		},
		Moments: []capture.StackMoment{{
			Name: "requeue", Seen: 12, Lost: 2,
			Stacks: []capture.Stack{
				{Count: 5, Packets: 50, Bytes: 5000, NS: 1, Calls: []int{0, 1, 2}},
				{Count: 3, Packets: 3, Bytes: 300, NS: 1, Calls: []int{3, 1, 2}},
				{Count: 2, Packets: 2, Bytes: 200, NS: 1, Calls: []int{0, 4, 2}},
			},
		}},
	}
}

func taken(t *testing.T, weight string) *Stacks {
	t.Helper()
	s, err := New(recording(), "requeue", weight, false)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// The strict form, as tools for flame graphs parse it: no space in the stack,
// one before a whole number.
func TestFolded(t *testing.T) {
	var b bytes.Buffer
	if err := Folded(&b, taken(t, "packets"), nil); err != nil {
		t.Fatal(err)
	}
	want := "__dev_queue_xmit;__qdisc_run;sch_direct_xmit 50\n" +
		"__dev_queue_xmit;a_b_</title><script>_;sch_direct_xmit 2\n" +
		"net_tx_action;__qdisc_run;sch_direct_xmit 3\n"
	if b.String() != want {
		t.Errorf("got\n%s", b.String())
	}
	strict := regexp.MustCompile(`^[^ ;]+(;[^ ;]+)* [0-9]+$`)
	for line := range strings.Lines(b.String()) {
		if !strict.MatchString(strings.TrimSuffix(line, "\n")) {
			t.Errorf("not strict: %q", line)
		}
	}
	b.Reset()
	other := taken(t, "count")
	other.Ways = other.Ways[:1]
	if err := Folded(&b, other, taken(t, "count")); err != nil || !strings.HasPrefix(b.String(), "__dev_queue_xmit;__qdisc_run;sch_direct_xmit 5 5\n") ||
		!strings.Contains(b.String(), "net_tx_action;__qdisc_run;sch_direct_xmit 3 0\n") {
		t.Errorf("a difference: %v\n%s", err, b.String())
	}
}

// The profile holds what went in, the innermost call first.
func TestPprof(t *testing.T) {
	var b bytes.Buffer
	if err := Pprof(&b, taken(t, "bytes")); err != nil {
		t.Fatal(err)
	}
	p, err := profile.Parse(&b)
	if err != nil {
		t.Fatal(err)
	}
	if err := p.CheckValid(); err != nil {
		t.Error(err)
	}
	if len(p.Sample) != 3 || p.SampleType[0].Type != "requeue" || p.SampleType[0].Unit != "bytes" || len(p.Function) != 5 {
		t.Fatalf("%v", p)
	}
	s := p.Sample[0]
	if s.Value[0] != 5000 || s.Location[0].Line[0].Function.Name != "sch_direct_xmit" || s.Location[2].Line[0].Function.Name != "__dev_queue_xmit" {
		t.Errorf("%v", s)
	}
}

// The graph is well-formed XML whatever the names are, holds no element of
// theirs, and each frame is as wide as its share.
func TestSVG(t *testing.T) {
	var b bytes.Buffer
	if err := SVG(&b, taken(t, "count"), nil, "6.1 <b>& \x02"); err != nil {
		t.Fatal(err)
	}
	var rects, titles int
	for d := xml.NewDecoder(bytes.NewReader(b.Bytes())); ; {
		token, err := d.Token()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		if e, ok := token.(xml.StartElement); ok {
			switch e.Name.Local {
			case "rect":
				rects++
			case "title":
				titles++
			case "svg", "style", "text", "g":
			default:
				t.Errorf("an element %s", e.Name.Local)
			}
		}
	}
	// __dev_queue_xmit and two ways on, net_tx_action and one.
	if rects != 8 || titles != 9 {
		t.Errorf("%d frames, %d titles", rects, titles)
	}
	for _, want := range []string{
		"<title>__dev_queue_xmit: 7, 70.00 %</title>", `width="826.0"`,
		"requeue: packets were put back, by count: 10; 2 of 12 stacks are not known",
		"a b;&lt;/title&gt;&lt;script&gt;? [&lt;i&gt;]: 2, 20.00 %",
	} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("no %s in\n%s", want, b.String())
		}
	}
	b.Reset()
	was := taken(t, "count")
	was.Ways = was.Ways[:2]
	if err := SVG(&b, taken(t, "count"), was, ""); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"net_tx_action: 3, 30.00 %; before 3, 37.50 %: -7.50 points</title>", "__dev_queue_xmit: 7, 70.00 %; before 5, 62.50 %: +7.50 points</title>", `fill="rgb(255,195,195)"`, `fill="rgb(195,195,255)"`} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("no %s in\n%s", want, b.String())
		}
	}
}

// What cannot be shown is refused with the next step.
func TestRefused(t *testing.T) {
	none := recording()
	none.Moments[0].Stacks = nil
	for _, c := range []struct {
		of           *capture.Stacks
		at, by, want string
		emulated     bool
	}{
		{recording(), "lunch", "count", "--at lunch: unknown moment: there is no such one; it is handover, doorbell, requeue, quota, schedule or throttle", false},
		{recording(), "schedule", "bytes", "--by bytes: refused: a schedule has no bytes; it has count", false},
		{recording(), "requeue", "ns", "--by ns: refused: durations of an emulated guest mean nothing; use --by count", true},
		{nil, "requeue", "count", "stacks: none recorded: they are taken only if asked for, and stored when a recording ends; record with --stacks requeue", false},
		{recording(), "quota", "count", "stacks of quota: not recorded: the recording was asked for requeue; record with --stacks quota", false},
		{none, "requeue", "count", "stacks of requeue: none: it came 12 times, and 2 stacks were lost; look at another moment, or record a load that meets it", false},
	} {
		_, err := New(c.of, c.at, c.by, c.emulated)
		var r *Refusal
		if !errors.As(err, &r) || err.Error() != c.want {
			t.Errorf("%s by %s: %v, want %s", c.at, c.by, err, c.want)
		}
	}
	wild := recording()
	wild.Moments[0].Stacks[0].Calls = []int{-1, 99}
	if s, err := New(wild, "requeue", "count", false); err != nil || s.Ways[0].Calls[1].Name != "[unknown]" {
		t.Errorf("calls that are not there: %v", err)
	}
}
