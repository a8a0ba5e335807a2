// SPDX-License-Identifier: Apache-2.0

package evidence

import (
	"io"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/txtrace/txtrace/internal/analysis"
	"github.com/txtrace/txtrace/internal/capture"
	"github.com/txtrace/txtrace/internal/event"
)

func record(kind event.Kind, cpu uint16, begin, end uint64, parent uint32) event.Any {
	h := event.Header{Kind: kind, CPU: cpu, Time: end, Dur: uint32(end - begin), Parent: parent}
	switch kind {
	case event.KindRun:
		return &event.Run{Header: h}
	case event.KindDirect:
		return &event.Direct{Header: h}
	}
	return &event.Dequeue{Header: h}
}

// A run is one unit with its parts, also those of parts, and not with what
// another CPU did meanwhile.
func TestUnits(t *testing.T) {
	recs := []event.Any{
		record(event.KindDequeue, 0, 110, 110, 100),
		record(event.KindDequeue, 1, 111, 111, 0),
		record(event.KindDequeue, 0, 125, 125, 120), // in the direct
		record(event.KindDirect, 0, 120, 130, 100),
		record(event.KindDequeue, 1, 131, 131, 100), // of no run that was kept
		record(event.KindRun, 0, 100, 140, 0),
	}
	us := units(recs)
	var sizes []int
	for _, u := range us {
		sizes = append(sizes, len(u))
	}
	if !slices.Equal(sizes, []int{1, 1, 4}) || us[2][3] != recs[5] || us[0][0] != recs[1] {
		t.Errorf("%v", sizes)
	}
	if got := inOrder(recs, us[1:]); len(got) != 5 || got[0] != recs[0] || got[4] != recs[5] {
		t.Errorf("%v", got)
	}
}

// What is needed stays, all of it and nothing else.
func TestFewest(t *testing.T) {
	rapid.Check(t, func(d *rapid.T) {
		n := rapid.IntRange(1, 60).Draw(d, "n")
		needed := make(map[event.Any]bool)
		var us [][]event.Any
		for i := range n {
			r := record(event.KindDequeue, 0, uint64(i), uint64(i), 0)
			us = append(us, []event.Any{r})
			if rapid.IntRange(0, 9).Draw(d, "needed") == 0 {
				needed[r] = true
			}
		}
		got := fewest(us, func(some [][]event.Any) bool {
			found := 0
			for _, u := range some {
				if needed[u[0]] {
					found++
				}
			}
			return found == len(needed)
		})
		if len(got) != len(needed) {
			d.Errorf("%d left, %d are needed", len(got), len(needed))
		}
	})
}

// The records of each CPU are numbered from 0 without a gap.
func TestNumbers(t *testing.T) {
	recs := []event.Any{
		record(event.KindDequeue, 0, 1, 1, 0), record(event.KindDequeue, 1, 2, 2, 0), record(event.KindDequeue, 0, 3, 3, 0),
	}
	for i, r := range recs {
		r.Head().Seq = uint32(100 + 7*i)
	}
	var header capture.Header
	newSmall("D2", &header, header.Clock, recs)
	if recs[0].Head().Seq != 0 || recs[1].Head().Seq != 0 || recs[2].Head().Seq != 1 {
		t.Error(recs)
	}
}

// tape is a capture with records lost.
type tape struct {
	header capture.Header
	recs   []event.Any
	at     int
}

func (s *tape) Header() *capture.Header    { return &s.header }
func (s *tape) Footer() *capture.Footer    { return nil }
func (s *tape) Cut() *capture.CutInfo      { return &capture.CutInfo{Reason: "the test ends it"} }
func (s *tape) Stats() capture.ReaderStats { return capture.ReaderStats{} }

func (s *tape) Next() (capture.Item, error) {
	if s.at == len(s.recs) {
		return capture.Item{}, io.EOF
	}
	s.at++
	if s.at%5 == 0 {
		return capture.Item{Gap: &capture.Gap{Lost: 3}}, nil
	}
	return capture.Item{Record: s.recs[s.at-1]}, nil
}

// What is kept are so many records up to what the evidence names and so many
// after, each once and in order, also where two windows meet.
func TestCollect(t *testing.T) {
	src := &tape{}
	for i := range 100 {
		r := record(event.KindDequeue, 0, uint64(i), uint64(i), 0)
		r.Head().Seq = uint32(i)
		src.recs = append(src.recs, r)
	}
	named := func(at int) analysis.Evidence {
		return *analysis.Show(nil, src.recs[at].Head(), "")
	}
	for _, c := range []struct {
		anchors     []analysis.Evidence
		first, last uint32
		n           int
	}{
		{[]analysis.Evidence{named(50)}, 43, 57, 12}, // 44, 49 and 54 are gaps
		{[]analysis.Evidence{named(50), named(52)}, 43, 60, 14},
		{[]analysis.Evidence{named(1)}, 0, 8, 8},
		{[]analysis.Evidence{*analysis.ShowAt(50, "")}, 43, 57, 12},
		{[]analysis.Evidence{{TimeNS: 50, Records: []analysis.RecordRef{{CPU: 9, Seq: 50, TimeNS: 50}}}}, 0, 0, 0},
	} {
		src.at = 0
		one := &target{anchors: c.anchors}
		if err := collect(src, []*target{one}, 6); err != nil {
			t.Fatal(err)
		}
		if len(one.kept) != c.n {
			t.Errorf("%+v: %d kept, want %d", c.anchors, len(one.kept), c.n)
			continue
		}
		for i := 1; i < c.n; i++ {
			if one.kept[i].Head().Seq <= one.kept[i-1].Head().Seq {
				t.Errorf("%+v: out of order", c.anchors)
			}
		}
		if c.n > 0 && (one.kept[0].Head().Seq != c.first || one.kept[c.n-1].Head().Seq != c.last) {
			t.Errorf("%+v: %d to %d, want %d to %d", c.anchors, one.kept[0].Head().Seq, one.kept[c.n-1].Head().Seq, c.first, c.last)
		}
	}
}
