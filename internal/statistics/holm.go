// SPDX-License-Identifier: Apache-2.0

package statistics

import (
	"cmp"
	"slices"
)

// Holm corrects p values for having looked at all of them: the least times
// their number, the next times one less, and so on; none below one before it
// (S. Holm, A simple sequentially rejective multiple test procedure, 1979).
func Holm(p []float64) []float64 {
	order := make([]int, len(p))
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(i, j int) int { return cmp.Compare(p[i], p[j]) })
	corrected := make([]float64, len(p))
	least := 0.0
	for k, i := range order {
		least = max(least, min(1, float64(len(p)-k)*p[i]))
		corrected[i] = least
	}
	return corrected
}
