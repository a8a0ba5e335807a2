// SPDX-License-Identifier: Apache-2.0

package model

import (
	"errors"
	"math"
)

// Bounds of lib/dynamic_queue_limits.c, in bytes for BQL.
const (
	DQLMaxObject = math.MaxUint32 / 16             // largest object that may be queued
	DQLMaxLimit  = math.MaxUint32/2 - DQLMaxObject // largest limit, what sysfs writes for "max"
	dqlNoSlack   = math.MaxUint32                  // LowestSlack before any slack was seen
)

// ErrBug is returned where the kernel would stop with BUG.
var ErrBug = errors.New("kernel BUG")

// DQL is struct dql, the state of byte queue limits for one transmit queue,
// without the stall detector. Names are the kernel's. Counters are totals
// modulo 2^32 and are only ever compared modulo 2^32. Limits and counts are
// bytes, times are jiffies.
//
// The kernel's algorithm changed last in 3.5 (0cfd32b736ae, 25426b794efd).
type DQL struct {
	// Written when bytes are handed to the driver.
	NumQueued  uint32 // total ever queued
	AdjLimit   uint32 // Limit + NumCompleted of the last completion; survives a reset
	LastObjCnt uint32 // bytes of the last object queued

	// Written by a completion.
	Limit          uint32
	NumCompleted   uint32 // total ever completed
	PrevOvlimit    uint32 // how far the queue was over the limit at the last completion
	PrevNumQueued  uint32 // NumQueued as the last completion read it
	PrevLastObjCnt uint32 // LastObjCnt as the last completion read it
	LowestSlack    uint32 // least excess seen since SlackStartTime
	SlackStartTime uint64

	// Set through sysfs.
	MaxLimit      uint32
	MinLimit      uint32
	SlackHoldTime uint32
}

// NewDQL is dql_init: a queue without bounds of its own, reset at time now.
func NewDQL(hold uint32, now uint64) DQL {
	d := DQL{MaxLimit: DQLMaxLimit, SlackHoldTime: hold}
	d.Reset(DQLResetMin, now)
	return d
}

// Queued is dql_queued: count bytes were handed to the driver. An object above
// DQLMaxObject is not accounted; under DQLObjectBug that is ErrBug.
func (d *DQL) Queued(object Variant, count uint32) error {
	if count > DQLMaxObject {
		if object == DQLObjectBug {
			return ErrBug
		}
		return nil
	}
	d.LastObjCnt = count
	d.NumQueued += count
	return nil
}

// Avail is dql_avail: the bytes that may still be queued, negative over limit.
func (d DQL) Avail() int32 {
	return int32(d.AdjLimit - d.NumQueued)
}

// InFlight is the number of bytes queued and not completed.
func (d DQL) InFlight() uint32 {
	return d.NumQueued - d.NumCompleted
}

// Settled says whether AdjLimit belongs to Limit and NumCompleted, as after
// every completion. A reset, or a write to the sysfs file limit, unsettles the
// state until the next completion.
func (d DQL) Settled() bool {
	return d.AdjLimit-d.Limit == d.NumCompleted
}

// Completed is dql_completed: the driver reports count bytes sent. More than
// are in flight is ErrBug.
func (d *DQL) Completed(count uint32, now uint64) error {
	if count > d.InFlight() {
		return ErrBug
	}
	next, step, _ := d.completed(d.NumQueued, d.LastObjCnt, count, d.holdOver(now))
	if step.stamps() {
		next.SlackStartTime = now
	}
	*d = next
	return nil
}

// Reset is dql_reset: everything in flight is forgotten.
func (d *DQL) Reset(reset Variant, now uint64) {
	*d = DQL{
		AdjLimit:       d.AdjLimit,
		LowestSlack:    dqlNoSlack,
		SlackStartTime: now,
		MaxLimit:       d.MaxLimit,
		MinLimit:       d.MinLimit,
		SlackHoldTime:  d.SlackHoldTime,
	}
	if reset == DQLResetMin {
		d.Limit = d.MinLimit
	}
}

// holdOver says whether slack has been watched for longer than SlackHoldTime.
func (d DQL) holdOver(now uint64) bool {
	return int64(now-d.SlackStartTime-uint64(d.SlackHoldTime)) > 0
}

// Step names what a completion makes of the limit, before it is clamped.
type Step string

// The steps.
const (
	StepKeep   Step = "keep"   // it was enough and not too much
	StepGrow   Step = "grow"   // the link ran dry although the stack had been held back
	StepSlack  Step = "slack"  // busy all the time: the excess is noted
	StepShrink Step = "shrink" // the least excess of the hold time is given back
)

// asks says whether the hold time mattered, and stamps whether SlackStartTime
// becomes the time of the completion.
func (s Step) asks() bool   { return s == StepSlack || s == StepShrink }
func (s Step) stamps() bool { return s == StepGrow || s == StepShrink }

// Clamp names the bound that a completion put the limit to.
type Clamp string

// The clamps.
const (
	ClampNone Clamp = ""
	ClampMin  Clamp = "limit_min"
	ClampMax  Clamp = "limit_max"
)

// completed computes a completion of count bytes that read queued and last as
// NumQueued and LastObjCnt, which other CPUs may move meanwhile. SlackStartTime
// is left to the caller.
func (d DQL) completed(queued, last, count uint32, holdOver bool) (next DQL, step Step, clamp Clamp) {
	done := d.NumCompleted + count
	busy := queued != done                          // bytes stay in flight
	wasBusy := d.PrevNumQueued != d.NumCompleted    // and did after the last completion
	prevDone := int32(done-d.PrevNumQueued) >= 0    // all that was in flight then is done
	over := posDiff(queued-d.NumCompleted, d.Limit) // bytes the queue was over its limit
	limit := d.Limit

	next, step = d, StepKeep
	switch {
	case over > 0 && !busy, d.PrevOvlimit > 0 && prevDone:
		// Grow by what was both sent and completed since, and by what was over
		// before.
		step = StepGrow
		limit += posDiff(done, d.PrevNumQueued) + d.PrevOvlimit
		next.LowestSlack = dqlNoSlack

	case busy && wasBusy && !prevDone:
		// The excess is what is over twice what one completion drains.
		step = StepSlack
		slack := posDiff(d.Limit+d.PrevOvlimit, 2*count)
		if d.PrevOvlimit > 0 {
			slack = max(slack, posDiff(d.PrevLastObjCnt, d.PrevOvlimit))
		}
		next.LowestSlack = min(d.LowestSlack, slack)
		if holdOver {
			step = StepShrink
			limit = posDiff(limit, next.LowestSlack)
			next.LowestSlack = dqlNoSlack
		}
	}

	raw := limit
	limit = d.bound(raw)
	switch {
	case limit < raw:
		clamp = ClampMax
	case limit > raw:
		clamp = ClampMin
	}
	if limit != d.Limit {
		over = 0
	}

	next.Limit = limit
	next.AdjLimit = limit + done
	next.PrevOvlimit = over
	next.PrevLastObjCnt = last
	next.NumCompleted = done
	next.PrevNumQueued = queued
	return next, step, clamp
}

// bound is limit within MinLimit and MaxLimit. With MinLimit above MaxLimit,
// which sysfs allows, the kernel's clamp of earlier years gave MaxLimit always;
// this is today's.
func (d DQL) bound(limit uint32) uint32 {
	switch {
	case limit >= d.MaxLimit:
		return d.MaxLimit
	case limit <= d.MinLimit:
		return d.MinLimit
	}
	return limit
}

// posDiff is a-b where that is positive modulo 2^32, else 0.
func posDiff(a, b uint32) uint32 {
	if int32(a-b) > 0 {
		return a - b
	}
	return 0
}
