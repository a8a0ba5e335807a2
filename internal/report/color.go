// SPDX-License-Identifier: Apache-2.0

package report

import "github.com/txtrace/txtrace/internal/analysis"

// Colours, as a terminal takes them.
const (
	red    = "\x1b[31m"
	green  = "\x1b[32m"
	yellow = "\x1b[33m"
	plain  = "\x1b[0m"
)

// verdictWord is a verdict as text spells it.
func verdictWord(v analysis.Verdict) string {
	switch v {
	case analysis.VerdictExpected:
		return "pass*"
	case analysis.VerdictNotExercised, analysis.VerdictNotApplicable:
		return "-"
	}
	return string(v)
}

// paint colours a word by the verdict it tells.
func (t Text) paint(v analysis.Verdict, word string) string {
	if !t.Color {
		return word
	}
	switch v {
	case analysis.VerdictPass, analysis.VerdictExpected:
		return green + word + plain
	case analysis.VerdictFail:
		return red + word + plain
	case analysis.VerdictSuspect, analysis.VerdictInconclusive:
		return yellow + word + plain
	}
	return word
}
