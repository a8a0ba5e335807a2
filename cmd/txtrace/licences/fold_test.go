// SPDX-License-Identifier: Apache-2.0

package main

import (
	"slices"
	"strings"
	"testing"
)

func TestFold(t *testing.T) {
	x := strings.Repeat("x", 70)
	long := strings.Repeat("y", 80)
	for in, want := range map[string]string{
		"":                        "",
		"a\n\nb":                  "a\n\nb",
		x + " and\nso on":         x + "\nand so on",
		x + " and\n\nso on":       x + "\nand\n\nso on",
		"  " + x + " a\n   b c":   "  " + x + "\n   a b c",
		long + " a\nb":            long + "\na b",
		"a " + long:               "a\n" + long,
		x + " " + x + " " + x:     x + "\n" + x + "\n" + x,
		strings.Repeat("-", 80):   strings.Repeat("-", 72),
		"1. " + x[3:] + " a\n  b": "1. " + x[3:] + " a\n  b",
	} {
		if got := fold(in); got != want {
			t.Errorf("fold(%q) = %q, want %q", in, got, want)
		}
	}
}

func FuzzFold(f *testing.F) {
	f.Add("  " + strings.Repeat("abc ", 40) + "\n def\n\n" + strings.Repeat("z", 100))
	f.Fuzz(func(t *testing.T, text string) {
		got := fold(text)
		lines := strings.Split(text, "\n")
		for i, line := range lines {
			lines[i] = ruled(line)
		}
		if !slices.Equal(strings.Fields(got), strings.Fields(strings.Join(lines, "\n"))) {
			t.Errorf("fold(%q) = %q has other words", text, got)
		}
	})
}
