// SPDX-License-Identifier: Apache-2.0

package analysis

// Outcome is what one observation says of a rule, under one variant.
type Outcome uint8

// The outcomes. None is no instance: the antecedent did not hold.
const (
	None Outcome = iota
	Held
	Broken
	Suspect   // the last step cannot be seen
	Expected  // looks wrong, is legal under this variant
	Undecided // torn, lost, race, unknown start
	outcomes

	// Unchecked is Held only because the variant lacks the check: it counts as
	// Held, and proves nothing.
	Unchecked = outcomes
)

// Verdict is what a whole capture says of a rule.
type Verdict string

// The verdicts, as JSON spells them.
const (
	VerdictFail          Verdict = "fail"
	VerdictSuspect       Verdict = "suspect"
	VerdictExpected      Verdict = "expected"
	VerdictPass          Verdict = "pass"
	VerdictInconclusive  Verdict = "inconclusive"
	VerdictNotExercised  Verdict = "not_exercised"
	VerdictNotApplicable Verdict = "not_applicable"
)

// Reasons of undecided instances that more than one rule gives.
const (
	Lost    = "lost"             // records are missing
	Race    = "race"             // another CPU may have changed it meanwhile
	Torn    = "torn"             // a snapshot was taken while it was written
	Start   = "unknown start"    // it was under way when recording began
	Cut     = "list cut"         // the list was longer than it was walked
	Reset   = "reset"            // dql_reset or a reset of the qdisc ran
	Changed = "setting changed"  // a sysctl or limit changed about that time
	Skipped = "program skipped"  // the kernel skipped runs of a program about that time
	Late    = "came late"        // records of a CPU came out of their order
	Full    = "too many to hold" // it waits for a proof that no record is missing
)

// Exit codes of verify.
const (
	ExitOK           = 0
	ExitFail         = 1
	ExitUsage        = 2
	ExitInconclusive = 3
	ExitCannotRun    = 4
	ExitInternal     = 5
	ExitCommand      = 6
)

// exitCode is what verify exits with. childFailed says that the command under
// run failed.
func exitCode(rules []RuleVerdict, strict, childFailed bool) int {
	var fail, soft, inconclusive, exercised bool
	for _, r := range rules {
		switch r.Verdict {
		case VerdictFail:
			fail = true
		case VerdictSuspect:
			soft = true
		case VerdictInconclusive:
			soft, inconclusive = true, true
		}
		exercised = exercised || r.Exercised > 0
	}
	switch {
	case fail, strict && soft:
		return ExitFail
	case childFailed:
		return ExitCommand
	case inconclusive, !exercised:
		return ExitInconclusive
	}
	return ExitOK
}
