// SPDX-License-Identifier: Apache-2.0

package report

import (
	"bytes"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/txtrace/txtrace/internal/analysis"
)

// counts makes a histogram of sizes and their counts.
func counts(pairs ...uint64) []analysis.Count {
	var cs []analysis.Count
	for i := 0; i < len(pairs); i += 2 {
		cs = append(cs, analysis.Count{N: uint32(pairs[i]), Count: analysis.U64(pairs[i+1])})
	}
	return cs
}

func TestRows(t *testing.T) {
	for _, c := range []struct {
		name string
		bins []analysis.Count
		want []row
	}{
		{"nothing", nil, nil},
		{"zero counts", counts(1, 0, 9, 0), nil},
		{"64, 65 and 66 apart", counts(64, 1, 65, 2, 66, 3), []row{{64, 64, 1}, {65, 65, 2}, {66, 127, 3}}},
		{"powers of two join", counts(66, 1, 127, 1, 128, 1, 255, 1, 256, 1),
			[]row{{66, 127, 2}, {128, 255, 2}, {256, 511, 1}}},
		{"folded", counts(1, 5, 65, 1, 1367, 1),
			[]row{{1, 1, 5}, {2, 64, 0}, {65, 65, 1}, {66, 1023, 0}, {1024, 2047, 1}}},
		{"one empty line is no fold of two", counts(1, 1, 3, 1), []row{{1, 1, 1}, {2, 2, 0}, {3, 3, 1}}},
		{"unsorted", counts(3, 1, 2, 1), []row{{2, 2, 1}, {3, 3, 1}}},
		{"largest", counts(0, 1, 1<<32-1, 1), []row{{0, 0, 1}, {1, 1<<31 - 1, 0}, {1 << 31, 1<<32 - 1, 1}}},
	} {
		if d := cmp.Diff(c.want, rows(c.bins, maxSingle), cmp.AllowUnexported(row{})); d != "" {
			t.Errorf("%s: -want +got\n%s", c.name, d)
		}
	}
}

// Beyond the sizes that count one by one, powers of two join.
func TestHistogramTo(t *testing.T) {
	want := []row{{8, 8, 2}, {9, 15, 3}, {16, 31, 4}, {32, 63, 6}}
	if d := cmp.Diff(want, rows(counts(8, 2, 9, 1, 15, 2, 16, 4, 44, 5, 52, 1), 8), cmp.AllowUnexported(row{})); d != "" {
		t.Errorf("-want +got\n%s", d)
	}
}

func TestHistogramFits(t *testing.T) {
	var b bytes.Buffer
	p := &printer{out: &b}
	p.histogram("packets", "batches", counts(1, 1<<64-1, 2, 1, 1<<32-1, 7))
	for l := range strings.Lines(b.String()) {
		if len(l) > Width+1 {
			t.Errorf("%d columns: %s", len(l)-1, l)
		}
	}
	if !strings.Contains(b.String(), " 1 #\n") {
		t.Errorf("the smallest count has no mark:\n%s", &b)
	}
}
