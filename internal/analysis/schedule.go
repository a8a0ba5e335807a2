// SPDX-License-Identifier: Apache-2.0

package analysis

import "github.com/txtrace/txtrace/internal/event"

// Schedule is a step in how a qdisc comes to be run, or is emptied.
type Schedule struct {
	event.Schedule
	Queue *Queue // nil of a list that is served
}

// Listed says that a qdisc was put on its CPU's list.
func (s *Schedule) Listed() bool { return s.What == event.ScheduleListed }

// Served says that the CPU took its list.
func (s *Schedule) Served() bool { return s.What == event.ScheduleServed }

// Emptied says that a lockless qdisc was reset.
func (s *Schedule) Emptied() bool { return s.What == event.ScheduleReset }

// Again says that net_tx_action came to a qdisc whose queue may take no packet,
// and put it on the list again.
func (s *Schedule) Again() bool { return s.Listed() && s.InAction != 0 && Stopped(s.TxqState) }
