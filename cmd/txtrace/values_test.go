// SPDX-License-Identifier: Apache-2.0

package main

import (
	"slices"
	"testing"
)

func TestSize(t *testing.T) {
	for text, want := range map[string]uint64{
		"0": 0, "4096": 4096, "4096B": 4096, "64KiB": 64 << 10, "32MiB": 32 << 20, "3GiB": 3 << 30,
		"18446744073709551615": 1<<64 - 1,
	} {
		var s size
		if err := s.Set(text); err != nil || uint64(s) != want {
			t.Errorf("%s: %d, %v", text, s, err)
		}
		var again size
		if err := again.Set(s.String()); err != nil || again != s {
			t.Errorf("%s is printed as %s, which is %d", text, s, again)
		}
	}
	for _, text := range []string{"", "KiB", "-1", "1.5MiB", "1kb", "1MB", "99999999999999GiB", "18446744073709551616"} {
		var s size
		if s.Set(text) == nil {
			t.Errorf("%q is taken as %d", text, s)
		}
	}
}

func TestRingSize(t *testing.T) {
	for text, ok := range map[string]bool{
		"4KiB": true, "32MiB": true, "2GiB": true, "2KiB": false, "3MiB": false, "4GiB": false, "0": false,
	} {
		var s ringSize
		if err := s.Set(text); (err == nil) != ok {
			t.Errorf("%s: %v", text, err)
		}
	}
}

func TestNumbers(t *testing.T) {
	for text, want := range map[string][]uint32{
		"0": {0}, "0,2-5": {0, 2, 3, 4, 5}, "7-7": {7}, "65534": {65534},
	} {
		var list []uint32
		if err := (numbers{&list}).Set(text); err != nil || !slices.Equal(list, want) {
			t.Errorf("%s: %v, %v", text, list, err)
		}
	}
	for _, text := range []string{"", "x", "5-2", "1,,2", "-1", "65535", "1-2-3", "1-"} {
		var list []uint32
		if (numbers{&list}).Set(text) == nil {
			t.Errorf("%q is taken as %v", text, list)
		}
	}
}

func TestNearest(t *testing.T) {
	all := verbs()
	for typed, want := range map[string]string{
		"verfy": "verify", "reprot": "report", "rum": "run", "doctro": "doctor", "lunch": "", "x": "",
	} {
		if got := nearest(typed, all); got != want {
			t.Errorf("%s: %q, want %q", typed, got, want)
		}
	}
}
