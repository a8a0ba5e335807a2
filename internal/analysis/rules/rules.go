// SPDX-License-Identifier: Apache-2.0

package rules

import "github.com/txtrace/txtrace/internal/analysis"

// All is the registry, in the order in which rules are printed.
func All() []analysis.Rule {
	return []analysis.Rule{
		m1, m2, m3, m7, m8, m9, m10,
		d1, d2, d3, d4, d5, d9,
		x1, x5, x6, r1, r5, r6,
		b8, b11, b13, b16,
		t2, t3,
	}
}
