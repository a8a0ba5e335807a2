// SPDX-License-Identifier: Apache-2.0

package rules

// frameHooks open and close the frames that records are joined by: one skipped
// call leaves a stale frame, under which the next ones are not counted.
var frameHooks = []string{
	"__qdisc_run", "sch_direct_xmit", "dev_hard_start_xmit", "net_tx_action", "tcp_wfree", "tcp_pace_kick",
}

// attemptHooks are what the counts of a hand-over's attempts rest on.
var attemptHooks = append([]string{"net_dev_xmit"}, frameHooks...)
