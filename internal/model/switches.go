// SPDX-License-Identifier: Apache-2.0

package model

// The switches.
const (
	SwitchBulk      Switch = "bulk"       // how many packets one dequeue takes
	SwitchBulkGSO   Switch = "bulk-gso"   // whether a GSO skb ends a batch
	SwitchValidate  Switch = "validate"   // whether GSO is done under the qdisc's lock
	SwitchQuota     Switch = "quota"      // what a restart charges a run
	SwitchResched   Switch = "resched"    // whether a waiting task ends a run
	SwitchRequeue   Switch = "requeue"    // where an unsent remainder goes
	SwitchXmitStop  Switch = "xmit-stop"  // which queue state ends a hand-over
	SwitchDQLReset  Switch = "dql-reset"  // the limit after dql_reset
	SwitchDQLObject Switch = "dql-object" // an object above DQLMaxObject
	SwitchTSQLimit  Switch = "tsq-limit"  // bytes a socket may have below TCP
	SwitchTSQExempt Switch = "tsq-exempt" // who may send above that limit
	SwitchGROBatch  Switch = "gro-batch"  // what fills a batch of received skbs
	SwitchPickCache Switch = "pick-cache" // how long a socket keeps its queue
	SwitchDoorbell  Switch = "doorbell"   // when a driver must ring
	SwitchEnqueue   Switch = "enqueue"    // how senders wait for a busy qdisc
	SwitchNolock    Switch = "nolock"     // how a lockless qdisc keeps its packets from being forgotten
)

// The variants, oldest first within a switch; Switches says what each is.
const (
	BulkNone   Variant = "none"
	BulkOne    Variant = "one"
	BulkCap8   Variant = "cap8"
	BulkCap7   Variant = "cap7"
	BulkBytes  Variant = "bytes"
	BulkBudget Variant = "budget"

	BulkGSOStop Variant = "stop"
	BulkGSOPass Variant = "pass"

	ValidateLocked   Variant = "locked"
	ValidateUnlocked Variant = "unlocked"

	QuotaRestarts Variant = "restarts"
	QuotaStop     Variant = "stop"
	QuotaAfter    Variant = "after"

	ReschedYes Variant = "yes"
	ReschedNo  Variant = "no"

	RequeueWhole Variant = "whole"
	RequeueTail  Variant = "tail"
	RequeueHead  Variant = "head"

	XmitStopAny Variant = "any"
	XmitStopDrv Variant = "drv"

	DQLResetZero Variant = "zero"
	DQLResetMin  Variant = "min"

	DQLObjectBug  Variant = "bug"
	DQLObjectWarn Variant = "warn"

	TSQLimitConstant Variant = "constant"
	TSQLimitRate     Variant = "rate"
	TSQLimitFloor    Variant = "floor"
	TSQLimitUnpaced  Variant = "unpaced"
	TSQLimitAlways   Variant = "always"

	TSQExemptEmptyOrOne47 Variant = "empty-or-one-4.7"
	TSQExemptEmpty        Variant = "empty"
	TSQExemptEmptyOrOne   Variant = "empty-or-one"

	GROBatchFrags Variant = "frags"
	GROBatchSkbs  Variant = "skbs"
	GROBatchSegs  Variant = "segs"

	PickCacheUnchecked Variant = "unchecked"
	PickCacheForever   Variant = "forever"
	PickCacheExpires   Variant = "expires"

	DoorbellSegments Variant = "segments"
	DoorbellAnyStop  Variant = "any-stop"
	DoorbellDrvStop  Variant = "drv-stop"

	EnqueueBusylock  Variant = "busylock"
	EnqueueDeferList Variant = "defer-list"

	NolockAbsent Variant = "absent"
	NolockRacy   Variant = "racy"
	NolockMissed Variant = "missed"
)

// Switches lists every switch of the model. A release or commit in brackets is
// not confirmed from source. What was only ever proposed, and what no kernel
// ever did, is in WhatIf.
var Switches = []SwitchInfo{
	{SwitchBulk, "how many packets one dequeue takes", []VariantInfo{
		{BulkNone, "one", "before 5772e9a3463b (3.18)", ""},
		{BulkOne, "one extra, within the bytes of BQL", "000, V3 of the series; never merged", ""},
		{BulkCap8, "up to 8 in all, within the bytes of BQL", "000, V4 of the series; never merged; that the head counts is assumed", ""},
		{BulkCap7, "up to 7 in all, within the bytes of BQL", "000, V5 of the series; never merged; that the head counts is assumed", ""},
		{BulkBytes, "as many as the bytes of BQL allow", "000, V6; 5772e9a3463b (3.18 to 6.17)", "0345552a653c"},
		{BulkBudget, "as many as BQL allows, and one more than the quota left", "0345552a653c (6.18, 6.12.59, 6.1.159)", ""},
	}},
	{SwitchBulkGSO, "whether a GSO skb ends a batch", []VariantInfo{
		{BulkGSOStop, "it does: it may be the last, and as the head it is alone", "000, V6 1/2; 5772e9a3463b", ""},
		{BulkGSOPass, "it counts as one packet", "000, V6 2/2 [808e7ac0bdef] (3.18)", ""},
	}},
	{SwitchValidate, "whether GSO is done under the qdisc's lock", []VariantInfo{
		{ValidateLocked, "packet by packet at the dequeue; one that is dropped ends the batch", "000, V6; 5772e9a3463b", ""},
		{ValidateUnlocked, "for the whole batch after it; dropped ones are missing from it", "000, \"validate skb without holding lock\" [55a93b3ea780] (3.18)", ""},
	}},
	{SwitchQuota, "what a restart charges a run", []VariantInfo{
		{QuotaRestarts, "one unit per restart", "000; before b8358d70ce10 (3.18)", "b8358d70ce10"},
		{QuotaStop, "its packets, and a dequeue stops where the quota ends", "000, RFC of 2014-10-07; never merged", ""},
		{QuotaAfter, "its packets, after the restart", "000; b8358d70ce10 (3.18)", ""},
	}},
	{SwitchResched, "whether a waiting task ends a run", []VariantInfo{
		{ReschedYes, "it does, after the restart", "000; before b60fa1c5d01a", "b60fa1c5d01a"},
		{ReschedNo, "it does not", "b60fa1c5d01a (5.5)", ""},
	}},
	{SwitchRequeue, "where an unsent remainder goes", []VariantInfo{
		{RequeueWhole, "stays one list in gso_skb", "000 (3.18 to [4.15])", ""},
		{RequeueTail, "skb by skb to the tail of gso_skb", "[4.16]", "net/sched: fix packet reordering on requeue"},
		{RequeueHead, "skb by skb to the head of gso_skb", "net/sched: fix packet reordering on requeue (6.12.117)", ""},
	}},
	{SwitchXmitStop, "which queue state ends a hand-over", []VariantInfo{
		{XmitStopAny, "DRV or STACK", "000 (3.18 to 4.20)", "fe60faa50638"},
		{XmitStopDrv, "DRV", "fe60faa50638 (5.0, 4.14.157)", ""},
	}},
	{SwitchDQLReset, "the limit after dql_reset", []VariantInfo{
		{DQLResetZero, "0", "before 3a17f23f7c36", "3a17f23f7c36"},
		{DQLResetMin, "limit_min", "3a17f23f7c36 ([6.15], 6.12.31, 6.1.141)", ""},
	}},
	{SwitchDQLObject, "an object above UINT_MAX/16 bytes", []VariantInfo{
		{DQLObjectBug, "BUG", "before 4854b463c4b2", "4854b463c4b2"},
		{DQLObjectWarn, "a warning; the object is not accounted", "4854b463c4b2 (6.10, 6.9.9)", ""},
	}},
	{SwitchTSQLimit, "bytes a socket may have below TCP", []VariantInfo{
		{TSQLimitConstant, "less than tcp_limit_output_bytes", "003; 46d3ceabd8d9 (3.6)", ""},
		{TSQLimitRate, "one skb, or the bytes of 1/1024 s at the pacing rate", "003, the patch (3.12)", ""},
		{TSQLimitFloor, "the bytes of 1/1024 s at the pacing rate, or the sysctl if that is more", "[98e09386c0ef] ([3.13 to 3.18])", ""},
		{TSQLimitUnpaced, "two skbs or that time; capped by the sysctl where nothing paces", "c73e5807e4f6 (5.0 to 6.15)", ""},
		{TSQLimitAlways, "two skbs or that time; capped by the sysctl", "c4221a8cc3a7 (6.16); 605ad7f184b6 (3.19 to 4.20)", ""},
	}},
	{SwitchTSQExempt, "who may send above that limit", []VariantInfo{
		{TSQExemptEmptyOrOne47, "a socket with no or one skb to be acknowledged", "4.7 to 4.14", ""},
		{TSQExemptEmpty, "a socket with no skb to be acknowledged", "4.15 to 6.5", "f921a4a5bffa"},
		{TSQExemptEmptyOrOne, "a socket with no or one skb to be acknowledged", "f921a4a5bffa (6.6, 6.1.60)", ""},
	}},
	{SwitchGROBatch, "what fills a batch of received skbs", []VariantInfo{
		{GROBatchFrags, "skbs, of drivers that use napi_gro_frags; others go up one by one", "002; 323ebb61e32b (5.4)", ""},
		{GROBatchSkbs, "skbs", "6570bc79c0df (5.5)", "8dc1c444df19"},
		{GROBatchSegs, "segments", "8dc1c444df19 (5.12, 5.10.17)", ""},
	}},
	{SwitchPickCache, "how long a socket keeps its queue", []VariantInfo{
		{PickCacheUnchecked, "until its route changes, whatever else is asked for", "001 (2.6.33)", ""},
		{PickCacheForever, "until nothing of it is on its way, or the device lost that queue", "[3853b5841c01] ([2.6.38] to 6.18)", ""},
		{PickCacheExpires, "until that, or for net.core.txq_reselection_ms", "4a7708443dec, 2ddef3462b3a (6.19)", ""},
	}},
	{SwitchDoorbell, "when a driver must ring", []VariantInfo{
		{DoorbellSegments, "like any-stop, but more to come is said only inside one segmented skb", "004, before 000: 53fda7f7f9e8 (3.18)", ""},
		{DoorbellAnyStop, "no more to come, or DRV or STACK", "004; drivers on netdev_tx_sent_queue", ""},
		{DoorbellDrvStop, "no more to come, or DRV", "3e59020abf0f (5.0); drivers on __netdev_tx_sent_queue", ""},
	}},
	{SwitchEnqueue, "how senders wait for a busy qdisc", []VariantInfo{
		{EnqueueBusylock, "each for its turn at a second lock", "79640a4ca695 ([2.6.36] to 6.18)", ""},
		{EnqueueDeferList, "one enqueues for all that come while it waits", "100dfa74cad9 (6.19)", ""},
	}},
	{SwitchNolock, "how a lockless qdisc keeps its packets from being forgotten", []VariantInfo{
		{NolockAbsent, "there is none: the qdisc has a lock", "before 6b3ba9146fe6 (4.16)", ""},
		{NolockRacy, "not at all: who finds it running leaves", "6b3ba9146fe6 (4.16 to 5.12)", "a90c57f2cedd"},
		{NolockMissed, "who finds it running says so (MISSED) and tries once more", "a90c57f2cedd (5.13, 5.10.42)", ""},
	}},
}
