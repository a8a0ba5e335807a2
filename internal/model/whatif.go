// SPDX-License-Identifier: Apache-2.0

package model

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// What the documents propose and no kernel ever did. Only a simulator takes
// these: they are no explanation of a recording.
const (
	QuotaSegments Variant = "segments" // of SwitchQuota
	QuotaTime     Variant = "time"     // of SwitchQuota

	TSQLimitMs     Variant = "ms"     // of SwitchTSQLimit
	TSQLimitShift8 Variant = "shift8" // of SwitchTSQLimit
)

// WhatIf lists the proposals that are one more variant of a switch.
var WhatIf = []SwitchInfo{
	{SwitchQuota, "what a restart charges a run", []VariantInfo{
		{QuotaSegments, "its segments, as bstats counts them", "000, Eric Dumazet 2014-10-07", ""},
		{QuotaTime, "its time: a run ends after a slice of it", "000, Eric Dumazet 2014-10-07", ""},
	}},
	{SwitchTSQLimit, "bytes a socket may have below TCP", []VariantInfo{
		{TSQLimitMs, "less than 1/1000 s at the pacing rate, or than two MSS if those are more", "003, Eric Dumazet 2013-09-07", ""},
		{TSQLimitShift8, "less than 1/256 s at the pacing rate, or than two MSS if those are more", "003, Eric Dumazet 2013-09-09", ""},
	}},
}

// Proposal is the argument of --what-if: variants of switches, proposed ones
// too, and the two bounds of a batch that 000 proposed.
type Proposal struct {
	Set       map[Switch]Variant
	MoreLimit int   // see Dequeue.MoreLimit
	ByteCap   int32 // see Dequeue.ByteCap
}

// The names of a Proposal's bounds.
const (
	boundMore = "xmit_more_limit"
	boundByte = "byte_cap"
)

// ParseWhatIf reads SWITCH=VARIANT,... where SWITCH may also be xmit_more_limit
// or byte_cap with a number, 1 or more. Each error is one line.
func ParseWhatIf(arg string) (Proposal, error) {
	var p Proposal
	var rest []string
	for _, part := range strings.Split(arg, ",") {
		name, value, _ := strings.Cut(part, "=")
		if name != boundMore && name != boundByte {
			rest = append(rest, part)
			continue
		}
		n, err := strconv.ParseInt(value, 10, 32)
		if err != nil || n < 1 {
			return Proposal{}, fmt.Errorf("what-if %s=%q: want a number from 1 to %d", name, value, int32(1<<31-1))
		}
		if name == boundMore {
			p.MoreLimit = int(n)
		} else {
			p.ByteCap = int32(n)
		}
	}
	if len(rest) == 0 {
		return p, nil
	}
	var err error
	p.Set, err = parse(strings.Join(rest, ","), withProposals())
	return p, err
}

// withProposals is Switches with WhatIf's variants behind each one's own.
func withProposals() []SwitchInfo {
	all := slices.Clone(Switches)
	for i, s := range all {
		for _, w := range WhatIf {
			if w.Name == s.Name {
				all[i].Variants = slices.Concat(s.Variants, w.Variants)
			}
		}
	}
	return all
}
