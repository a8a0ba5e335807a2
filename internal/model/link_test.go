// SPDX-License-Identifier: Apache-2.0

package model

import (
	"testing"

	"pgregory.net/rapid"
)

func TestLink(t *testing.T) {
	for _, c := range []struct {
		link      Link
		ns, bytes uint64
	}{
		{10_000_000_000, 1, 1},
		{10_000_000_000, 1_000_000_000, 1_250_000_000},
		{400_000_000_000, 3600_000_000_000, 180_000_000_000_000},
		{100_000_000, 79, 0},
		{100_000_000, 80, 1},
	} {
		if got := c.link.Bytes(c.ns); got != c.bytes {
			t.Errorf("%d bit/s, %d ns: %d bytes, want %d", c.link, c.ns, got, c.bytes)
		}
	}
	for _, c := range []struct {
		link      Link
		bytes, ns uint64
	}{
		{10_000_000_000, 1514, 1212},              // 1211.2
		{1_000_000_000_000, 2305843009, 18446745}, // the sum carries
		{10_000_000_000, 5, 4},
		{1_000_000_000, 1, 8},
		{1, 1, 8_000_000_000},
		{1_000_000_000, 0, 0},
	} {
		if got := c.link.Time(c.bytes); got != c.ns {
			t.Errorf("%d bit/s, %d bytes: %d ns, want %d", c.link, c.bytes, got, c.ns)
		}
	}
}

// What takes a time fits into it, and one nanosecond less is too little.
func TestLinkBothWays(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		link := Link(rapid.Uint64Range(1, 1_000_000_000_000).Draw(t, "link"))
		bytes := rapid.Uint64Range(1, 1<<30).Draw(t, "bytes")
		ns := link.Time(bytes)
		if link.Bytes(ns) < bytes || link.Bytes(ns-1) >= bytes {
			t.Fatalf("%d bytes take %d ns, in which %d, and in one less %d, are sent", bytes, ns, link.Bytes(ns), link.Bytes(ns-1))
		}
	})
}
