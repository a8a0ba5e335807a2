// SPDX-License-Identifier: Apache-2.0

// Package model holds the steps of the kernel's transmit path as pure
// functions, one file per mechanism, each with the variants that the kernel
// had over time or that its developers proposed.
//
// The functions know nothing of captures, rules or drivers. A mechanism that
// is checked has two directions: what the kernel does (the simulator's), and
// whether an observation could have come from it (the checker's). A checker's
// answer has three values, because a race that hardware allows makes an
// interval of a number: see Answer.
//
// Sources are named in the doc comments. "000", "003" and "004" are the
// mailing-list threads dfeb1c712f3ce5c5 (bulk dequeue), c93f631334ab3194 (TSQ)
// and 9aeb9cc635f797dc (doorbells); twelve hex digits are kernel commits.
//
// To add a mechanism: one file, one entry of Switches per choice it has, and a
// test for each variant that shows where it differs from its neighbours.
package model

import (
	"fmt"
	"strings"
)

// Switch names a point at which kernels differ, as --variant spells it.
type Switch string

// Variant names one behaviour at a Switch. The same name may serve at several
// switches, so a Variant means something only together with its Switch.
type Variant string

// The switches. Issue by issue more are added here and to Switches.
const (
	SwitchBulk      Switch = "bulk"       // how many packets one dequeue takes
	SwitchQuota     Switch = "quota"      // what a restart charges a run
	SwitchRequeue   Switch = "requeue"    // where an unsent remainder goes
	SwitchXmitStop  Switch = "xmit-stop"  // which queue state ends a hand-over
	SwitchDQLReset  Switch = "dql-reset"  // the limit after dql_reset
	SwitchDQLObject Switch = "dql-object" // an object above DQLMaxObject
	SwitchTSQLimit  Switch = "tsq-limit"  // bytes a socket may have below TCP
	SwitchTSQExempt Switch = "tsq-exempt" // who may send above that limit
	SwitchDoorbell  Switch = "doorbell"   // when a driver must ring
)

// The variants, oldest first within a switch; Switches says what each is.
const (
	BulkNone   Variant = "none"
	BulkOne    Variant = "one"
	BulkCap8   Variant = "cap8"
	BulkCap7   Variant = "cap7"
	BulkBytes  Variant = "bytes"
	BulkBudget Variant = "budget"

	QuotaRestarts Variant = "restarts"
	QuotaStop     Variant = "stop"
	QuotaAfter    Variant = "after"

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
	TSQLimitUnpaced  Variant = "unpaced"
	TSQLimitAlways   Variant = "always"

	TSQExemptEmptyOrOne47 Variant = "empty-or-one-4.7"
	TSQExemptEmpty        Variant = "empty"
	TSQExemptEmptyOrOne   Variant = "empty-or-one"

	DoorbellAnyStop Variant = "any-stop"
	DoorbellDrvStop Variant = "drv-stop"
)

// VariantInfo describes one variant of a switch.
type VariantInfo struct {
	Name     Variant
	Says     string // what such a kernel does
	Source   string // document or commit, and the releases that have it
	MendedBy string // the commit or title that mended it as a fault, if one did
}

// SwitchInfo describes one switch. Variants are oldest first, today's last.
type SwitchInfo struct {
	Name     Switch
	Says     string
	Variants []VariantInfo
}

// Switches lists every switch of the model. A release in brackets is not
// confirmed from source.
var Switches = []SwitchInfo{
	{SwitchBulk, "how many packets one dequeue takes", []VariantInfo{
		{BulkNone, "one", "before 5772e9a3463b (3.18)", ""},
		{BulkOne, "one extra, within the bytes of BQL", "000, V3 of the series; never merged", ""},
		{BulkCap8, "up to 8 in all, within the bytes of BQL", "000, V4 of the series; never merged; that the head counts is assumed", ""},
		{BulkCap7, "up to 7 in all, within the bytes of BQL", "000, V5 of the series; never merged; that the head counts is assumed", ""},
		{BulkBytes, "as many as the bytes of BQL allow", "000, V6; 5772e9a3463b (3.18 to 6.17)", "0345552a653c"},
		{BulkBudget, "as many as BQL allows, and one more than the quota left", "0345552a653c (6.18, 6.12.59, 6.1.159)", ""},
	}},
	{SwitchQuota, "what a restart charges a run", []VariantInfo{
		{QuotaRestarts, "one unit per restart", "000; before b8358d70ce10 (3.18)", "b8358d70ce10"},
		{QuotaStop, "its packets, and a dequeue stops where the quota ends", "000, RFC of 2014-10-07; never merged", ""},
		{QuotaAfter, "its packets, after the restart", "000; b8358d70ce10 (3.18)", ""},
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
		{TSQLimitUnpaced, "two skbs or that time; capped by the sysctl where nothing paces", "c73e5807e4f6 (5.0 to 6.15)", ""},
		{TSQLimitAlways, "two skbs or that time; capped by the sysctl", "c4221a8cc3a7 (6.16; also up to 4.20)", ""},
	}},
	{SwitchTSQExempt, "who may send above that limit", []VariantInfo{
		{TSQExemptEmptyOrOne47, "a socket with no or one skb to be acknowledged", "4.7 to 4.14", ""},
		{TSQExemptEmpty, "a socket with no skb to be acknowledged", "4.15 to 6.5", "f921a4a5bffa"},
		{TSQExemptEmptyOrOne, "a socket with no or one skb to be acknowledged", "f921a4a5bffa (6.6, 6.1.60)", ""},
	}},
	{SwitchDoorbell, "when a driver must ring", []VariantInfo{
		{DoorbellAnyStop, "no more to come, or DRV or STACK", "004; drivers on netdev_tx_sent_queue", ""},
		{DoorbellDrvStop, "no more to come, or DRV", "3e59020abf0f (5.0); drivers on __netdev_tx_sent_queue", ""},
	}},
}

// Lookup returns the entry of Switches of that name.
func Lookup(name Switch) (SwitchInfo, error) {
	names := make([]string, len(Switches))
	for i, s := range Switches {
		if s.Name == name {
			return s, nil
		}
		names[i] = string(s.Name)
	}
	return SwitchInfo{}, fmt.Errorf("variant switch %q: unknown; the switches are %s", name, strings.Join(names, ", "))
}

// Variant returns the switch's variant of that name.
func (s SwitchInfo) Variant(name Variant) (VariantInfo, error) {
	names := make([]string, len(s.Variants))
	for i, v := range s.Variants {
		if v.Name == name {
			return v, nil
		}
		names[i] = string(v.Name)
	}
	return VariantInfo{}, fmt.Errorf("variant %s=%q: unknown; %s has %s", s.Name, name, s.Name, strings.Join(names, ", "))
}

// Latest is today's variant, the one that --variant latest holds the switch at.
func (s SwitchInfo) Latest() VariantInfo {
	return s.Variants[len(s.Variants)-1]
}

// Parse reads the argument of --variant, SWITCH=NAME,..., and returns what it
// sets. Each error names the object and the alternatives, on one line.
func Parse(arg string) (map[Switch]Variant, error) {
	set := make(map[Switch]Variant)
	for _, part := range strings.Split(arg, ",") {
		name, value, ok := strings.Cut(part, "=")
		if !ok {
			return nil, fmt.Errorf("variant %q: want SWITCH=NAME, as in bulk=budget", part)
		}
		s, err := Lookup(Switch(name))
		if err != nil {
			return nil, err
		}
		v, err := s.Variant(Variant(value))
		if err != nil {
			return nil, err
		}
		if old, twice := set[s.Name]; twice && old != v.Name {
			return nil, fmt.Errorf("variant switch %q: set twice, to %s and to %s", s.Name, old, v.Name)
		}
		set[s.Name] = v.Name
	}
	return set, nil
}

// Answer is a checker's answer. No means that no interleaving explains the
// observation; Maybe that some do and some do not.
type Answer uint8

// The answers.
const (
	Maybe Answer = iota
	Yes
	No
)

// String returns the answer as a word.
func (a Answer) String() string {
	return [...]string{"maybe", "yes", "no"}[a]
}
