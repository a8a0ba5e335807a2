// SPDX-License-Identifier: Apache-2.0

package rules

import (
	"github.com/txtrace/txtrace/internal/analysis"
)

// lifeHooks are those that a skb's life is followed by: one call that is
// skipped hides a free, or the begin of another life.
var lifeHooks = append([]string{"skb_release_head_state", "net_dev_queue", "net_dev_start_xmit"}, attemptHooks...)

// maxSkbs bounds the addresses that are followed.
const maxSkbs = 1 << 16

// bySkb is what a rule knows of each address. Slabs use theirs again, so they
// are few, and none is forgotten: what a driver's call tells may come after the
// free that followed it.
type bySkb[T any] map[uint64]*T

// at is the state of an address, nil when there is no room for one more.
func (m bySkb[T]) at(skb uint64) *T {
	s := m[skb]
	if s == nil && len(m) < maxSkbs {
		s = new(T)
		m[skb] = s
	}
	return s
}

// call is a driver's call with a skb, as far as rules remember it.
type call struct {
	id   analysis.LifeID
	is   bool
	head analysis.Mark
}

func callOf(l *analysis.Life) call { return call{l.ID(), true, l.Mark()} }

// during is a claim that all of a time was seen, and no run of a hook skipped
// in it.
func during(from, to uint64) analysis.Claim {
	s := analysis.Span{From: from, To: to}
	return analysis.Claim{Over: s, When: s}
}
