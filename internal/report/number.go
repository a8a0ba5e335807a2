// SPDX-License-Identifier: Apache-2.0

package report

import (
	"fmt"
	"math"
	"strconv"
)

// count prints a number in full, or shortened to three digits and more.
func (t Text) count(n uint64) string {
	if !t.Human || n < 10_000 {
		return strconv.FormatUint(n, 10)
	}
	for _, u := range []struct {
		name string
		size float64
	}{{"G", 1e9}, {"M", 1e6}, {"K", 1e3}} {
		if v := float64(n) / u.size; v >= 1 {
			return strconv.FormatFloat(v, 'f', 1, 64) + u.name
		}
	}
	return strconv.FormatUint(n, 10)
}

// counted is a number and its unit, which is spelled for one and for many.
func (t Text) counted(n uint64, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return t.count(n) + " " + many
}

// seconds of a time in ns.
func seconds(ns uint64) string { return fmt.Sprintf("%d.%06d s", ns/1e9, ns%1e9/1e3) }

// rates of packets and bytes over a time in ns.
func rates(packets, bytes, ns uint64) string {
	if ns == 0 {
		return ""
	}
	s := float64(ns) / 1e9
	return fmt.Sprintf("%.0f packets/s, %.1f Mbit/s", float64(packets)/s, float64(bytes)*8/1e6/s)
}

// share is part of whole in percent, rounded down: 100 is all.
func share(part, whole uint64) string {
	if whole == 0 {
		return ""
	}
	return fmt.Sprintf("%.1f %%", math.Floor(1000*float64(part)/float64(whole))/10)
}

// ratio of two numbers, "" when there is none.
func ratio(a, b uint64) string {
	if b == 0 {
		return ""
	}
	return strconv.FormatFloat(float64(a)/float64(b), 'f', 2, 64)
}
