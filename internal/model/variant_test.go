// SPDX-License-Identifier: Apache-2.0

package model

import (
	"maps"
	"testing"
)

func TestSwitches(t *testing.T) {
	seen := make(map[Switch]bool)
	for _, s := range Switches {
		if seen[s.Name] || s.Says == "" || len(s.Variants) < 2 {
			t.Errorf("switch %s: listed twice, unexplained or without a choice", s.Name)
		}
		seen[s.Name] = true
		names := make(map[Variant]bool)
		for _, v := range s.Variants {
			if names[v.Name] || v.Says == "" || v.Source == "" {
				t.Errorf("variant %s=%s: listed twice, unexplained or without a source", s.Name, v.Name)
			}
			names[v.Name] = true
		}
		if s.Latest().MendedBy != "" {
			t.Errorf("switch %s: today's variant was mended", s.Name)
		}
	}
}

func TestLatest(t *testing.T) {
	want := map[Switch]Variant{
		SwitchBulk: BulkBudget, SwitchQuota: QuotaAfter, SwitchRequeue: RequeueHead,
		SwitchXmitStop: XmitStopDrv, SwitchDQLReset: DQLResetMin, SwitchDQLObject: DQLObjectWarn,
		SwitchTSQLimit: TSQLimitAlways, SwitchTSQExempt: TSQExemptEmptyOrOne, SwitchDoorbell: DoorbellDrvStop,
		SwitchBulkGSO: BulkGSOPass, SwitchValidate: ValidateUnlocked, SwitchResched: ReschedNo, SwitchGROBatch: GROBatchSegs,
		SwitchPickCache: PickCacheExpires, SwitchEnqueue: EnqueueDeferList, SwitchNolock: NolockMissed,
	}
	got := make(map[Switch]Variant)
	for _, s := range Switches {
		got[s.Name] = s.Latest().Name
	}
	if !maps.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}

func TestParse(t *testing.T) {
	for arg, want := range map[string]map[Switch]Variant{
		"bulk=budget":                   {SwitchBulk: BulkBudget},
		"bulk=bytes,xmit-stop=drv":      {SwitchBulk: BulkBytes, SwitchXmitStop: XmitStopDrv},
		"tsq-exempt=empty,bulk=none":    {SwitchTSQExempt: TSQExemptEmpty, SwitchBulk: BulkNone},
		"dql-reset=zero,dql-reset=zero": {SwitchDQLReset: DQLResetZero},
	} {
		if got, err := Parse(arg); err != nil || !maps.Equal(got, want) {
			t.Errorf("%q: %v, %v; want %v", arg, got, err, want)
		}
	}
	for arg, want := range map[string]string{
		"":                       `variant "": want SWITCH=NAME, as in bulk=budget`,
		"bulk":                   `variant "bulk": want SWITCH=NAME, as in bulk=budget`,
		"bulk=budget,":           `variant "": want SWITCH=NAME, as in bulk=budget`,
		"bulk=64":                `variant bulk="64": unknown; bulk has none, one, cap8, cap7, bytes, budget`,
		"bulks=bytes":            `variant switch "bulks": unknown; the switches are bulk, bulk-gso, validate, quota, resched, requeue, xmit-stop, dql-reset, dql-object, tsq-limit, tsq-exempt, gro-batch, pick-cache, doorbell, enqueue, nolock`,
		"quota=stop,quota=after": `variant switch "quota": set twice, to stop and to after`,
		"bulk=bud\nget":          `variant bulk="bud\nget": unknown; bulk has none, one, cap8, cap7, bytes, budget`,
	} {
		if got, err := Parse(arg); err == nil || err.Error() != want {
			t.Errorf("%q: %v, %v; want %s", arg, got, err, want)
		}
	}
}

func TestAnswer(t *testing.T) {
	if Yes.String() != "yes" || No.String() != "no" || Maybe.String() != "maybe" {
		t.Error("answers are not called yes, no and maybe")
	}
}
