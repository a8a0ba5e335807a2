// SPDX-License-Identifier: Apache-2.0

package analysis

import "github.com/txtrace/txtrace/internal/model"

// Strength says what a rule's check can prove.
type Strength string

// The strengths.
const (
	Exact     Strength = "exact"     // the values compared are the kernel's own
	Interval  Strength = "interval"  // races make intervals; only what none explains is broken
	Heuristic Strength = "heuristic" // the last step cannot be seen
)

// Fate is what became of a rule's id.
type Fate string

// The fates. A Rule has one of the first three.
const (
	Checked       Fate = "checked"        // by default
	Packet        Fate = "packet"         // checked with --detail packet
	Suspicion     Fate = "suspect"        // checked, and never more than suspect: the last step cannot be seen
	NotObservable Fate = "not observable" // on any kernel tried
)

// Rule is one rule of the transmit path. The package doc of rules is the guide
// to writing one.
type Rule struct {
	ID         string
	Sentence   string         // what must hold, one sentence
	Why        string         // why the kernel keeps it, or what goes wrong where it does not
	Fate       Fate           // Checked when empty
	Documents  []string       // seeds and kernel commits it follows
	Kernel     string         // the kernel function that keeps it
	Needs      []string       // facts; without one of them the rule is not applicable
	Hooks      []string       // functions and tracepoints of which every call must have been seen
	Switches   []model.Switch // whose variants it tells apart, at most two
	Strength   Strength
	Antecedent string  // what an instance is: what could break the rule
	Floor      float64 // share of instances that must be decided, else inconclusive
	Gate       bool    // of the capture: when it fails, no other verdict stands
	New        func(*Judge) Checks
}

// IsFate is what became of the rule's id.
func (r *Rule) IsFate() Fate {
	if r.Fate == "" {
		return Checked
	}
	return r.Fate
}

// Other is an id that no rule of its own checks.
type Other struct {
	ID       string
	Sentence string   // what must hold
	Fate     Fate     // Checked when other rules hold it, which By names
	By       []string // ids of rules
	Reason   string   // which fact is missing, or what the check needs; or what the others leave
}

// Shown is what the tests of a rule were seen to make of it.
type Shown struct {
	Fail      *Evidence `json:"fail"`      // a fail, or suspect where it is no more
	Undecided []string  `json:"undecided"` // reasons for which instances were left undecided
}

// Checks are the functions of one rule for one capture. Those that are nil are
// not called. What they are handed is valid only during the call.
type Checks struct {
	Record     func(*Record) // every record, before it is joined with others
	Run        func(*Run)
	Batch      func(*Batch)
	Direct     func(*Direct)
	Handover   func(*Handover)
	Completion func(*Completion)
	Throttle   func(*Throttle)
	Wfree      func(*Wfree)
	Resume     func(*Resume)
	Notice     func(*Notice)
	Ledger     func(*Ledger)
	Quiet      func(*Quiet)
	Pick       func(*Pick)
	Picks      func(*Picks)
	List       func(*List)
	Sample     func(*Sampled)
	Sojourn    func(*Sojourn)
	Call       func(*Call)
	Schedule   func(*Schedule)
	Delivery   func(*Delivery)
	Life       func(*Life)
	Transmit   func(*Transmit)
	Steer      func(*Steer)
	Ring       func(*Ring) // hand-overs that are done, and at the end the oldest of each queue that is not
	End        func(*End)  // once, after the last record
}
