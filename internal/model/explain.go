// SPDX-License-Identifier: Apache-2.0

package model

// Outcome says how Explain accounts for the step between two snapshots of one
// queue's DQL.
type Outcome string

// The outcomes. Only OutcomeUnequal speaks against the kernel.
const (
	OutcomeIdle      Outcome = "idle"      // no completion in between
	OutcomeEqual     Outcome = "equal"     // one completion, every field as predicted
	OutcomeSplit     Outcome = "split"     // two completions; the kernel's own over-limit tells where the second started
	OutcomeReset     Outcome = "reset"     // dql_reset, then at most one completion
	OutcomeAdmin     Outcome = "admin"     // somebody wrote to limit, limit_min, limit_max or hold_time
	OutcomeUnequal   Outcome = "unequal"   // no history of a right kernel ends here
	OutcomeUndecided Outcome = "undecided" // some history may; Reason says why it is not known
)

// HalfWritten is the reason of a step that would be split, unequal or undecided
// else, and of which a snapshot may be half written.
const HalfWritten = "a snapshot may be half written"

// LimitWritten is the reason of a step, admin or equal, after whose last
// completion somebody wrote to the sysfs file limit.
const LimitWritten = "limit was written"

// Window says what is known about the time between two snapshots.
type Window struct {
	// From and To are the jiffies read with the first and second snapshot. A
	// completion may carry a time up to jiffySlop outside of them, for it
	// reads the clock before it writes what the snapshot sees.
	From, To uint64

	// Completions is how many completions lie between; 0 means one or more.
	// One may be claimed where each snapshot was taken right after a
	// completion by the code that ran it, the driver completes once per such
	// round, and no round is missing. A NAPI poll is not always one round: tg3
	// and bnxt clean their rings in a loop.
	Completions int

	// Foreign says that a snapshot was taken by other code than the queue's
	// completions. Such a snapshot may be half written even if two readings
	// agree: an interrupt, or a virtual CPU that is descheduled, can stay
	// between two stores of dql_completed for milliseconds.
	Foreign bool
}

// jiffySlop widens a Window at both ends, in jiffies.
const jiffySlop = 2

// Explanation is Explain's answer.
type Explanation struct {
	Outcome Outcome
	Reason  string // of admin and undecided; with equal, what else was seen

	// Of equal: what the completion did to the limit.
	Step  Step
	Clamp Clamp

	// Of unequal, and of undecided for HalfWritten where it would be unequal
	// else: the first field that differs, as the kernel spells it, what was
	// predicted and what was seen. A predicted slack_start_time may also be any
	// other time of the window.
	Field     string
	Want, Saw uint64

	// Moves says that the algorithm moves the limit in one completion that
	// reads what the last one did.
	Moves bool

	// Of unequal: if set, a write of this value to the sysfs file limit between
	// the snapshots would explain them. Who cannot exclude such a write should
	// call the observation suspect.
	Write *uint32

	// Of split: bytes completed before the last completion, and a num_queued
	// which the one that completed them may have read.
	First, Queued uint32
}

// Explain checks the step between two snapshots of one queue against the
// algorithm (rule B13). Completions cannot be hooked, but a snapshot tells what
// its last completion read: PrevNumQueued and PrevLastObjCnt. With the state
// before, those and the time determine every other field.
//
// What is sound: a step that one completion explains is equal. Otherwise two or
// more completions or a reset may lie between, whose inputs are not known.
// Explain says unequal if exactly one completion is known to lie between, or if
// the fields that survive any number of completions contradict each other
// (impossible). It says split if PrevOvlimit, which fixes the num_completed the
// last completion started from, lies in between and a num_queued is found with
// which two completions explain the rest. Everything else is undecided.
func Explain(before, after DQL, w Window) Explanation {
	if before.MinLimit != after.MinLimit || before.MaxLimit != after.MaxLimit || before.SlackHoldTime != after.SlackHoldTime {
		return Explanation{Outcome: OutcomeAdmin, Reason: "limit_min, limit_max or hold_time changed"}
	}
	if before.MinLimit > before.MaxLimit {
		return undecided("limit_min is above limit_max")
	}
	if after.completionHalf() == before.completionHalf() {
		if after.Limit != before.Limit {
			return Explanation{Outcome: OutcomeAdmin, Reason: LimitWritten}
		}
		return Explanation{Outcome: OutcomeIdle}
	}
	if after.isReset() {
		return Explanation{Outcome: OutcomeReset}
	}
	moved := after.NumCompleted != before.NumCompleted
	diff := w.differs(before, after)
	next, step, clamp := before.completedTo(after)
	moves := next.Limit != before.Limit
	if moved && diff == nil {
		e := Explanation{Outcome: OutcomeEqual, Step: step, Clamp: clamp, Moves: moves}
		if !after.Settled() {
			e.Reason = LimitWritten
		}
		return e
	}
	if w.afterReset(before, after) {
		return Explanation{Outcome: OutcomeReset}
	}
	if !moved {
		return undecided("a completion was under way at a snapshot")
	}
	e := w.contradiction(before, after, diff)
	if e.Moves = moves; w.Foreign {
		e.Outcome, e.Reason = OutcomeUndecided, HalfWritten
	}
	return e
}

// contradiction judges a step that no single completion explains. diff is how
// one differs.
func (w Window) contradiction(before, after DQL, diff *Explanation) Explanation {
	if w.Completions != 1 {
		if e, ok := w.split(before, after); ok {
			return e
		}
		if diff = w.impossible(before, after, diff); diff == nil {
			return undecided("two or more completions, or a reset, in between")
		}
	}
	diff.Write = w.written(before, after)
	return *diff
}

func undecided(why string) Explanation {
	return Explanation{Outcome: OutcomeUndecided, Reason: why}
}

func unequal(field string, want, saw uint64) *Explanation {
	return &Explanation{Outcome: OutcomeUnequal, Field: field, Want: want, Saw: saw}
}

// completionHalf is d with only the fields that nothing but a completion or a
// reset writes.
func (d DQL) completionHalf() DQL {
	d.NumQueued, d.LastObjCnt, d.Limit = 0, 0, 0
	return d
}

// isReset says whether d is as dql_reset leaves it, but for bytes queued since.
func (d DQL) isReset() bool {
	return d.NumCompleted == 0 && d.PrevNumQueued == 0 && d.PrevLastObjCnt == 0
}

// computedLimit is the limit that the last completion computed. Limit itself
// may have been written since; AdjLimit cannot.
func (d DQL) computedLimit() uint32 {
	return d.AdjLimit - d.NumCompleted
}

// has says whether a completion in the window may carry time t.
func (w Window) has(t uint64) bool {
	return int64(t-(w.From-jiffySlop)) >= 0 && int64(w.To+jiffySlop-t) >= 0
}

// fits says whether a completion from d may leave SlackStartTime at t.
func (w Window) fits(d DQL, step Step, t uint64) bool {
	if step.stamps() {
		return w.has(t) && (!step.asks() || d.holdOver(t))
	}
	return t == d.SlackStartTime && (!step.asks() || !d.holdOver(w.From-jiffySlop))
}

// completedTo computes the completion by which after would follow d. Whether the
// hold time was over shows in SlackStartTime: if it was, that moved.
func (d DQL) completedTo(after DQL) (next DQL, step Step, clamp Clamp) {
	holdOver := after.SlackStartTime != d.SlackStartTime
	return d.completed(after.PrevNumQueued, after.PrevLastObjCnt, after.NumCompleted-d.NumCompleted, holdOver)
}

// differs returns nil if one completion leads from before to after, else the
// first field that is not as predicted. Whether the hold time was over shows in
// SlackStartTime: if it was, that moved.
func (w Window) differs(before, after DQL) *Explanation {
	count := after.NumCompleted - before.NumCompleted
	if count > after.PrevNumQueued-before.NumCompleted {
		return unequal("num_completed", uint64(after.PrevNumQueued), uint64(after.NumCompleted))
	}
	p, step, _ := before.completedTo(after)
	switch {
	case p.AdjLimit != after.AdjLimit:
		return unequal("adj_limit", uint64(p.AdjLimit), uint64(after.AdjLimit))
	case p.PrevOvlimit != after.PrevOvlimit:
		return unequal("prev_ovlimit", uint64(p.PrevOvlimit), uint64(after.PrevOvlimit))
	case p.LowestSlack != after.LowestSlack:
		return unequal("lowest_slack", uint64(p.LowestSlack), uint64(after.LowestSlack))
	case w.fits(before, step, after.SlackStartTime):
		return nil
	case step.stamps():
		return unequal("slack_start_time", w.To, after.SlackStartTime)
	}
	return unequal("slack_start_time", before.SlackStartTime, after.SlackStartTime)
}

// afterReset says whether a reset and one completion lead to after. A reset
// leaves nothing in flight, so that completion grows the limit or keeps it.
func (w Window) afterReset(before, after DQL) bool {
	if !w.has(after.SlackStartTime) {
		return false
	}
	for _, reset := range []Variant{DQLResetZero, DQLResetMin} {
		d := before
		d.Reset(reset, after.SlackStartTime)
		if w.differs(d, after) == nil {
			return true
		}
	}
	return false
}

// lastStart is the NumCompleted from which the last completion started. It is
// known if the queue was over its limit then, for the limit was not changed.
func (d DQL) lastStart() (start uint32, known bool) {
	return d.PrevNumQueued - d.computedLimit() - d.PrevOvlimit, d.PrevOvlimit > 0
}

// split looks for two completions that lead from before to after. Where the
// second started is known, or the search is not begun. What the first read, and
// when it ran, is tried at the few values at which the algorithm turns.
func (w Window) split(before, after DQL) (Explanation, bool) {
	start, known := after.lastStart()
	count, first := after.NumCompleted-before.NumCompleted, start-before.NumCompleted
	if !known || first == 0 || first >= count {
		return Explanation{}, false
	}
	least, most := start, after.PrevNumQueued
	if int32(before.PrevNumQueued-least) > 0 {
		least = before.PrevNumQueued
	}
	atLimit := before.NumCompleted + before.Limit
	for _, queued := range []uint32{
		least, most,
		after.NumCompleted, after.NumCompleted + 1, // the second just does, or does not, complete all of it
		atLimit + after.LowestSlack + 2*(count-first) - after.computedLimit(), // the second sees the lowest slack
	} {
		if queued-least > most-least {
			continue
		}
		last := queued - atLimit + after.LowestSlack // the last object is the lowest slack
		for _, holdOver := range []bool{false, true} {
			mid, step, _ := before.completed(queued, last, first, holdOver)
			for _, t := range []uint64{
				before.SlackStartTime, after.SlackStartTime, // kept, or set by one of the two
				w.From - jiffySlop, before.SlackStartTime + uint64(before.SlackHoldTime) + 1, // set by both
			} {
				mid.SlackStartTime = t
				if w.fits(before, step, t) && w.differs(mid, after) == nil {
					return Explanation{Outcome: OutcomeSplit, First: first, Queued: queued}, true
				}
			}
		}
	}
	return Explanation{}, false
}

// impossible returns how after contradicts before whatever the number of
// completions in between, or nil. diff is how one completion differs.
func (w Window) impossible(before, after DQL, diff *Explanation) *Explanation {
	limit := after.computedLimit()
	if want := after.bound(limit); limit != want {
		return unequal("adj_limit", uint64(after.NumCompleted+want), uint64(after.AdjLimit))
	}
	if w.has(after.SlackStartTime) {
		return nil // the limit may have grown, shrunk or been reset
	}
	if after.SlackStartTime != before.SlackStartTime {
		return unequal("slack_start_time", before.SlackStartTime, after.SlackStartTime)
	}
	if want := after.bound(before.Limit); limit != want {
		return unequal("adj_limit", uint64(after.NumCompleted+want), uint64(after.AdjLimit))
	}
	if after.LowestSlack > before.LowestSlack {
		return unequal("lowest_slack", uint64(before.LowestSlack), uint64(after.LowestSlack))
	}
	start, known := after.lastStart()
	if known && (start == before.NumCompleted || start-before.NumCompleted >= after.NumCompleted-before.NumCompleted) {
		return diff // the last completion was the first, or started at no place where one ends
	}
	return nil
}

// written returns a value that, written to limit between the snapshots, lets a
// completion lead from before to after.
func (w Window) written(before, after DQL) *uint32 {
	limit, count := after.computedLimit(), after.NumCompleted-before.NumCompleted
	grown := posDiff(after.NumCompleted, before.PrevNumQueued) + before.PrevOvlimit
	for _, value := range []uint32{
		limit, limit + 1, limit - 1, // unchanged, or just off the bound it was set to
		limit - grown,
		limit + before.LowestSlack,
		limit + posDiff(before.PrevLastObjCnt, before.PrevOvlimit),
		after.LowestSlack + 2*count - before.PrevOvlimit,
		0,
		DQLMaxLimit,
	} {
		d := before
		d.Limit = value
		if value <= DQLMaxLimit && w.differs(d, after) == nil {
			return &value
		}
	}
	if w.Completions != 1 && limit != before.Limit {
		return &limit // more than one completion, nothing else is wrong with the limit
	}
	return nil
}
