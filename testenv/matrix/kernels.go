// SPDX-License-Identifier: Apache-2.0

package main

import (
	"slices"
	"strings"
)

// row is a kernel with all its cells.
type row struct {
	kernel, release string
	expect          map[string]string
	variants        []variant
	contradictions  []string
	open            []string // expected variants that nothing proves
}

// rowsOf sums cells up by kernel: what all captures of a kernel leave of each
// switch. Two cells that leave nothing in common contradict each other, for a
// kernel has one variant whatever NIC it drives.
func rowsOf(cells []*cell) []*row {
	var rows []*row
	for _, c := range cells {
		if len(c.Played) == 0 {
			continue
		}
		i := slices.IndexFunc(rows, func(r *row) bool { return r.kernel == c.Kernel })
		if i < 0 {
			i = len(rows)
			rows = append(rows, &row{kernel: c.Kernel, release: c.Release, expect: c.Expect})
		}
		rows[i].add(c)
	}
	for _, r := range rows {
		for _, v := range r.variants {
			if want := r.expect[v.Switch]; want != "" && !v.proven() {
				r.open = append(r.open, v.Switch+"="+strings.Join(v.Left, "|")+", expected is "+want)
			}
		}
	}
	return rows
}

func (r *row) add(c *cell) {
	for _, v := range c.Variants {
		var left []string
		if r.variants, left = leave(r.variants, v); len(left) > 0 {
			r.contradictions = append(r.contradictions, v.Switch+"="+strings.Join(v.Left, "|")+
				" with "+c.NIC+", "+strings.Join(left, "|")+" with others")
		}
	}
}

// leave intersects what is left of a switch with what is left elsewhere. When
// they have nothing in common it returns what was left before, and keeps that.
func leave(all []variant, v variant) (_ []variant, before []string) {
	i := slices.IndexFunc(all, func(a variant) bool { return a.Switch == v.Switch })
	if i < 0 {
		return append(all, variant{v.Switch, slices.Clone(v.Left)}), nil
	}
	both := slices.DeleteFunc(slices.Clone(all[i].Left), func(l string) bool { return !slices.Contains(v.Left, l) })
	if len(both) == 0 {
		return all, all[i].Left
	}
	all[i].Left = both
	return all, nil
}
