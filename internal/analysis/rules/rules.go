// SPDX-License-Identifier: Apache-2.0

// Package rules holds the rules of the transmit path, one file each.
package rules

import "github.com/txtrace/txtrace/internal/analysis"

// All is the registry, in the order in which rules are printed.
func All() []analysis.Rule {
	return []analysis.Rule{d2}
}
