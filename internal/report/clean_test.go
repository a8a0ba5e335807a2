// SPDX-License-Identifier: Apache-2.0

package report

import "testing"

func TestClean(t *testing.T) {
	for in, want := range map[string]string{
		"eth0":               "eth0",
		"":                   "",
		"a\x1b[31mb":         `a\x1b[31mb`,
		"two\nlines\ttab":    `two\nlines\ttab`,
		"\x00\x7f\r":         `\x00\x7f\x0d`,
		"\xff\xfebad":        `\xff\xfebad`,
		"\u00e9\u202e\ufffd": `\u00e9\u202e\ufffd`,
		"\U0001f600":         `\U0001f600`,
		"\u009b31m":          `\u009b31m`,
	} {
		if got := Clean(in); got != want {
			t.Errorf("Clean(%q) = %q, want %q", in, got, want)
		}
	}
}

func FuzzClean(f *testing.F) {
	f.Add("eth0\x1b]0;title\a")
	f.Add("\xc3\x28\ufffd")
	f.Fuzz(func(t *testing.T, s string) {
		for _, c := range []byte(Clean(s)) {
			if c < ' ' || c > '~' {
				t.Fatalf("Clean(%q) holds %#x", s, c)
			}
		}
	})
}
