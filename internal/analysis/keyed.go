// SPDX-License-Identifier: Apache-2.0

package analysis

// keyed holds what a meter counts for each device, queue number or CPU.
type keyed[K comparable, T any] struct {
	by    map[K]*T
	last  K // most records are of the key of the one before
	state *T
}

// at is the state for k, the zero value the first time.
func (p *keyed[K, T]) at(k K) *T {
	if p.state != nil && p.last == k {
		return p.state
	}
	if p.by == nil {
		p.by = make(map[K]*T)
	}
	if p.by[k] == nil {
		p.by[k] = new(T)
	}
	p.last, p.state = k, p.by[k]
	return p.state
}
