// SPDX-License-Identifier: Apache-2.0

package analysis

import (
	"math"
	"reflect"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

func TestBins(t *testing.T) {
	for i := range binOf(math.MaxUint64) {
		begin, end := binBegin(i), binBegin(i+1)-1
		if binOf(begin) != i || binOf(end) != i || end < begin {
			t.Fatalf("bin %d: %d to %d are in %d and %d", i, begin, end, binOf(begin), binOf(end))
		}
		if end-begin > begin/8 {
			t.Fatalf("bin %d is wide: %d to %d", i, begin, end)
		}
	}
}

// Quantiles are what the sorted times have, rounded up by less than an eighth;
// and two halves are together what the whole is.
func TestTimes(t *testing.T) {
	rapid.Check(t, func(d *rapid.T) {
		all := rapid.SliceOfN(rapid.Uint64Range(0, 1<<40), 1, 300).Draw(d, "all")
		var whole, left, right times
		for i, ns := range all {
			whole.add(ns)
			if i%3 == 0 {
				left.add(ns)
			} else {
				right.add(ns)
			}
		}
		r := whole.report()
		if got := MergeTimes(left.report(), right.report()); !reflect.DeepEqual(got, r) {
			d.Fatalf("%+v, want %+v", got, r)
		}
		slices.Sort(all)
		for share, got := range map[float64]U64{0.5: r.P50, 0.99: r.P99, 0.999: r.P999} {
			want := all[int(math.Ceil(share*float64(len(all))))-1]
			if uint64(got) < want || uint64(got) > want+want/8 {
				d.Fatalf("quantile %v: %d, want %d", share, got, want)
			}
		}
	})
}
